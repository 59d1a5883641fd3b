/** skip as a step of the loop. */

import type { Lower } from './step.js';

export function skipKernel(count: number): Lower {
  return (out) => {
    let seen = 0;
    return {
      next(value) {
        if (seen++ >= count) out.emit(value);
      },
    };
  };
}
