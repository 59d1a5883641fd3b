import { createRuntime, pull, type Run, type RunMetrics } from 'millrace';
import { from, type Observable, range, Subject } from 'rxjs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import * as flood from './fixtures/flood.js';
import { observe, valuesOf } from './fixtures/observe.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 3 });
const ways = [
  ['on threads', { runtime }],
  ['on the calling thread', { runtime, threads: 0 }],
] as const;

afterEach(() => expect(runtime.runs).toEqual([]));
afterAll(() => runtime.close());

/** Takes `count` values, each of which takes a while, and looks at the counters all the time. */
function slowly(
  start: (options: { onRun: (run: Run) => void }) => Observable<unknown>,
  count: number,
  look: (metrics: RunMetrics, delivered: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let run!: Run;
    let delivered = 0;
    const onRun = (started: Run): void => {
      run = started;
    };
    const subscription = start({ onRun }).subscribe({
      next: () => {
        delivered++;
        // A while is some work, not some time.
        for (let i = 0; i < 10_000; i++) Math.sqrt(i);
        if (delivered % 20 === 0) {
          try {
            look(run.metrics(), delivered);
          } catch (reason) {
            subscription.unsubscribe();
            reject(reason);
            return;
          }
        }
        if (delivered < count) return;
        subscription.unsubscribe();
        resolve();
      },
      error: reject,
    });
  });
}

describe.each(ways)('demand, %s', { timeout: 30_000 }, (_way, options) => {
  const ways: [string, boolean, (options: { onRun: (run: Run) => void }) => Observable<number>][] = [
    false,
    true,
  ].flatMap((slow) => [
    [`source(…), slow executors: ${slow}`, slow, (how) => flood.source$({ ...options, ...how, args: slow })],
    [
      `pull() as input, slow executors: ${slow}`,
      slow,
      (how) => pull(flood.weighty).pipe(flood.topology$({ ...options, ...how, args: slow })),
    ],
  ]);

  test.each(ways)('a pull without end is asked only while there is room: %s', async (_name, slow, start) => {
    const { sharedBytes } = slow ? flood.source$.describe({ args: true }) : flood.topology$.describe({ args: true });
    // All rings full, and in each of four executors frames read, parked and open.
    const bound = sharedBytes / flood.valueBytes + 4 * 6 * 33;
    let most = 0;
    await slowly(start, long ? 3000 : 1000, ({ in: pulled, executors }, delivered) => {
      most = Math.max(most, pulled - delivered);
      expect(pulled - delivered).toBeLessThanOrEqual(bound);
      // Without room an executor takes no input: for each channel, what found no room and what was open then.
      for (const { parkedBytes } of executors) expect(parkedBytes).toBeLessThan(2 * 2 * 34_000);
    });
    // The rings were used.
    expect(most).toBeGreaterThan(50);
  });

  test('one value that becomes a million streams through in order, little of it at a time', async () => {
    const count = 1_000_000;
    for (const how of ['iterable', 'array'] as const) {
      if (!long && (how === 'array') === 'threads' in options) continue;
      const made = new Int32Array(new SharedArrayBuffer(4));
      let expected = 0;
      let parked = 0;
      let ahead = 0;
      let run!: Run;
      await new Promise<void>((resolve, reject) => {
        const onRun = (started: Run): void => {
          run = started;
        };
        from([0])
          .pipe(flood.spread({ ...options, onRun, args: { how, count, made } }))
          .subscribe({
            next: (n) => {
              if (n !== expected++) throw new Error(`${n} came as ${expected}`);
              if (n % 5000 !== 0) return;
              ahead = Math.max(ahead, made[0]! - n);
              for (const { parkedBytes } of run.metrics().executors) parked = Math.max(parked, parkedBytes);
            },
            error: reject,
            complete: resolve,
          });
      });
      expect([expected, made[0]]).toEqual([count, count]);
      expect(parked).toBeLessThan(2 * 34_000);
      // At 3 to 5 bytes each, three rings of 512 KiB and what is open or read.
      expect(ahead).toBeLessThan((3 * 512 * 1024) / 3 + 100_000);
    }
  });

  test('one value that becomes a million in a step that cannot be suspended is a burst', async () => {
    const made = new Int32Array(new SharedArrayBuffer(4));
    const args = { how: 'opaque', count: 1_000_000, made } as const;
    // One thread: who reads the outputs cannot run before the step has returned, so what finds no room stays.
    const narrow = { threads: 1, ...options, args, maxParkedBytes: 100_000 };
    const { values, end } = await observe(from([0]).pipe(flood.spread(narrow)));
    expect(end).toMatchObject({ code: 'ERR_OUTPUT_BURST', topology: 'spread', segment: 'input', executor: 0 });
    expect(String(end)).toMatch(/maxParkedBytes \(100000\).*mergeMap and concatMap of millrace\/operators/);
    // What was emitted before it came, once and in order.
    expect(values.length).toBeGreaterThan(1000);
    expect(values.findIndex((value, i) => value !== i)).toBe(-1);
  });

  test('an end that has to wait for room reaches all outputs', async () => {
    const length = long ? 400_000 : 200_000;
    const { all, count } = flood.ends(options)(range(0, length));
    const [lists, counts] = await Promise.all([valuesOf(all), valuesOf(count)]);
    expect([lists.map((list) => list.length), counts]).toEqual([[length], [length]]);
  });

  test('the same step passes with room for it', async () => {
    const args = { how: 'opaque', count: 300_000, made: new Int32Array(1) } as const;
    const values = await valuesOf(from([0, 1_000_000]).pipe(flood.spread({ ...options, args })));
    expect(values).toHaveLength(600_000);
    expect(values.findIndex((value, i) => value !== (i < 300_000 ? i : 700_000 + i))).toBe(-1);
  });
});

