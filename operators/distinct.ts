/** distinct as a step of the loop. Keeps every key it has met, as in RxJS. */

import type { Lower } from './step.js';

/** With `flushes`, which may come at any time, that use is left to RxJS. */
export function distinctLowering(
  keySelector?: ((value: unknown) => unknown) | null,
  flushes?: unknown,
): Lower | undefined {
  if (flushes) return undefined;
  return (out) => {
    const met = new Set<unknown>();
    return {
      next(value) {
        const key = keySelector ? keySelector(value) : value;
        if (met.has(key)) return;
        met.add(key);
        out.emit(value);
      },
    };
  };
}
