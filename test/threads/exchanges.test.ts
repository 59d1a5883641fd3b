import { createRuntime, type Run, type RunMetrics } from 'millrace';
import { from, type Observable, range } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { executorOf, hashKey } from '../../runtime/hash.js';
import * as exchanges from './fixtures/exchanges.js';
import { valuesOf } from './fixtures/observe.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 3 });
afterAll(() => runtime.close());

interface Finished<T> {
  readonly values: T[];
  readonly metrics: RunMetrics;
}

/** Runs to the end and gives the counters with the values. */
async function finish<T>(start: (options: { onRun: (run: Run) => void }) => Observable<T>): Promise<Finished<T>> {
  let run: Run | undefined;
  const onRun = (started: Run): void => {
    run = started;
  };
  const values = await valuesOf(start({ onRun }));
  return { values, metrics: run!.metrics() };
}

/** How many values each executor met. */
function shares(values: readonly exchanges.Met<unknown>[]): number[] {
  const counts = new Map<string, number>();
  for (const { executor } of values) counts.set(executor, (counts.get(executor) ?? 0) + 1);
  return [...counts.values()].sort((a, b) => a - b);
}

function inOf({ executors }: RunMetrics, segment: string): number[] {
  return executors.filter(({ id }) => id.startsWith(`${segment}/`)).map((executor) => executor.in);
}

/** Where the calling thread sends values of these keys. */
function predicted(keys: readonly unknown[], executors: number): number[] {
  const counts = new Array<number>(executors).fill(0);
  for (const key of keys) counts[executorOf(hashKey(key), executors)]! += 1;
  return counts;
}

