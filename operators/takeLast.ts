/** takeLast as a step of the loop. Holds `count` values. */

import { Queue } from '../runtime/queue.js';
import type { Lower } from './step.js';

export function takeLastKernel(count: number): Lower {
  return (out) => {
    let kept = new Queue<unknown>();
    if (count <= 0) out.sendComplete();
    return {
      next(value) {
        kept.push(value);
        if (count < kept.length) kept.shift();
      },
      complete: () => out.iterate(taken(kept), () => out.sendComplete()),
      stop() {
        kept = new Queue();
      },
    };
  };
}

function* taken(kept: Queue<unknown>): Generator<unknown> {
  while (kept.length > 0) yield kept.shift();
}
