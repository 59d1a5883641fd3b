/** toArray as a step of the loop. Holds the whole stream in memory, as in RxJS. */

import type { Lower } from './step.js';

export function toArrayKernel(): Lower {
  return (out) => {
    const values: unknown[] = [];
    return {
      next(value) {
        values.push(value);
      },
      complete() {
        out.emit(values);
        out.sendComplete();
      },
    };
  };
}
