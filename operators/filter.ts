/** filter as a step of the loop. */

import type { Lower } from './step.js';

export function filterKernel(predicate: (value: unknown, index: number) => unknown, thisArg?: unknown): Lower {
  return (out) => {
    let index = 0;
    return {
      next(value) {
        if (predicate.call(thisArg, value, index++)) out.emit(value);
      },
    };
  };
}
