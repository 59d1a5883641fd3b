/**
 * batch and debatch: laws over lists, on a plain Observable and as steps of the loop, in virtual time.
 */
import fc from 'fast-check';
import {
  asapScheduler,
  asyncScheduler,
  concat,
  from,
  type Observable,
  of,
  Subject,
  take,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, test } from 'vitest';
import { batch, debatch } from '../../operators/index.js';
import { shuffle } from '../../operators/shuffle.js';
import type { Batch } from '../../runtime/batch.js';
import { captured } from '../../src/testing/captured.js';
import { feeder } from '../../src/testing/feeder.js';
import { simulate } from '../../src/testing/simulate.js';
import { testClock } from '../../src/testing/testClock.js';
import { topology } from '../../src/topology.js';

type Arrays = readonly (readonly [atMs: number, values: readonly number[]])[];

interface Case {
  /** Values at whole milliseconds; each is its own index. */
  readonly times: readonly number[];
  readonly size: number;
  /** Half milliseconds, so that no value comes at the very time at which a batch is due. */
  readonly flushMs: number;
  readonly endMs: number;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    gaps: fc.array(fc.nat(6), { maxLength: 30 }),
    size: fc.integer({ min: 1, max: 5 }),
    flushMs: fc.constantFrom(Number.POSITIVE_INFINITY, 0.5, 3.5, 9.5),
    restMs: fc.nat(12),
  })
  .map(({ gaps, size, flushMs, restMs }) => {
    const times = gaps.map((_, i) => gaps.slice(0, i + 1).reduce((sum, gap) => sum + gap, 0));
    return { times, size, flushMs, endMs: (times.at(-1) ?? 0) + restMs };
  });

/** What is to come out, and when: a batch leaves when it is full, when its first value is of age, at the end. */
function expected({ times, size, flushMs, endMs }: Case): Arrays {
  const out: [number, number[]][] = [];
  let open: number[] = [];
  const leave = (atMs: number): void => {
    if (open.length > 0) out.push([atMs, open]);
    open = [];
  };
  for (const [value, atMs] of times.entries()) {
    const dueMs = (times[open[0] ?? -1] ?? Number.POSITIVE_INFINITY) + flushMs;
    if (dueMs < atMs) leave(dueMs);
    open.push(value);
    if (open.length === size) leave(atMs);
  }
  const dueMs = (times[open[0] ?? -1] ?? Number.POSITIVE_INFINITY) + flushMs;
  leave(Math.min(dueMs, endMs));
  return out;
}

function onClock(
  { times, endMs }: Case,
  operator: (source: Observable<number>) => Observable<readonly number[]>,
): Arrays {
  const clock = testClock();
  try {
    const input = feeder<number>();
    const out: [number, readonly number[]][] = [];
    const seen = captured(operator(input.source).pipe(tap((values) => out.push([clock.nowMs, values]))));
    for (const [value, atMs] of times.entries()) {
      clock.advance(atMs - clock.nowMs);
      input.next(value);
    }
    clock.advance(endMs - clock.nowMs);
    input.complete();
    expect(seen.end).toBe('complete');
    return out;
  } finally {
    clock[Symbol.dispose]();
  }
}

const batched = topology(
  import.meta.url,
  (values$: Observable<number>, shape: Batch) => values$.pipe(shuffle({ batch: 1 }), batch(shape)),
  { name: 'batched' },
);

