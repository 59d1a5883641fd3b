/** skipLast as a step of the loop. Holds `count` values. */

import type { Lower } from './step.js';

export function skipLastKernel(count: number): Lower {
  if (count <= 0) return (out) => ({ next: (value) => out.emit(value) });
  return (out) => {
    let ring: unknown[] = new Array(count);
    let seen = 0;
    return {
      next(value) {
        const index = seen % count;
        const oldest = ring[index];
        ring[index] = value;
        // Counted before it is handed over: a re-entrant value is the next one.
        if (seen++ >= count) out.emit(oldest);
      },
      stop() {
        ring = [];
      },
    };
  };
}