describe.each(ways)('size, %s', { timeout: 30_000 }, (_way, options) => {
  const megabytes = long ? 20 : 5;

  test(`a value of ${megabytes} MB between small ones keeps its place`, async () => {
    const large = Buffer.alloc(megabytes * 1_000_000, 'abcdefgh');
    const text = 'ä'.repeat(megabytes * 150_000);
    const values = [1, 'two', large, 'three', text, large.subarray(0, 600_000), 4, '', null];
    for (const batch of [1, 100]) {
      const got = await valuesOf(from(values).pipe(flood.hop({ ...options, args: batch })));
      expect(got).toHaveLength(values.length);
      for (const [i, value] of values.entries()) {
        if (Buffer.isBuffer(value)) expect(value.equals(got[i] as Uint8Array)).toBe(true);
        else expect(got[i]).toBe(value);
      }
    }
  });

  test('values from no bytes up, around all bounds of frames and rings, arrive whole and in order', async () => {
    const around = [0, 32, 64, 4096, 8192, 16_368, 32_768, 65_536, 131_056, 262_144, 524_288];
    const sizes = around.flatMap((bound) => [-1, 0, 1, 5].map((more) => bound + more)).filter((size) => size >= 0);
    const values = sizes.map((size) => Buffer.alloc(size, size % 251));
    for (const batch of [1, 3, 100]) {
      const got = (await valuesOf(from(values).pipe(flood.hop({ ...options, args: batch })))) as Uint8Array[];
      expect(got.map(({ length }) => length)).toEqual(sizes);
      for (const [i, value] of values.entries()) expect(value.equals(got[i]!)).toBe(true);
    }
  });

  test('large values one after the other need no more than their turn', async () => {
    const values = Array.from({ length: long ? 12 : 6 }, (_, i) => Buffer.alloc(1_500_000, i));
    const got = (await valuesOf(from(values).pipe(flood.hop({ ...options })))) as Uint8Array[];
    expect(got.map(({ length, 0: first }) => [length, first])).toEqual(values.map((_, i) => [1_500_000, i]));
  });
});

describe.each(ways)('waking, %s', { timeout: 30_000 }, (_way, options) => {
  /** Each value that comes back sends the next one, sometimes at once, sometimes in another turn. */
  function rally(length: number, batch: number): Promise<unknown[]> {
    const balls$ = new Subject<unknown>();
    return new Promise((resolve, reject) => {
      const got: unknown[] = [];
      balls$.pipe(flood.hop({ ...options, args: batch })).subscribe({
        next: (ball) => {
          got.push(ball);
          if (got.length === length) balls$.complete();
          else if (got.length % 3 === 0) balls$.next(got.length);
          else setImmediate(() => balls$.next(got.length));
        },
        error: reject,
        complete: () => resolve(got),
      });
      balls$.next(0);
    });
  }

  const rounds = long ? 2000 : 1000;

  test.each([1, 100])(`law: no wake-up is lost in ${rounds} rounds of single values (batch %i)`, async (batch) => {
    expect(await rally(rounds, batch)).toEqual(Array.from({ length: rounds }, (_, i) => i));
  });

  test('nor when several runs share the threads', async () => {
    const rallies = await Promise.all(Array.from({ length: 6 }, () => rally(300, 100)));
    for (const got of rallies) expect(got).toEqual(Array.from({ length: 300 }, (_, i) => i));
  });
});
