import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { from, of, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { Batch } from '../../../runtime/batch.js';
import { maxAutoSize } from '../../../runtime/filling.js';
import { Asked } from '../../../src/demand.js';
import { toAsyncBatches } from '../../../src/edges/toAsyncBatches.js';
import { pull } from '../../../src/pull.js';
import { type Adapter, lawsOf } from './laws.js';
import { askedPlan, broken, expected, turn, turns, upTo, wellOf } from './wells.js';

const done = { done: true, value: undefined };
const isWaiting = async (promise: Promise<unknown>): Promise<boolean> => {
  const waits = {};
  return (await Promise.race([promise, turns(3).then(() => waits)])) === waits;
};

const batch: fc.Arbitrary<Batch> = fc.oneof(
  fc.integer({ min: 1, max: 12 }),
  fc.constant<Batch>('auto'),
  fc.record({
    size: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant('auto' as const)),
    flushMs: fc.constantFrom(0, 1),
    idle: fc.boolean(),
  }),
);

function maxSize(given: Batch): number {
  const size = typeof given === 'object' ? given.size : given;
  return typeof size === 'number' ? size : maxAutoSize;
}

const sized = (size: number | 'auto', most: number): Adapter => ({
  name: `toAsyncBatches() of size ${size}`,
  ahead: most,
  open(values, options) {
    const batches = toAsyncBatches(values, { ...options, batch: size });
    return {
      take: async () => {
        const { done: over, value } = await batches.next();
        return over === true ? undefined : value;
      },
      leave: {
        return: () => batches.return?.(),
        throw: () => batches.throw?.(broken).catch(() => undefined),
        async break() {
          try {
            for await (const _ of batches) break;
          } catch (reason) {
            expect(reason).toBe(broken);
          }
        },
      },
    };
  },
});
lawsOf([sized(1, 1), sized(7, 7), sized('auto', maxAutoSize)], 350);

