/** bufferCount as a step of the loop. Holds what its open buffers hold, as in RxJS. */

import type { Lower } from './step.js';

export function bufferCountKernel(bufferSize: number, startBufferEvery?: number | null): Lower {
  const every = startBufferEvery ?? bufferSize;
  return (out) => {
    const open: unknown[][] = [];
    let count = 0;
    return {
      next(value) {
        if (count++ % every === 0) open.push([]);
        for (const buffer of open) buffer.push(value);
        // Each began at another value, the oldest first: no more than one is full, and let go of before it is handed over.
        const [oldest] = open;
        if (oldest !== undefined && bufferSize <= oldest.length) {
          open.shift();
          out.emit(oldest);
        }
      },
      complete: () => out.iterate(open.values(), () => out.sendComplete()),
      stop() {
        open.length = 0;
      },
    };
  };
}
