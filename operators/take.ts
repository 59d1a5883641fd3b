/** take as a step of the loop: completion inside ends it. */

import type { Lower } from './step.js';

export function takeKernel(count: number): Lower {
  return (out) => {
    let seen = 0;
    if (count <= 0) out.sendComplete();
    return {
      next(value) {
        // Counted before it is handed over: a re-entrant value is the next one.
        seen++;
        if (seen > count) return;
        out.emit(value);
        if (seen >= count) out.sendComplete();
      },
    };
  };
}