describe('random readers', () => {
  test('law: every value in one batch, in order, none empty or too large; no more asked for than a batch ahead', async () => {
    const script = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(askedPlan, batch, script, async (plan, shape, steps) => {
        const well = wellOf(plan);
        const size = maxSize(shape);
        const batches = toAsyncBatches(well.values, { batch: shape });
        const seen: number[] = [];
        const ends: unknown[] = [];
        let called = 0;
        const call = async (): Promise<void> => {
          called++;
          try {
            const { done: over, value } = await batches.next();
            if (over === true) ends.push('complete');
            else {
              expect(value.length).toBeGreaterThan(0);
              expect(value.length).toBeLessThanOrEqual(size);
              seen.push(...value);
            }
          } catch (reason) {
            ends.push(reason);
          }
        };
        const calls: Promise<void>[] = [];
        for (const count of steps) {
          for (let n = 0; n < count; n++) calls.push(call());
          expect(well.asked).toBeLessThanOrEqual(called * size);
          await turn();
          if (plan.kind === 'asked') expect(well.asked - seen.length).toBeLessThanOrEqual(size);
          expect(well.given - seen.length).toBeLessThanOrEqual(size);
        }
        while (ends.length === 0) {
          calls.push(call());
          await calls.at(-1);
        }
        await Promise.all(calls);
        const { values, end } = expected(plan);
        expect([seen, ends[0]]).toEqual([values, end]);
        expect(ends.slice(1).every((other) => other === 'complete')).toBe(true);
        expect([await batches.next(), well.closed]).toEqual([done, well.opened]);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a batch leaves', () => {
  test('when it has its size: 100, or what was said', async () => {
    const sizes: number[] = [];
    for await (const values of toAsyncBatches(pull(() => upTo(250)))) sizes.push(values.length);
    for await (const values of toAsyncBatches(
      pull(() => upTo(7)),
      { batch: 3 },
    ))
      sizes.push(values.length);
    expect(sizes).toEqual([100, 100, 50, 3, 3, 1]);
  });

  test('when nothing more came in the turn, and the reader waits', async () => {
    const source = new Subject<number>();
    const batches = toAsyncBatches(source);
    const first = batches.next();
    expect(await isWaiting(first)).toBe(true);
    source.next(1);
    queueMicrotask(() => source.next(2));
    expect(await first).toEqual({ done: false, value: [1, 2] });
    const second = batches.next();
    source.next(3);
    expect(await second).toEqual({ done: false, value: [3] });
  });

  test('with idle: false, not before its age', async () => {
    const source = new Subject<number>();
    const never = toAsyncBatches(source, { batch: { size: 3, idle: false, flushMs: Number.POSITIVE_INFINITY } });
    const aged = toAsyncBatches(source, { batch: { size: 3, idle: false, flushMs: 1 } });
    const [waiting, leaving] = [never.next(), aged.next()];
    for (const value of [1, 2]) source.next(value);
    expect(await leaving).toEqual({ done: false, value: [1, 2] });
    expect(await isWaiting(waiting)).toBe(true);
    source.next(3);
    expect(await waiting).toEqual({ done: false, value: [1, 2, 3] });
    await aged.return?.();
  });

  test('at the end and before an error, which rejects once', async () => {
    for (const end of ['complete', 'error'] as const) {
      const source = new Subject<number>();
      const batches = toAsyncBatches(source, { batch: { idle: false, flushMs: Number.POSITIVE_INFINITY } });
      const [first, second] = [batches.next(), batches.next()];
      for (const value of [1, 2]) source.next(value);
      if (end === 'error') source.error(broken);
      else source.complete();
      expect(await first).toEqual({ done: false, value: [1, 2] });
      if (end === 'error') await expect(second).rejects.toBe(broken);
      else expect(await second).toEqual(done);
      expect(await batches.next()).toEqual(done);
    }
  });

  test('before an abort, which takes its listener along', async () => {
    const controller = new AbortController();
    const source = new Subject<number>();
    const batches = toAsyncBatches(source, { signal: controller.signal });
    const first = batches.next();
    source.next(1);
    controller.abort(broken);
    expect([await first, source.observed]).toEqual([{ done: false, value: [1] }, false]);
    await expect(batches.next()).rejects.toBe(broken);
    expect(await batches.next()).toEqual(done);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('what came while nobody waited, at once', async () => {
    const source = new Subject<number>();
    const batches = toAsyncBatches(source, { batch: 4 });
    const first = batches.next();
    source.next(1);
    expect((await first).value).toEqual([1]);
    for (const value of [2, 3, 4, 5, 6, 7]) source.next(value);
    expect((await batches.next()).value).toEqual([2, 3, 4, 5]);
    expect((await batches.next()).value).toEqual([6, 7]);
  });
});

describe('toAsyncBatches()', () => {
  test('asks for what the batch that is waited for still needs', async () => {
    const asked: number[] = [];
    let give: (value: number) => void = () => {};
    const batches = toAsyncBatches(
      new Asked<number>((observer) => {
        give = (value) => observer.next(value);
        return { request: (n) => asked.push(n), unsubscribe: () => {} };
      }),
      { batch: 5 },
    );
    const first = batches.next();
    expect(asked).toEqual([5]);
    give(1);
    give(2);
    expect((await first).value).toEqual([1, 2]);
    // Three are under way.
    const second = batches.next();
    expect(asked).toEqual([5, 2]);
    for (const value of [3, 4, 5]) give(value);
    expect((await second).value).toEqual([3, 4, 5]);
    // Two are, of the five.
    for (const value of [6, 7]) give(value);
    const third = batches.next();
    expect(asked).toEqual([5, 2, 3]);
    for (const value of [8, 9, 10]) give(value);
    expect((await third).value).toEqual([6, 7, 8, 9, 10]);
  });

  test('return() and throw() let go at once, of the source, the timer and the values', async () => {
    for (const leave of ['return', 'throw'] as const) {
      const source = new Subject<number>();
      const batches = toAsyncBatches(source, { batch: { idle: false, flushMs: 1_000_000 } });
      const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      const before = timers();
      const waiting = [batches.next(), batches.next()];
      source.next(1);
      expect(timers()).toBe(before + 1);
      const left = batches[leave]?.(broken);
      expect([source.observed, timers()]).toEqual([false, before]);
      if (leave === 'throw') await expect(left).rejects.toBe(broken);
      else expect(await left).toEqual({ done: true, value: broken });
      expect(await Promise.all([...waiting, batches.next()])).toEqual([done, done, done]);
    }
  });

  test('return() before the first next() never subscribes', async () => {
    const well = wellOf({ kind: 'asked', count: 3, ending: 'end', delays: [0] });
    const batches = toAsyncBatches(well.values);
    expect(await batches.return?.()).toEqual(done);
    expect([await batches.next(), well.opened]).toEqual([done, 0]);
  });

  test('left while it is being subscribed, and within a request', async () => {
    let left = 0;
    const first: AsyncIterableIterator<readonly number[]> = toAsyncBatches(
      new Asked<number>(() => {
        void first.return?.();
        return { request: () => {}, unsubscribe: () => left++ };
      }),
    );
    expect([await first.next(), left]).toEqual([done, 1]);
    const second: AsyncIterableIterator<readonly number[]> = toAsyncBatches(
      new Asked<number>(() => ({ request: () => void second.return?.(), unsubscribe: () => left++ })),
    );
    expect([await second.next(), left]).toEqual([done, 2]);
  });

  test('of a source that knows no demand: ERR_HELD, ERR_OVERFLOW or what overflow says', async () => {
    const read = async (values: AsyncIterable<readonly number[]>): Promise<readonly unknown[]> => {
      const seen: number[] = [];
      try {
        for await (const some of values) seen.push(...some);
      } catch (reason) {
        return [seen, (reason as { readonly code?: string }).code];
      }
      return [seen, 'complete'];
    };
    expect(await read(toAsyncBatches(from(upTo(100_000))))).toEqual([upTo(1_024), 'ERR_HELD']);
    const rule = (strategy: 'dropOldest' | 'latest') => ({ overflow: { strategy, capacity: 2 } });
    expect(await read(toAsyncBatches(from(upTo(9)), rule('dropOldest')))).toEqual([[7, 8], 'complete']);
    expect(await read(toAsyncBatches(from(upTo(9)), rule('latest')))).toEqual([[8], 'complete']);
    const source = new Subject<number>();
    const batches = toAsyncBatches(source, { batch: 1 });
    const first = batches.next();
    for (const value of upTo(2_000)) source.next(value);
    expect([(await first).value, source.observed]).toEqual([[0], false]);
    expect(await read(batches)).toEqual([upTo(1_025).slice(1), 'ERR_OVERFLOW']);
  });

  test.each([
    [3, undefined, 'toAsyncBatches() takes an Observable'],
    [of(1), { batch: 0 }, 'batch of toAsyncBatches() must be a whole number of values'],
    [of(1), { batch: { bytes: 100 } }, 'batch.bytes of toAsyncBatches() has no meaning'],
    [of(1), { batch: { sise: 1 } }, 'did you mean size?'],
    [of(1), { bacth: 1 }, 'did you mean batch?'],
    [of(1), { signal: 3 }, 'signal of toAsyncBatches()'],
  ])('refuses %o with %o', (values, options, message) => {
    expect(() => toAsyncBatches(values as never, options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) }),
    );
  });
});
