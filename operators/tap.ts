/** tap as a step of the loop, with all the hooks of its observer. */

import type { TapObserver } from 'rxjs';
import type { Lower } from './step.js';

type Next = (value: unknown) => void;

export function tapKernel(
  observerOrNext?: Partial<TapObserver<unknown>> | Next | null,
  error?: ((reason: unknown) => void) | null,
  complete?: (() => void) | null,
): Lower {
  const hooks = (
    typeof observerOrNext === 'function' || error || complete
      ? { next: observerOrNext, error, complete }
      : (observerOrNext ?? {})
  ) as Partial<TapObserver<unknown>>;
  return (out) => {
    let ended = false;
    hooks.subscribe?.();
    return {
      next(value) {
        hooks.next?.(value);
        out.emit(value);
      },
      error(reason) {
        ended = true;
        hooks.error?.(reason);
      },
      complete() {
        ended = true;
        hooks.complete?.();
        out.sendComplete();
      },
      stop() {
        if (!ended) hooks.unsubscribe?.();
        hooks.finalize?.();
      },
    };
  };
}
