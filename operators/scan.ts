/** scan as a step of the loop. */

import type { Lower } from './step.js';

type Accumulator = (acc: unknown, value: unknown, index: number) => unknown;

/** Without a seed the first value is the first state. A seed of `undefined` is a seed: the number of arguments decides. */
export function scanKernel(...args: readonly [accumulator: Accumulator, seed?: unknown]): Lower {
  const [accumulate, seed] = args;
  return (out) => {
    let started = args.length >= 2;
    let state = seed;
    let index = 0;
    return {
      next(value) {
        const i = index++;
        state = started ? accumulate(state, value, i) : value;
        started = true;
        out.emit(state);
      },
    };
  };
}
