/** pairwise as a step of the loop. */

import type { Lower } from './step.js';

export function pairwiseKernel(): Lower {
  return (out) => {
    let started = false;
    let latest: unknown;
    return {
      next(value) {
        // Kept before the pair is handed over: a re-entrant value is the next one.
        const previous = latest;
        latest = value;
        if (started) out.emit([previous, value]);
        started = true;
      },
    };
  };
}
