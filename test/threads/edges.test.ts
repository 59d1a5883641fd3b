import { getEventListeners } from 'node:events';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { createRuntime, into, pull, toAsyncBatches, toAsyncIterable, toReadable, toReadableStream } from 'millrace';
import type { Observable } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { counting, doubled } from './fixtures/edges.js';
import { until } from './fixtures/observe.js';

const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

interface Options {
  readonly signal?: AbortSignal;
}

/** Takes the values of one edge until `take` says false: how a reader goes on and leaves is the edge's own. */
type Edge = (
  values: Observable<number>,
  take: (value: number) => boolean | Promise<boolean>,
  options: Options,
) => Promise<void>;

const edges: Readonly<Record<string, Edge>> = {
  async toAsyncIterable(values, take, options) {
    for await (const value of toAsyncIterable(values, options)) if (!(await take(value))) break;
  },
  async toAsyncBatches(values, take, options) {
    for await (const batch of toAsyncBatches(values, { ...options, batch: 50 }))
      for (const value of batch) if (!(await take(value))) return;
  },
  async toReadable(values, take, options) {
    for await (const value of toReadable(values, options)) if (!(await take(value))) break;
  },
  async toReadableStream(values, take, options) {
    for await (const value of toReadableStream(values, options)) if (!(await take(value))) break;
  },
  async 'into a Node sink'(values, take, options) {
    let left = false;
    const sink = new Writable({
      objectMode: true,
      write(value, _, done) {
        void Promise.resolve(take(value)).then((goesOn) => {
          left = !goesOn;
          if (left) sink.destroy();
          done();
        });
      },
    });
    await into(values, sink, options).catch((reason) => {
      if (!left) throw reason;
    });
  },
  async 'into a Web sink'(values, take, options) {
    let left = false;
    const sink = new WritableStream<number>({
      async write(value, controller) {
        left = !(await take(value));
        if (left) controller.error('left');
      },
    });
    await into(values, sink, options).catch((reason) => {
      if (!left) throw reason;
    });
  },
};

function watched(length: number): {
  readonly values: Observable<number>;
  readonly given: () => number;
  readonly closed: () => number;
} {
  const memory = new SharedArrayBuffer(8);
  const told = new Int32Array(memory);
  const values = counting({ runtime, args: { memory, length } });
  return { values, given: () => Atomics.load(told, 0), closed: () => Atomics.load(told, 1) };
}

describe.each(Object.entries(edges))('%s behind threads', (_, edge) => {
  test('gives all values, in order, of an input that is asked and of a source on a thread', async () => {
    const seen: number[] = [];
    const take = (value: number): boolean => seen.push(value) > 0;
    await edge(pull(() => numbers(20_000)).pipe(doubled({ runtime })), take, {});
    expect(seen).toEqual(numbers(20_000).map((n) => n * 2));
    seen.length = 0;
    const { values, given } = watched(20_000);
    await edge(values, take, {});
    expect([seen, given()]).toEqual([numbers(20_000), 20_000]);
  });

  test('a reader that pauses: its input is asked for a bounded number, and closed when it leaves', async () => {
    let given = 0;
    let closed = 0;
    const endless = pull(function* () {
      try {
        for (;;) yield given++;
      } finally {
        closed++;
      }
    });
    let [taken, before] = [0, -1];
    await edge(
      endless.pipe(doubled({ runtime })),
      async () => {
        if (++taken < 100) return true;
        // It stands still in time, of itself.
        while (given > before) {
          before = given;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        return false;
      },
      {},
    );
    // Two rings of 512 KiB, of numbers of 4 bytes.
    expect(given).toBeLessThan(300_000);
    await until(() => closed === 1);
    await until(() => runtime.runs.length === 0);
  });

  test('law: random early exits close the source on its thread, and leave no listener', {
    timeout: 20_000,
  }, async () => {
    const shared = new AbortController();
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    try {
      const exit = fc.record({ after: fc.integer({ min: 1, max: 400 }), aborts: fc.boolean(), waits: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(exit, async ({ after, aborts, waits }) => {
          const { values, given, closed } = watched(1_000_000);
          const own = aborts ? new AbortController() : shared;
          let taken = 0;
          const left = edge(
            values,
            async (value) => {
              expect(value).toBe(taken);
              if (waits) await Promise.resolve();
              if (++taken < after) return true;
              if (aborts) own.abort('enough');
              return aborts && taken < after + 1_000;
            },
            { signal: own.signal },
          );
          await (aborts ? left.catch((reason) => expect(reason).toBe('enough')) : left);
          await until(() => closed() === 1);
          expect(given()).toBeLessThan(1_000_000);
          expect(getEventListeners(own.signal, 'abort')).toEqual([]);
        }),
        { numRuns: 40 },
      );
      await until(() => runtime.runs.length === 0);
      expect(rejections).toEqual([]);
    } finally {
      process.off('unhandledRejection', onRejection);
    }
  });
});
