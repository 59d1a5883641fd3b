/**
 * Values as a Web stream: each pull asks for what it has room for.
 * Owns the count of what was asked for and has not come. Never asks for more than `highWaterMark` values ahead of its reader.
 */

import type { Observable } from 'rxjs';
import type { DemandSubscription } from '../../runtime/demand.js';
import { askable, checkEdge, type EdgeOptions } from './edge.js';
import { checkMark } from './toReadable.js';

/**
 * Subscribes when it is first pulled and asks for values as its reader takes them, at most `highWaterMark` (1) ahead; with 0 it is
 * first pulled when somebody reads. `cancel()` unsubscribes at once; an error, or the reason of an aborted `signal`, errors the
 * stream.
 *
 * ```ts
 * return new Response(toReadableStream(rows.pipe(rendered())).pipeThrough(new TextEncoderStream()));
 * ```
 *
 * Wrong options throw `ERR_OPTION`.
 */
export function toReadableStream<T>(
  values: Observable<T>,
  options: EdgeOptions & { readonly highWaterMark?: number } = {},
): ReadableStream<T> {
  const edge = checkEdge(options, 'toReadableStream()', ['highWaterMark']);
  const { highWaterMark = 1 } = options;
  checkMark(highWaterMark, 'toReadableStream()');
  const ask = askable<T>(values, edge, 'toReadableStream()');
  let asked: DemandSubscription | undefined;
  let coming = 0;
  let over = false;
  /** Resolves the pull that waits. */
  let pulling: (() => void) | undefined;
  const pulled = (): void => {
    pulling?.();
    pulling = undefined;
  };
  const ended = (end: () => void): void => {
    over = true;
    end();
    pulled();
  };
  return new ReadableStream<T>(
    {
      // With a promise it is not pulled again before something has come; what has come already needs none.
      pull(controller) {
        if (asked === undefined) {
          asked = ask({
            next(value) {
              coming--;
              controller.enqueue(value);
              if (pulling !== undefined) pulled();
            },
            error: (reason) => ended(() => controller.error(reason)),
            complete: () => ended(() => controller.close()),
          });
          // Cancelled while it was being subscribed.
          if (over) asked.unsubscribe();
        }
        // It is pulled when there is room, for one value at least.
        const fits = (highWaterMark > 1 ? Math.max(1, controller.desiredSize ?? 0) : 1) - coming;
        if (over || fits <= 0) return undefined;
        coming += fits;
        const awaited = coming;
        asked.request(fits);
        if (over || coming < awaited) return undefined;
        return new Promise((resolve) => {
          pulling = resolve;
        });
      },
      cancel() {
        over = true;
        asked?.unsubscribe();
        pulled();
      },
    },
    { highWaterMark },
  );
}
