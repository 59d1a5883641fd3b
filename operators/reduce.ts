/** reduce as a step of the loop: one value when the stream has ended. */

import type { Lower } from './step.js';

type Accumulator = (acc: unknown, value: unknown, index: number) => unknown;

/** Without a seed the first value is the first state, and an empty stream stays empty. */
export function reduceKernel(...args: readonly [accumulator: Accumulator, seed?: unknown]): Lower {
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
      },
      complete() {
        if (started) out.emit(state);
        out.sendComplete();
      },
    };
  };
}
