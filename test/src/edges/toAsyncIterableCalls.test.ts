import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { from, NEVER, Observable, of, Subject, throwError } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { DemandObserver } from '../../../runtime/demand.js';
import { Asked } from '../../../src/demand.js';
import { toAsyncIterable } from '../../../src/edges/toAsyncIterable.js';
import { pull } from '../../../src/pull.js';
import { lawsOf } from './laws.js';
import { askedPlan, broken, expected, turn, turns, upTo, wellOf } from './wells.js';

const done = { done: true, value: undefined };

lawsOf([
  {
    name: 'toAsyncIterable()',
    ahead: 0,
    open(values, options) {
      const iterator = toAsyncIterable(values, options);
      return {
        take: async () => {
          const { done: over, value } = await iterator.next();
          return over === true ? undefined : [value];
        },
        leave: {
          return: () => iterator.return?.(),
          throw: () => iterator.throw?.(broken).catch(() => undefined),
          async break() {
            try {
              for await (const _ of iterator) break;
            } catch (reason) {
              expect(reason).toBe(broken);
            }
          },
        },
      };
    },
  },
]);

describe('random readers', () => {
  test('law: calls are answered in their order; nothing lost, repeated, or asked for before it is called for', async () => {
    const script = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(askedPlan, script, async (plan, steps) => {
        const well = wellOf(plan);
        const iterator = toAsyncIterable(well.values);
        const answers: Promise<IteratorResult<number> | { readonly error: unknown }>[] = [];
        for (const calls of steps) {
          for (let n = 0; n < calls; n++) {
            answers.push(iterator.next().catch((error: unknown) => ({ error })));
            expect(well.given).toBeLessThanOrEqual(answers.length);
            expect(well.asked).toBeLessThanOrEqual(answers.length);
          }
          await turn();
          expect(well.given).toBeLessThanOrEqual(answers.length);
          if (plan.kind === 'asked' && well.closed === 0) expect(well.asked).toBe(answers.length);
        }
        const { values, end } = expected(plan);
        const told = end === 'complete' ? done : { error: end };
        const all = [...values.map((value) => ({ done: false, value })), told];
        const left = await Promise.all(answers);
        expect(left).toEqual(upTo(left.length).map((n) => all[n] ?? done));
        await iterator.return?.();
        await turns(2);
        expect(well.closed).toBe(well.opened);
      }),
      { numRuns: 300 },
    );
  });

  test('law: `for await` reads what a list would give', async () => {
    await fc.assert(
      fc.asyncProperty(askedPlan, async (plan) => {
        const well = wellOf(plan);
        const seen: number[] = [];
        let end: unknown = 'complete';
        try {
          for await (const value of toAsyncIterable(well.values)) seen.push(value);
        } catch (reason) {
          end = reason;
        }
        expect({ values: seen, end }).toEqual(expected(plan));
        expect([well.opened, well.closed]).toEqual([1, 1]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('toAsyncIterable()', () => {
  test('is lazy, subscribes once, and is its own iterator', async () => {
    let subscribed = 0;
    const source = new Subject<number>();
    const iterator = toAsyncIterable(
      new Observable<number>((subscriber) => {
        subscribed++;
        return source.subscribe(subscriber);
      }),
    );
    expect([subscribed, iterator[Symbol.asyncIterator]()]).toEqual([0, iterator]);
    const both = [iterator.next(), iterator.next()];
    source.next(1);
    source.next(2);
    expect(await Promise.all(both)).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
    ]);
    expect(subscribed).toBe(1);
  });

  test('return() before the first next() never subscribes; what it is given comes back, awaited', async () => {
    const well = wellOf({ kind: 'asked', count: 3, ending: 'end', delays: [0] });
    const iterator = toAsyncIterable(well.values);
    expect(await iterator.return?.(Promise.resolve(5))).toEqual({ done: true, value: 5 });
    expect([await iterator.next(), well.opened]).toEqual([done, 0]);
  });

  test('return() and throw() let go at once; calls that wait are done', async () => {
    for (const leave of ['return', 'throw'] as const) {
      const source = new Subject<number>();
      const iterator = toAsyncIterable(source);
      const waiting = [iterator.next(), iterator.next()];
      expect(source.observed).toBe(true);
      const left = iterator[leave]?.(broken);
      expect(source.observed).toBe(false);
      if (leave === 'throw') await expect(left).rejects.toBe(broken);
      else expect(await left).toEqual({ done: true, value: broken });
      expect(await Promise.all(waiting)).toEqual([done, done]);
      expect(await iterator.next()).toEqual(done);
    }
  });

  test('an error rejects the oldest call, once', async () => {
    const source = new Subject<number>();
    const iterator = toAsyncIterable(source);
    const [first, second] = [iterator.next(), iterator.next()];
    source.error(broken);
    await expect(first).rejects.toBe(broken);
    expect([await second, await iterator.next()]).toEqual([done, done]);
  });

  test('an error nobody waits for is told to the next call, behind the values before it', async () => {
    const source = new Subject<number>();
    const iterator = toAsyncIterable(source);
    const first = iterator.next();
    for (const value of [1, 2]) source.next(value);
    source.error(broken);
    expect([await first, await iterator.next()]).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
    ]);
    await expect(iterator.next()).rejects.toBe(broken);
    expect(await iterator.next()).toEqual(done);
  });

  test('any error is told, also undefined', async () => {
    for (const reason of [undefined, null, 0, 'no']) {
      const iterator = toAsyncIterable(throwError(() => reason));
      await expect(iterator.next()).rejects.toBe(reason);
      expect(await iterator.next()).toEqual(done);
    }
  });

  test('values may be undefined, null or promises of the user', async () => {
    const values = [undefined, null, false, Number.NaN];
    const seen: unknown[] = [];
    for await (const value of toAsyncIterable(pull(() => values))) seen.push(value);
    expect(seen).toEqual(values);
  });

  test('calls from within the source: next() while it subscribes and within a request, return() in both', async () => {
    const all = pull(() => upTo(5));
    const inner: Promise<IteratorResult<number>>[] = [];
    const iterator: AsyncIterableIterator<number> = toAsyncIterable(
      new Asked<number>((observer: DemandObserver<number>) => {
        inner.push(iterator.next());
        let given = 0;
        let asked = false;
        return {
          request(n) {
            if (!asked) {
              asked = true;
              inner.push(iterator.next());
            }
            for (let left = n; left > 0; left--) observer.next(given++);
          },
          unsubscribe: () => inner.push(iterator.next()),
        };
      }),
    );
    const outer = iterator.next();
    await iterator.return?.();
    const answers = await Promise.all([outer, ...inner]);
    expect(answers.filter((answer) => answer.done !== true).map((answer) => answer.value)).toEqual([0, 1, 2]);
    expect(answers.length).toBe(4);

    let left = 0;
    const leaving: AsyncIterableIterator<number> = toAsyncIterable(
      new Asked<number>(() => {
        void leaving.return?.();
        return { request: () => {}, unsubscribe: () => left++ };
      }),
    );
    expect([await leaving.next(), left]).toEqual([done, 1]);
    const within: AsyncIterableIterator<number> = toAsyncIterable(
      new Asked<number>(() => ({ request: () => void within.return?.(), unsubscribe: () => left++ })),
    );
    expect([await within.next(), left]).toEqual([done, 2]);
    expect(await toAsyncIterable(all).next()).toEqual({ done: false, value: 0 });
  });

  test('an abort rejects the call that waits with its reason, leaves the source and takes its listener along', async () => {
    const controller = new AbortController();
    const source = new Subject<number>();
    const iterator = toAsyncIterable(source, { signal: controller.signal });
    const waiting = iterator.next();
    controller.abort(broken);
    await expect(waiting).rejects.toBe(broken);
    expect([await iterator.next(), source.observed]).toEqual([done, false]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    await expect(toAsyncIterable(NEVER, { signal: controller.signal }).next()).rejects.toBe(broken);
  });
});

describe('a source that knows no demand', () => {
  const readAll = async (values: Observable<number>, options: object): Promise<readonly [number[], unknown]> => {
    const seen: number[] = [];
    try {
      for await (const value of toAsyncIterable(values, options)) seen.push(value);
    } catch (reason) {
      return [seen, (reason as { readonly code?: string }).code];
    }
    return [seen, 'complete'];
  };

  test('of from(hugeArray), 1,024 values and ERR_HELD', async () => {
    expect(await readAll(from(upTo(100_000)), {})).toEqual([upTo(1_024), 'ERR_HELD']);
    expect(await readAll(from(upTo(1_024)), {})).toEqual([upTo(1_024), 'complete']);
  });

  test.each([
    ['dropOldest', [97, 98, 99]],
    ['dropNewest', [0, 1, 2]],
    ['latest', [99]],
    ['buffer', upTo(100)],
  ])('%s', async (strategy, kept) => {
    expect(await readAll(from(upTo(100)), { overflow: { strategy, capacity: 3 } })).toEqual([kept, 'complete']);
  });

  test('of a Subject, 1,024 values wait, then ERR_OVERFLOW', async () => {
    const source = new Subject<number>();
    const iterator = toAsyncIterable(source);
    const first = iterator.next();
    for (const value of upTo(2_000)) source.next(value);
    expect(await first).toEqual({ done: false, value: 0 });
    expect(source.observed).toBe(false);
    for (let n = 1; n <= 1_024; n++) expect((await iterator.next()).value).toBe(n);
    await expect(iterator.next()).rejects.toMatchObject({ code: 'ERR_OVERFLOW' });
  });
});

describe('options', () => {
  test.each([
    [3, undefined, 'toAsyncIterable() takes an Observable'],
    [of(1), null, 'the options of toAsyncIterable()'],
    [of(1), { batch: 3 }, 'toAsyncIterable() has no option "batch"'],
    [of(1), { signal: 3 }, 'signal of toAsyncIterable()'],
  ])('refuses %o with %o', (values, options, message) => {
    expect(() => toAsyncIterable(values as never, options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) }),
    );
  });

  test('takes whatever has Symbol.observable', async () => {
    const foreign = {
      '@@observable': () => ({
        subscribe: (observer: { next(value: number): void; complete(): void }) => of(1, 2).subscribe(observer),
      }),
    };
    const seen: number[] = [];
    for await (const value of toAsyncIterable(foreign as unknown as Observable<number>)) seen.push(value);
    expect(seen).toEqual([1, 2]);
  });
});
