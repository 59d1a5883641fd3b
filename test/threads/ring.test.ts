import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { createSleepCell } from '../../runtime/channel.js';
import { createRing } from '../../runtime/ring.js';

const side = new URL('./fixtures/ring-side.mjs', import.meta.url);

describe('ring between two threads', () => {
  test.each([1, 2, 3])('law: 20,000 frames of random lengths arrive whole and in order (seed %i)', async (seed) => {
    const memory = createRing(64 * 1024, 2 ** 32 - 64 * 1024 * seed);
    const [writerCell, readerCell] = [createSleepCell(), createSleepCell()];
    const { port1, port2 } = new MessageChannel();
    const shared = { memory, seed, frames: 20_000 };
    const sides = [
      { role: 'writer', ownCell: writerCell, otherCell: readerCell, port: port1 },
      { role: 'reader', ownCell: readerCell, otherCell: writerCell, port: port2 },
    ].map((own) => new Worker(side, { workerData: { ...shared, ...own }, transferList: [own.port] }));
    const exits = sides.map((worker) => once(worker, 'exit'));
    try {
      const reports = await Promise.all(sides.map(async (worker) => (await once(worker, 'message'))[0]));
      expect(reports).toEqual(new Array(2).fill({ frames: 20_000, wrong: 0, pokedAwake: 0 }));
      await Promise.all(exits);
    } finally {
      await Promise.all(sides.map((worker) => worker.terminate()));
    }
  });
});