describe('batch', () => {
  test('law: arrays are what the rule says, at the times it says, on a plain Observable', () => {
    fc.assert(
      fc.property(cases, (given) => {
        expect(onClock(given, batch({ size: given.size, flushMs: given.flushMs }))).toEqual(expected(given));
      }),
    );
  });

  test('law: … and as a step of an executor', () => {
    fc.assert(
      fc.property(cases, (given) => {
        const { times, size, flushMs, endMs } = given;
        const input = { values: times.map((atMs, value) => [atMs, value] as const), endMs };
        const { outputs, end } = simulate(batched, { input, args: { size, flushMs }, run: { batches: { output: 1 } } });
        expect([end, outputs['output']]).toEqual(['complete', expected(given)]);
      }),
    );
  });

  test('law: debatch after batch is the identity, for any shape, seed and times (C-184)', () => {
    const shapes = fc.constantFrom<Batch>(
      1,
      2,
      7,
      'auto',
      { flushMs: 0 },
      { size: 3, idle: true },
      { size: 'auto', latencyMs: 3, flushMs: 1 },
    );
    const through = topology(
      import.meta.url,
      (values$: Observable<number>, shape: Batch) => values$.pipe(shuffle(), batch(shape), debatch()),
      {
        name: 'through',
      },
    );
    const inputs = fc
      .array(fc.nat(20), { maxLength: 40 })
      .map((times) => [...times].sort((a, b) => a - b).map((atMs, i) => [atMs, i] as const));
    fc.assert(
      fc.property(shapes, inputs, fc.nat(2 ** 32 - 1), (args, values, seed) => {
        const { outputs, end } = simulate(through, { input: { values }, args, seed });
        expect([end, outputs['output']?.map(([, value]) => value)]).toEqual([
          'complete',
          values.map(([, value]) => value),
        ]);
      }),
    );
  });

  test('law: what comes while a batch is handed over belongs to the next one (ReactiveX/rxjs#3001)', () => {
    const scripts = fc.record({ size: fc.integer({ min: 1, max: 4 }), values: fc.array(fc.nat(3), { maxLength: 20 }) });
    fc.assert(
      fc.property(scripts, ({ size, values }) => {
        const source = new Subject<string>();
        const sent: string[] = [];
        const got: string[][] = [];
        let ended = false;
        const send = (value: string): void => {
          // A Subject that has completed takes nothing more.
          if (!ended) sent.push(value);
          source.next(value);
        };
        source.pipe(batch({ size, flushMs: Number.POSITIVE_INFINITY })).subscribe((values) => {
          got.push([...values]);
          // Each value of the source is answered so many times, from inside the delivery.
          for (const value of values) {
            const [id = '', answers = '0'] = value.split(':');
            for (let i = 0; i < Number(answers); i++) send(`${id}.${i}:0`);
          }
        });
        for (const [id, answers] of values.entries()) send(`${id}:${answers}`);
        ended = true;
        source.complete();
        expect(got.flat()).toEqual(sent);
        for (const batch of got.slice(0, -1)) expect(batch).toHaveLength(size);
      }),
    );
  });

  test('what was emitted before an error comes before it, and nothing after unsubscribing', () => {
    const failing = concat(
      of(1, 2, 3),
      throwError(() => 'gone'),
    );
    expect(captured(failing.pipe(batch(2)))).toEqual({ values: [[1, 2], [3]], end: { error: 'gone' } });
    const clock = testClock();
    try {
      const input = feeder<number>();
      const got: unknown[] = [];
      const subscription = input.source.pipe(batch({ size: 5, flushMs: 1 })).subscribe((values) => got.push(values));
      input.next(1);
      subscription.unsubscribe();
      clock.advance(10);
      expect(got).toEqual([]);
    } finally {
      clock[Symbol.dispose]();
    }
    const run = simulate(batched, {
      input: {
        values: [
          [0, 1],
          [1, 2],
        ],
        endMs: 2,
        error: 'gone',
      },
      args: { size: 5, flushMs: 9 },
    });
    expect(run).toMatchObject({ outputs: { output: [] }, end: { code: 'ERR_SOURCE', cause: 'gone' } });
  });

  test('an endless synchronous source is left by take', () => {
    function* endless() {
      for (let i = 0; ; i++) yield i;
    }
    const seen = captured(from(endless()).pipe(batch(3), take(2)));
    expect(seen).toEqual({
      values: [
        [0, 1, 2],
        [3, 4, 5],
      ],
      end: 'complete',
    });
  });

  test('no empty batches, and one timer', () => {
    const scheduled: number[] = [];
    const scheduler = new TestScheduler(() => {});
    const counting = Object.assign(Object.create(scheduler) as TestScheduler, {
      schedule(...args: Parameters<TestScheduler['schedule']>) {
        scheduled.push(args[1] ?? 0);
        return scheduler.schedule(...args);
      },
    });
    const got: unknown[] = [];
    const source = new Subject<number>();
    source.pipe(batch({ size: 2, flushMs: 5 }, counting)).subscribe((values) => got.push(values));
    for (let i = 0; i < 100; i++) source.next(i);
    expect([got.length, scheduled]).toEqual([50, [5]]);
    scheduler.flush();
    expect([got.length, scheduled]).toEqual([50, [5]]);
  });

  test.each([
    ['its own', undefined],
    ['asyncScheduler', asyncScheduler],
  ])('marbles, scheduler %s', (_, scheduler) => {
    new TestScheduler((actual, wanted) => expect(actual).toEqual(wanted)).run(
      ({ hot, expectObservable, expectSubscriptions }) => {
        const source = hot('--a--b--c-------d------|');
        const values = { x: ['a', 'b', 'c'], y: ['d'], v: ['a', 'b'], w: ['c'] };
        expectObservable(source.pipe(batch({ size: 3, flushMs: 20 }, scheduler))).toBe(
          '--------x--------------(y|)',
          values,
        );
        expectObservable(source.pipe(batch({ size: 3, flushMs: 4 }, scheduler))).toBe(
          '------v-----w-------y--|',
          values,
        );
        expectObservable(source.pipe(batch({ size: 3, flushMs: 4 }, scheduler)), '---------!').toBe(
          '------v---',
          values,
        );
        expectObservable(source.pipe(batch({ idle: true, flushMs: 4 }, scheduler))).toBe('--a--b--c-------d------|', {
          a: ['a'],
          b: ['b'],
          c: ['c'],
          d: ['d'],
        });
        expectSubscriptions(source.subscriptions).toBe([
          '^----------------------!',
          '^----------------------!',
          '^--------!',
          '^----------------------!',
        ]);
      },
    );
  });

  test('flushMs: 0 lets go at the end of what is under way', async () => {
    const got: unknown[] = [];
    const source = new Subject<number>();
    source.pipe(batch({ flushMs: 0 })).subscribe((values) => got.push(values));
    source.next(1);
    source.next(2);
    expect(got).toEqual([]);
    await new Promise<void>((resolve) => asapScheduler.schedule(() => resolve()));
    expect(got).toEqual([[1, 2]]);
  });

  test.each([
    [0, 'ERR_OPTION: the argument of batch() must be a whole number of values, at least 1, got 0'],
    [undefined, "ERR_OPTION: the argument of batch() must be a number of values, 'auto' or"],
    [
      { bytes: 10 },
      'ERR_OPTION: batch() counts values, not bytes, which it does not know: leave `bytes` out, or use size',
    ],
    [{ flushMs: 2 ** 31 }, 'ERR_OPTION: the argument of batch().flushMs must be milliseconds from 0 to 2147483647'],
  ])('%j is refused', (shape, message) => {
    expect(() => batch(shape as Batch)).toThrow(message);
  });

  test('a scheduler that is none is refused', () => {
    expect(() => batch(2, 5 as never)).toThrow('ERR_OPTION: the scheduler of batch() must be one of RxJS, got 5');
  });
});

describe('debatch', () => {
  test('values of arrays in order; what is no array passes (C-183)', () => {
    expect(captured(of<readonly number[][]>([1, 2], [], [3]).pipe(debatch()))).toEqual({
      values: [1, 2, 3],
      end: 'complete',
    });
    expect(captured(of('ab' as never, 7 as never).pipe(debatch<unknown>(), toArray()))).toMatchObject({
      values: [['ab', 7]],
    });
  });
});
