/**
 * When a batch leaves, in virtual time, why, and how long a value may wait.
 */
import fc from 'fast-check';
import { type Batch, type FlushReason, gather, type Run, shuffle, topology } from 'millrace';
import { filter, map, mergeMap, tap } from 'millrace/operators';
import { simulate } from 'millrace/testing';
import type { Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { chain, classic, flushesOf, hop, made, runs, timed, times, toHop } from './fixtures/hops.js';

const forked = topology(
  import.meta.url,
  (values$: Observable<number>) => {
    const all$ = values$.pipe(shuffle({ batch: 1 }));
    return { errors: all$.pipe(filter((n) => n % 10 === 0)), words: all$.pipe(map((n) => n * 2)) };
  },
  { name: 'forked' },
);

describe('why a batch leaves', () => {
  interface Why {
    readonly reason: FlushReason;
    readonly batch: Batch;
    /** Times of values that are so many characters long. */
    readonly at: readonly number[];
    readonly length?: number;
    readonly endMs?: number;
    readonly flushes: readonly (readonly [atMs: number, count: number, reason: FlushReason])[];
    readonly error?: true;
  }
  test.each<Why>([
    {
      reason: 'size',
      batch: { size: 2, ...classic },
      at: [0, 1, 2],
      endMs: 9,
      flushes: [
        [1, 2, 'size'],
        [9, 1, 'end'],
      ],
    },
    {
      reason: 'bytes',
      batch: { bytes: 250, ...classic },
      at: [0, 1, 2, 3],
      length: 100,
      flushes: [
        [2, 1, 'bytes'],
        [2, 2, 'bytes'],
        [3, 1, 'end'],
      ],
    },
    {
      reason: 'age',
      batch: { flushMs: 4, idle: false },
      at: [1, 2, 7],
      endMs: 20,
      flushes: [
        [5, 2, 'age'],
        [11, 1, 'age'],
      ],
    },
    {
      reason: 'asleep',
      batch: 100,
      at: [0, 5],
      endMs: 6,
      flushes: [
        [0, 1, 'idle'],
        [5, 1, 'asleep'],
      ],
    },
    { reason: 'end', batch: classic, at: [0, 1], endMs: 5, flushes: [[5, 2, 'end']] },
    {
      reason: 'error',
      batch: classic,
      at: [0, 1],
      endMs: 5,
      error: true,
      flushes: [
        [5, 2, 'error'],
        [5, 0, 'error'],
      ],
    },
  ])('$reason', ({ batch, at, length = 1, endMs, flushes, error }) => {
    const values = at.map((atMs) => [atMs, 'x'.repeat(length)] as const);
    const input = {
      values,
      ...(endMs === undefined ? {} : { endMs }),
      ...(error === undefined ? {} : { error: 'gone' }),
    };
    const run = simulate(hop, { input, run: { batches: { hop: batch, output: 1 } } });
    expect(flushesOf(run, toHop)).toEqual(flushes);
    expect(run.outputs['output']?.length).toBe(at.length);
  });

  test('starved: no value can come before those that wait have left', () => {
    const two = made('starving', (values$: Observable<number>) =>
      values$.pipe(shuffle({ name: 'one' }), shuffle({ name: 'two' })),
    );
    const run = simulate(two, {
      input: { values: timed([0, 1, 2, 3]), endMs: 50 },
      run: { batches: { one: 1, two: { size: 3, ...classic }, output: 1 } },
      faults: [{ kind: 'starve', executor: 'one/0', atValue: 2 }],
    });
    expect(flushesOf(run, 'two:one/0->two/0')).toEqual([
      [1, 2, 'starved'],
      [50, 2, 'end'],
    ]);
  });

  test('idle: the executor has nothing more to do; explicit: run.flush(), also of nothing (C-149)', () => {
    let run: Run | undefined;
    const burst = made('burst', (values$: Observable<number>) =>
      values$.pipe(
        shuffle({ name: 'one', batch: 1 }),
        mergeMap((n) => [n, n, n]),
        shuffle({ name: 'two' }),
        tap((n) => {
          if (n === 2) run?.flush();
        }),
      ),
    );
    const flushes = (two: Batch) =>
      flushesOf(
        simulate(burst, {
          input: { values: timed([0, 1, 2]), endMs: 9 },
          run: { batches: { two, output: { size: 100, ...classic } }, onRun: (started) => (run = started) },
        }),
        'two:one/0->two/0',
      );
    expect(flushes({ size: 100 })[0]).toEqual([0, 3, 'idle']);
    const explicit = flushesOf(
      simulate(burst, {
        input: { values: timed([0, 1, 2]), endMs: 9 },
        run: { batches: { two: 1, output: { size: 100, ...classic } }, onRun: (started) => (run = started) },
      }),
      'output:two/0->caller',
    );
    // Nine values; three flushes were asked for, and the last two found what had come between.
    expect(explicit.reduce((sum, [, count]) => sum + (count as number), 0)).toBe(9);
    expect(explicit.map(([, , reason]) => reason)).toContain('explicit');
  });

  test('size 5: of 7 values 5 leave, and 2 when something else lets them (C-185, C-188); of none, nothing', () => {
    const run = simulate(hop, {
      input: { values: timed(new Array(7).fill(3)), endMs: 8 },
      run: { batches: { hop: { size: 5, ...classic }, output: 1 } },
    });
    expect(flushesOf(run, toHop)).toEqual([
      [3, 5, 'size'],
      [8, 2, 'end'],
    ]);
    expect(flushesOf(simulate(hop, { input: [] }), toHop)).toEqual([]);
  });
});

describe('how long a value waits', () => {
  test('law: in calm weather at most the flushMs of the hops it takes, to the millisecond', () => {
    const shapes = fc.array(
      fc.record({
        size: fc.constantFrom<number | 'auto'>(1, 2, 5, 100, 'auto'),
        flushMs: fc.constantFrom(0, 1, 3, 10),
        idle: fc.boolean(),
      }),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(shapes, times, (batches, at) => {
        const { outputs, end } = simulate(chain, {
          input: { values: timed(at), endMs: 1000 },
          args: batches,
          run: { batches: { output: 1 } },
        });
        expect(end).toBe('complete');
        const longestMs = batches.reduce((sum, { flushMs }) => sum + flushMs, 0);
        for (const [atMs, value] of outputs['output'] ?? []) expect(atMs - at[value]!).toBeLessThanOrEqual(longestMs);
      }),
      runs,
    );
  });

  test('law: with latencyMs no value of a batch gets older, however slowly or fast values come', () => {
    fc.assert(
      fc.property(times, fc.constantFrom(1, 4), (at, latencyMs) => {
        const batch: Batch = { size: 'auto', latencyMs, idle: false, flushMs: 50 };
        const { outputs } = simulate(chain, {
          input: { values: timed(at), endMs: 1000 },
          args: [batch],
          run: { batches: { output: 1 } },
        });
        for (const [atMs, value] of outputs['output'] ?? []) expect(atMs - at[value]!).toBeLessThanOrEqual(latencyMs);
      }),
      runs,
    );
  });

  test('99 of 100 values, then silence: all are there after flushMs (C-192)', () => {
    const run = simulate(hop, {
      input: { values: timed(new Array(99).fill(5)), endMs: 1000 },
      run: { batches: { hop: { size: 100, flushMs: 10, idle: false }, output: 1 } },
    });
    expect(flushesOf(run, toHop)).toEqual([[15, 99, 'age']]);
    expect(new Set(run.outputs['output']?.map(([atMs]) => atMs))).toEqual(new Set([15]));
  });

  test('a stream of size 1 never waits for one of 100 (C-195), nor do producers for each other (C-209)', () => {
    const run = simulate(forked, {
      input: { values: timed(Array.from({ length: 30 }, (_, i) => i)), endMs: 500 },
      run: { batches: { default: { size: 100, ...classic }, errors: 1 } },
    });
    expect(run.outputs['errors']).toEqual([
      [0, 0],
      [10, 10],
      [20, 20],
    ]);
    expect(new Set(run.outputs['words']?.map(([atMs]) => atMs))).toEqual(new Set([500]));
    const wide = made('wide', (values$: Observable<number>) =>
      values$.pipe(
        shuffle({ parallelism: 2, name: 'from', batch: 1 }),
        gather({ name: 'to', batch: { flushMs: 10, idle: false } }),
        map((n) => n),
      ),
    );
    const { flushes } = simulate(wide, {
      input: { values: timed([0, 4]), endMs: 100 },
      run: { batches: { output: 1 } },
    });
    const ages = flushes.filter(({ reason }) => reason === 'age').map(({ atMs, channel }) => [atMs, channel]);
    expect(ages).toEqual([
      [10, 'to:from/0->to/0'],
      [14, 'to:from/1->to/0'],
    ]);
  });

  test('behind a value that takes 50 ms, what waits leaves at the next look at the clock (C-211)', () => {
    const run = simulate(chain, {
      input: { values: timed([0, 1, 2, 3]), endMs: 500 },
      args: [1, { flushMs: 10, idle: false }],
      run: { batches: { output: 1 } },
      faults: [{ kind: 'slow', executor: 'shuffle-1/0', atValue: 3, forMs: 50 }],
    });
    // The first value came at 0 and was due at 10, in the middle of the slow one, which began at 2.
    expect(flushesOf(run, 'shuffle-2:shuffle-1/0->shuffle-2/0')[0]).toEqual([52, 4, 'age']);
  });
});