describe.each(long ? [0, 1, 3] : [3])('with threads: %i', { timeout: 20_000 }, (threads) => {
  const options = { runtime, threads };

  test('C-100: shuffle over 6 executors, 30,000 values: 5,000 each exactly', async () => {
    const { values, metrics } = await finish((how) =>
      range(0, 30_000).pipe(exchanges.oneCut({ ...options, ...how, args: { kind: 'shuffle', parallelism: 6 } })),
    );
    expect(shares(values)).toEqual(new Array(6).fill(5000));
    expect(inOf(metrics, 'cut')).toEqual(new Array(6).fill(5000));
    expect(values.map(({ value }) => value).sort((a, b) => a - b)).toEqual(Array.from({ length: 30_000 }, (_, i) => i));
  });

  test('C-111: keyBy on bytes, 4 producers, 6 consumers: each word is counted 1 to 24 by one executor', async () => {
    const words = Array.from({ length: 48 }, (_, i) => (i % 2 === 0 ? 'a' : 'b'));
    const values = await valuesOf(from(words).pipe(exchanges.keyed(options)));
    for (const word of ['a', 'b']) {
      const own = values.filter(({ value: [bytes] }) => Buffer.from(bytes).toString() === word);
      expect(own.map(({ value }) => value[1])).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
      expect(new Set(own.map(({ executor }) => executor)).size).toBe(1);
    }
  });

  test('C-112: keys of all kinds reach the executor that the calling thread computes', async () => {
    const keys = ['', 'wörd', 1, -0, Number.NaN, 7n, true, null, undefined, [1, [2, 3], null, 'x'], { b: 1, a: [2] }];
    const arrivals = keys.map((key, n) => ({ key, n }));
    const { values, metrics } = await finish((how) =>
      from(arrivals).pipe(exchanges.byKey({ ...options, ...how, args: { parallelism: 5, batch: 2 } })),
    );
    expect(values).toHaveLength(keys.length);
    expect(inOf(metrics, 'keys')).toEqual(predicted(keys, 5));
  });

  test('C-114: route: each value goes to all executors that were chosen', async () => {
    const values = await valuesOf(
      range(0, 60).pipe(exchanges.oneCut({ ...options, args: { kind: 'some', parallelism: 3 } })),
    );
    expect(shares(values)).toEqual([40, 40, 40]);
    for (let n = 0; n < 60; n++) expect(values.filter(({ value }) => value === n)).toHaveLength(2);
  });

  test('C-115: spreadKey: one key has two homes, which take turns', async () => {
    const values = await valuesOf(
      range(0, 99).pipe(exchanges.oneCut({ ...options, args: { kind: 'spreadKey', parallelism: 6 } })),
    );
    expect(shares(values)).toEqual([49, 50]);
  });

  test('C-120: broadcast: each of 6 executors gets every value once', async () => {
    const values = await valuesOf(
      range(0, 50).pipe(exchanges.oneCut({ ...options, args: { kind: 'broadcast', parallelism: 6 } })),
    );
    expect(shares(values)).toEqual(new Array(6).fill(50));
    for (const executor of new Set(values.map((met) => met.executor))) {
      const own = values.filter((met) => met.executor === executor).map(({ value }) => value);
      expect(own).toEqual(Array.from({ length: 50 }, (_, i) => i));
    }
  });

  test('C-121: gather: one executor gets all values in their order', async () => {
    const values = await valuesOf(range(0, 500).pipe(exchanges.oneCut({ ...options, args: { kind: 'gather' } })));
    expect(shares(values)).toEqual([500]);
    expect(values.map(({ value }) => value)).toEqual(Array.from({ length: 500 }, (_, i) => i));
  });

  test('C-126: route: a value sent to nobody is discarded, and the run ends', async () => {
    const { values, metrics } = await finish((how) =>
      range(0, 50).pipe(exchanges.oneCut({ ...options, ...how, args: { kind: 'nobody', parallelism: 2 } })),
    );
    expect(values.map(({ value }) => value)).toEqual(Array.from({ length: 25 }, (_, i) => 2 * i + 1));
    expect([metrics.in, metrics.out, inOf(metrics, 'cut')]).toEqual([50, 25, [25, 0]]);
  });

  test('C-128: 2 sources, 6 consumers, 24 values: 24 results', async () => {
    const values = await valuesOf(exchanges.twoSources(options));
    expect(shares(values)).toEqual(new Array(6).fill(4));
    const names = ['a', 'b'].flatMap((name) => Array.from({ length: 12 }, (_, i) => `${name}${i}`));
    expect(values.map(({ value }) => value).sort()).toEqual(names.sort());
  });

  test('C-129: 10 executors, 24 values: 24 results', async () => {
    const values = await valuesOf(
      range(0, 24).pipe(exchanges.oneCut({ ...options, args: { kind: 'shuffle', parallelism: 10 } })),
    );
    expect(values.map(({ value }) => value).sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, i) => i));
    expect(shares(values)).toEqual([2, 2, 2, 2, 2, 2, 3, 3, 3, 3]);
  });

  test('C-134: a batch holds values of one executor alone, full or the last; the order of a key is kept', async () => {
    const arrivals = Array.from({ length: 1000 }, (_, n) => ({ key: (n * n) % 23, n }));
    const batch = { size: 7, flushMs: Number.POSITIVE_INFINITY, idle: false };
    const { values, metrics } = await finish((how) =>
      from(arrivals).pipe(exchanges.byKey({ ...options, ...how, args: { parallelism: 4, batch } })),
    );
    const counts = predicted(
      arrivals.map(({ key }) => key),
      4,
    );
    const channels = metrics.channels.filter(({ id }) => id.startsWith('keys:'));
    expect(channels.map((channel) => [channel.values, channel.flushes.size, channel.flushes.end])).toEqual(
      counts.map((count) => [count, Math.floor(count / 7), count % 7 === 0 ? 0 : 1]),
    );
    expect(channels.map(({ frames }) => frames)).toEqual(counts.map((count) => Math.ceil(count / 7)));
    for (const key of new Set(arrivals.map((arrival) => arrival.key))) {
      const of = (list: readonly exchanges.Arrival[]) => list.filter((arrival) => arrival.key === key);
      expect(of(values.map(({ value }) => value))).toEqual(of(arrivals));
    }
  });

  test('C-170: 10 senders on several threads: every value arrives intact', async () => {
    const values = await valuesOf(range(0, 1_000).pipe(exchanges.senders(options)));
    const sorted = [...values].sort(([a], [b]) => a - b);
    expect(sorted).toEqual(Array.from({ length: 1_000 }, (_, n) => [n, 'string-value', 1234]));
  });

  test('two cuts in a row: every value once per executor of the second', async () => {
    const values = await valuesOf(range(0, 30).pipe(exchanges.rows(options)));
    expect(shares(values)).toEqual([30, 30]);
  });
});

describe('C-123: shuffle({ local })', { timeout: 20_000 }, () => {
  test('2 of 4 executors on the same thread: only these, evenly', async () => {
    const values = await valuesOf(range(0, 400).pipe(exchanges.local({ runtime, threads: 2, args: true })));
    expect(values.every((value) => value.from === value.to.thread)).toBe(true);
    expect(shares(values.map(({ to }) => to))).toEqual([100, 100, 100, 100]);
  });

  test('without local, or with none on the same thread, all', async () => {
    const values = await valuesOf(range(0, 400).pipe(exchanges.local({ runtime, threads: 2, args: false })));
    expect(values.filter((value) => value.from !== value.to.thread)).toHaveLength(200);
    // The caller's thread has no executor of the first cut: its values go to all.
    const { values: met } = await finish((how) =>
      range(0, 60).pipe(exchanges.oneCut({ runtime, threads: 3, ...how, args: { kind: 'shuffle', parallelism: 3 } })),
    );
    expect(new Set(met.map(({ thread }) => thread)).size).toBe(3);
  });
});
