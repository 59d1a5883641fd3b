/** takeWhile as a step of the loop. */

import type { Lower } from './step.js';

export function takeWhileKernel(predicate: (value: unknown, index: number) => boolean, inclusive = false): Lower {
  return (out) => {
    let index = 0;
    return {
      next(value) {
        const passes = predicate(value, index++);
        if (passes || inclusive) out.emit(value);
        if (!passes) out.sendComplete();
      },
    };
  };
}
