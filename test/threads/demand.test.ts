/** Readers that ask get what they asked for, and sources that cannot be asked are bounded by a rule. */

import fc from 'fast-check';
import { createRuntime, type Overflow, pull, type Run } from 'millrace';
import { EMPTY, firstValueFrom, from, Subject, take, throwError, toArray } from 'rxjs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type Asking, asking } from './fixtures/asking.js';
import * as flood from './fixtures/flood.js';
import * as held from './fixtures/held.js';
import { observe, until, valuesOf } from './fixtures/observe.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 2 });
const ways = [
  ['on threads', { runtime }],
  ['on the calling thread', { runtime, threads: 0 }],
] as const;

afterEach(() => until(() => runtime.runs.length === 0));
afterAll(() => runtime.close());

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
};

/** A source that can be asked, and what it has given and whether it was closed. */
function pulled<T>(make: (n: number) => T, count = Number.POSITIVE_INFINITY) {
  const state = { given: 0, closed: false };
  const source$ = pull(function* () {
    try {
      for (; state.given < count; ) yield make(state.given++);
    } finally {
      state.closed = true;
    }
  });
  return { state, source$ };
}

const topologies = fc.record({
  first: fc.integer({ min: 1, max: 3 }),
  second: fc.integer({ min: 0, max: 2 }),
  gathered: fc.boolean(),
  batch: fc.constantFrom(1, 7, 100),
});
const requests = fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 300 })), { maxLength: 8 });

describe.each(ways)('demand, %s', (_way, options) => {
  test('law: never more than asked for, never less when there is enough; the end needs no demand', async () => {
    await fc.assert(
      fc.asyncProperty(topologies, fc.nat(500), requests, async (args, count, script) => {
        const reader = asking(pulled((n) => n, count).source$.pipe(held.hops({ ...options, args })));
        let asked = 0;
        for (const n of script) {
          reader.request(n);
          asked += n;
          const due = Math.min(asked, count);
          await until(() => reader.values.length >= due);
          await turns(3);
          expect(reader.values.length).toBe(due);
        }
        if (asked < count) {
          expect(reader.ends).toEqual([]);
          reader.request(count - asked);
        }
        // All that was asked for has come, and no more is asked.
        await until(() => reader.ends.length > 0);
        expect(reader.ends).toEqual(['complete']);
        const sorted = [...reader.values].sort((a, b) => a - b);
        expect(sorted).toEqual(upTo(count));
        if (args.first === 1 && args.second < 2) expect(reader.values).toEqual(sorted);
      }),
      { numRuns: long ? 500 : 15 },
    );
  });

  test('law: one value asked for at a time arrives, though batches of 100 are far from full', async () => {
    const args = { first: 2, second: 2, gathered: true, batch: 100 };
    const reader = asking(pulled((n) => n).source$.pipe(held.hops({ ...options, args })));
    for (let count = 1; count <= 250; count++) {
      reader.request(1);
      await until(() => reader.values.length === count);
    }
    // A hot source, which gives one value and no other to fill the batch.
    const hot$ = new Subject<number>();
    const second = asking(hot$.pipe(held.hops({ ...options, args })));
    second.request(1);
    hot$.next(7);
    await until(() => second.values.length === 1);
    reader.unsubscribe();
    second.unsubscribe();
  });

  test('the end of an empty stream, and an error, come without demand', async () => {
    const empty = asking(pull((): number[] => []).pipe(held.fast(options)));
    await until(() => empty.ends.length > 0);
    expect(empty.ends).toEqual(['complete']);
    const failing = asking(
      pull((): number[] => {
        throw new Error('no source');
      }).pipe(held.fast(options)),
    );
    await until(() => failing.ends.length > 0);
    expect(failing.ends).toMatchObject([{ code: 'ERR_SOURCE', cause: { message: 'no source' } }]);
  });

  test('a source that knows no demand begins with the first request, and so does its end', async () => {
    let begun = 0;
    const empty = asking(from([]).pipe(held.fast(options)));
    const failing = asking(throwError(() => begun++).pipe(held.fast(options)));
    await turns(5);
    expect([empty.ends, failing.ends, begun]).toEqual([[], [], 0]);
    empty.request(1);
    failing.request(1);
    await until(() => empty.ends.length + failing.ends.length === 2);
    expect([empty.ends[0], begun]).toEqual(['complete', 1]);
  });

  test('C-078: 100,000 requests of 1 within next', async () => {
    const count = 100_000;
    const reader = asking(pulled((n) => n, count).source$.pipe(held.fast(options)), ({ request }) => request(1));
    reader.request(1);
    await until(() => reader.ends.length > 0);
    expect([reader.ends, reader.values.length, reader.values.findIndex((n, i) => n !== i)]).toEqual([
      ['complete'],
      count,
      -1,
    ]);
  });

  /** Asks for 10 at a time and pauses when they have come. */
  async function tens<T>(reader: Asking<T>, look: () => void): Promise<void> {
    for (let asked = 10; reader.ends.length === 0; asked += 10) {
      reader.request(10);
      while (reader.values.length < asked && reader.ends.length === 0) await turns(1);
      if (asked % 1_000 === 0) look();
    }
  }

  test('C-171: one value that becomes a million streams to a reader that asks for 10 at a time; the next one waits', async () => {
    const count = long ? 1_000_000 : 100_000;
    let run!: Run;
    const args = { how: 'iterable', count, made: new Int32Array(new SharedArrayBuffer(4)) } as const;
    const spread = flood.spread({ ...options, args, onRun: (started) => (run = started) });
    const reader = asking(pull(() => [0, count]).pipe(spread));
    let parked = 0;
    await tens(reader, () => {
      const executors = run.metrics().executors;
      for (const { parkedBytes } of executors) parked = Math.max(parked, parkedBytes);
      // Order: what it has taken is read before what it has made since.
      const taken = executors.find(({ id }) => id === 'input/0')!.in;
      if (taken > 1) expect(args.made[0]).toBeGreaterThanOrEqual(count);
    });
    expect(reader.ends).toEqual(['complete']);
    expect([reader.values.length, reader.values.findIndex((n, i) => n !== i)]).toEqual([2 * count, -1]);
    expect(parked).toBeLessThan(2 * 34_000);
  });

  test('C-171: … through a step that cannot be suspended it is a burst, bounded by maxParkedBytes', async () => {
    const maxParkedBytes = 200_000;
    let run!: Run;
    const args = { how: 'opaque', count: 1_000_000, made: new Int32Array(new SharedArrayBuffer(4)) } as const;
    const narrow = { threads: 1, ...options, args, maxParkedBytes, onRun: (started: Run) => (run = started) };
    const reader = asking(from([0]).pipe(flood.spread(narrow)));
    let parked = 0;
    const look = (): void => {
      for (const { parkedBytes } of run.metrics().executors) parked = Math.max(parked, parkedBytes);
    };
    for (; reader.ends.length === 0; await turns(1)) {
      reader.request(2_000);
      look();
    }
    expect(reader.ends).toMatchObject([{ code: 'ERR_OUTPUT_BURST' }]);
    expect(reader.values.findIndex((n, i) => n !== i)).toBe(-1);
    expect(parked).toBeLessThanOrEqual(maxParkedBytes + 34_000);
  });

  test('who leaves early closes a source that can be asked; what it has given too much fits into the rings', async () => {
    const { sharedBytes } = held.keep.describe();
    // All rings full; in each of two executors and at the caller's ends a frame that was read, one parked, and one open.
    const bound = sharedBytes / held.padBytes + 4 * 3 * 33;
    const taking = pulled(held.padded);
    const taken = await valuesOf(taking.source$.pipe(held.keep(options), take(5)));
    expect(taken.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4]);
    const firsts = pulled(held.padded);
    expect((await firstValueFrom(firsts.source$.pipe(held.keep(options)))).n).toBe(0);
    const asked = pulled(held.padded);
    const reader = asking(asked.source$.pipe(held.keep(options)));
    reader.request(5);
    await until(() => reader.values.length === 5);
    // Until the rings are full, and nothing moves any more.
    for (let before = -1; before !== asked.state.given; await turns(50)) before = asked.state.given;
    reader.unsubscribe();
    for (const { state } of [taking, firsts, asked]) {
      expect(state.closed).toBe(true);
      expect(state.given).toBeLessThanOrEqual(5 + bound);
    }
    expect(asked.state.given).toBeGreaterThan(sharedBytes / held.padBytes / 2);
  });
});

describe.each(ways)('a source that is not asked, %s', (_way, options) => {
  const count = 3_000;
  const capacity = 100;

  interface Found {
    readonly values: readonly number[];
    readonly end: unknown;
    readonly dropped: readonly number[];
    readonly counted: number;
  }

  /** More at once than rings and capacity hold. */
  async function burst(strategy: Overflow): Promise<Found> {
    const source$ = new Subject<held.Padded>();
    const dropped: number[] = [];
    let run!: Run;
    const overflow = { strategy, capacity, onDrop: (value: unknown) => void dropped.push((value as held.Padded).n) };
    const seen = observe(source$.pipe(held.strip({ ...options, overflow, onRun: (started) => (run = started) })));
    for (let n = 0; n < count; n++) source$.next(held.padded(n));
    source$.complete();
    const { values, end } = await seen;
    return { values, end, dropped, counted: run.metrics().dropped };
  }

  test.each(['dropOldest', 'dropNewest', 'latest'] as const)(
    '%s: what is missing was dropped, told and counted',
    async (strategy) => {
      const { values, end, dropped, counted } = await burst(strategy);
      expect(end).toBe('complete');
      expect(dropped.length).toBeGreaterThan(0);
      expect(counted).toBe(dropped.length);
      expect([...values, ...dropped].sort((a, b) => a - b)).toEqual(upTo(count));
      expect(values).toEqual([...values].sort((a, b) => a - b));
      expect(dropped).toEqual([...dropped].sort((a, b) => a - b));
      const newest = values.at(-1) === count - 1;
      if (strategy !== 'dropNewest') expect(newest).toBe(true);
      expect(values[0]).toBe(0);
    },
  );

  test.each(['auto', 'error'] as const)(
    '%s: ERR_OVERFLOW behind the values that were accepted, `capacity` of which waited',
    async (strategy) => {
      const { values, end, dropped, counted } = await burst(strategy);
      expect(end).toMatchObject({ code: 'ERR_OVERFLOW' });
      expect(String(end)).toContain(`${capacity} of them wait already`);
      expect([dropped, counted]).toEqual([[], 0]);
      expect(values).toEqual(upTo(values.length));
      expect(values.length).toBeGreaterThan(capacity);
      expect(values.length).toBeLessThan(count);
    },
  );

  test.each(['buffer', 'block'] as const)('%s: nothing is lost', async (strategy) => {
    const { values, end, dropped, counted } = await burst(strategy);
    expect([end, dropped, counted]).toEqual(['complete', [], 0]);
    expect(values).toEqual(upTo(count));
  });

  test('no values are no overflow', async () => {
    expect(await valuesOf(EMPTY.pipe(held.strip(options), toArray()))).toEqual([[]]);
  });
});
