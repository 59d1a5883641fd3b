import { createRuntime, isMillraceError, pull, type Run, type RunMetrics } from 'millrace';
import { concatMap, from, type Observable, range, repeat, Subject } from 'rxjs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import * as counted from './fixtures/counted.js';
import { observe, until, valuesOf } from './fixtures/observe.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 3 });
const ways = [
  ['on threads', { runtime }],
  ['on the calling thread', { runtime, threads: 0 }],
] as const;

afterEach(() => expect(runtime.runs).toEqual([]));
afterAll(() => runtime.close());

function sum<T>(list: readonly T[], of: (part: T) => number): number {
  return list.reduce((total, part) => total + of(part), 0);
}

/** Values sent through an exchange, and values its executors took. */
function through({ channels, executors }: RunMetrics, name: string): readonly [sent: number, taken: number] {
  const sent = channels.filter(({ id }) => id.startsWith(`${name}:`));
  const taking = executors.filter(({ id }) => id.startsWith(`${name}/`));
  return [sum(sent, (channel) => channel.values), sum(taking, (executor) => executor.in)];
}

/** Starts a run and gives it with its end. */
function started<T>(start: (options: { onRun: (run: Run) => void }) => Observable<T>) {
  let run!: Run;
  const onRun = (given: Run): void => {
    run = given;
  };
  const ended = observe(start({ onRun }));
  return { run, ended };
}

describe.each(ways)('metrics(), %s', { timeout: 20_000 }, (_way, options) => {
  test('are exact at every place when the output completes, and stay so', async () => {
    const count = long ? 5000 : 500;
    let run!: Run;
    const onRun = (given: Run): void => {
      run = given;
    };
    const atEnd = await new Promise<RunMetrics>((resolve, reject) => {
      let out = 0;
      range(0, count)
        .pipe(counted.shaped({ ...options, onRun }))
        .subscribe({
          next: () => {
            out++;
            if (run.metrics().out !== out) reject(new Error(`out is ${run.metrics().out} at the value ${out}`));
          },
          error: reject,
          complete: () => resolve(run.metrics()),
        });
    });
    const { threads, startedAt, ...counts } = atEnd;
    expect([counts.in, counts.out]).toEqual([count, 3 * count]);
    expect([through(atEnd, 'double'), through(atEnd, 'half'), through(atEnd, 'triple')]).toEqual([
      [count, count],
      [2 * count, 2 * count],
      [3 * count, 3 * count],
    ]);
    expect(sum(atEnd.executors, ({ out }) => out)).toBe((2 + 1 + 3) * count);
    for (const { frames, flushes, bytes, values, dropped } of atEnd.channels) {
      expect(sum(Object.values(flushes), (flushed) => flushed)).toBe(frames);
      expect(dropped).toBe(0);
      expect(bytes).toBeGreaterThanOrEqual(frames * 32 + values);
    }
    // Batches are full where there is always more, and none is above its size or bytes.
    for (const { id, frames, values, flushes } of atEnd.channels) {
      if (id.startsWith('double:')) expect(values).toBeLessThanOrEqual(frames * 7);
      if (id.startsWith('half:')) expect(values).toBeLessThanOrEqual(frames * 20);
      if (id.startsWith('double:caller')) expect(flushes.size).toBe(Math.floor(count / 2 / 7));
    }
    expect(threads).toBe('threads' in options ? 0 : 3);
    expect(Math.abs(Date.now() - startedAt)).toBeLessThan(60_000);
    const placed = atEnd.executors.map((_, i) => ('threads' in options ? -1 : i % 3));
    expect(atEnd.executors.map(({ thread }) => thread)).toEqual(placed);
    await new Promise(setImmediate);
    const { executors, ...later } = run.metrics();
    expect(later).toEqual({ ...atEnd, executors: undefined });
    expect(executors.map((executor) => [executor.id, executor.in, executor.out])).toEqual(
      atEnd.executors.map((executor) => [executor.id, executor.in, executor.out]),
    );
  });

  test('count what is discarded: an output that is not wanted', async () => {
    let run!: Run;
    const onRun = (given: Run): void => {
      run = given;
    };
    const { even } = counted.parted({ ...options, onRun, outputs: ['even'] })(range(0, 999));
    expect(await valuesOf(even)).toHaveLength(500);
    const odd = run.metrics().channels.find(({ id }) => id.startsWith('odd:'));
    expect(odd).toMatchObject({ id: 'odd:input/0->discarded', values: 0, frames: 0, dropped: 499 });
  });
});

describe.each(ways)('a run, %s', { timeout: 20_000 }, (_way, options) => {
  test('is known before its first value, and listed while it is alive', async () => {
    const order: string[] = [];
    const runs: Run[] = [];
    const onRun = (run: Run): void => {
      order.push('run');
      runs.push(run);
      expect(runtime.runs).toContain(run);
      expect(run.topology).toBe('passing');
      expect(run.plan.outputs).toEqual(['output']);
      expect(run.metrics()).toMatchObject({ in: 0, out: 0 });
    };
    const numbers$ = new Subject<number>();
    const all = Array.from({ length: 3 }, () => observe(numbers$.pipe(counted.passing({ ...options, onRun }))));
    order.push('subscribed');
    expect(order).toEqual(['run', 'run', 'run', 'subscribed']);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(3);
    expect(runtime.runs).toEqual(runs);
    numbers$.next(1);
    numbers$.complete();
    for (const { values, end } of await Promise.all(all)) expect([values, end]).toEqual([[1], 'complete']);
    expect(runtime.runs).toEqual([]);
  });

  test('flush() sends what no rule would send', async () => {
    const numbers$ = new Subject<number>();
    const got: number[] = [];
    let run!: Run;
    const onRun = (given: Run): void => {
      run = given;
    };
    numbers$.pipe(counted.lazy({ ...options, onRun })).subscribe((n) => got.push(n));
    for (const n of [1, 2, 3]) numbers$.next(n);
    expect(sum(run.metrics().channels, ({ frames }) => frames)).toBe(0);
    // Each hop has a batch of its own, which fills only when the one before was sent.
    await until(() => {
      run.flush();
      return got.length === 3;
    });
    expect(got).toEqual([1, 2, 3]);
    const { channels } = run.metrics();
    expect(sum(channels, ({ flushes }) => flushes.explicit)).toBe(sum(channels, ({ frames }) => frames));
    numbers$.next(4);
    numbers$.complete();
    await until(() => runtime.runs.length === 0);
    expect(got).toEqual([1, 2, 3, 4]);
    expect(sum(run.metrics().channels, ({ flushes }) => flushes.end)).toBe(2);
    // Afterwards it does nothing.
    run.flush();
    run.drain();
  });

  const drained: [string, (how: { onRun: (run: Run) => void }) => Observable<number>][] = [
    ['a source without end', (how) => counted.endless$({ ...options, ...how })],
    ['a pull without end as input', (how) => pull(counted.endless).pipe(counted.passing({ ...options, ...how }))],
  ];

  test.each(drained)('drain() ends %s; what was under way arrives, and the run completes', async (_name, start) => {
    const { run, ended } = started(start);
    await until(() => run.metrics().out > 1000);
    run.drain();
    const { values, end } = await ended;
    expect(end).toBe('complete');
    expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: values.length }, (_, n) => n));
    const { in: taken, out, executors } = run.metrics();
    expect([taken, out]).toEqual([values.length, values.length]);
    expect(sum(executors, ({ discarded }) => discarded)).toBe(0);
  });

  test('drain() ends a source that pushes', async () => {
    const numbers$ = new Subject<number>();
    const { run, ended } = started((how) => numbers$.pipe(counted.passing({ ...options, ...how })));
    for (let n = 0; n < 500; n++) numbers$.next(n);
    run.drain();
    expect(numbers$.observed).toBe(false);
    const { values, end } = await ended;
    expect([values.length, end]).toEqual([500, 'complete']);
  });

  test('runs one after the other use the same rings', async () => {
    const plain = globalThis.SharedArrayBuffer;
    let bytes = 0;
    globalThis.SharedArrayBuffer = class extends plain {
      constructor(length: number) {
        super(length);
        bytes += length;
      }
    } as unknown as SharedArrayBufferConstructor;
    try {
      const { sharedBytes } = counted.passing.describe();
      const values = await valuesOf(range(0, 20).pipe(counted.passing(options), repeat(50)));
      expect(values).toHaveLength(1000);
      // A run begins inside the end of the one before, whose rings come back a little later.
      expect(bytes).toBeLessThan(6 * sharedBytes);
    } finally {
      globalThis.SharedArrayBuffer = plain;
    }
  });

  test('many at once, each with values of its own', async () => {
    const all = Array.from({ length: 20 }, (_, i) =>
      valuesOf(range(i * 1000, 300).pipe(counted.passing(options))).then((values) => [i, values] as const),
    );
    expect(runtime.runs).toHaveLength(20);
    for (const [i, values] of await Promise.all(all))
      expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, n) => i * 1000 + n));
  });

  test('inside the operators of another one', async () => {
    const values = await valuesOf(
      from([1, 2, 3]).pipe(
        counted.passing(options),
        concatMap((n) => range(n * 10, 2).pipe(counted.passing(options))),
      ),
    );
    expect(values.sort((a, b) => a - b)).toEqual([10, 11, 20, 21, 30, 31]);
  });
});

test('several runtimes have their own threads and runs', { timeout: 20_000 }, async () => {
  const own = createRuntime({ threads: 1 });
  const numbers$ = new Subject<number>();
  const [here, there] = [runtime, own].map((on) => observe(numbers$.pipe(counted.passing({ runtime: on }))));
  expect([runtime.runs.length, own.runs.length]).toEqual([1, 1]);
  await own.close();
  expect(isMillraceError((await there!).end)).toBe(true);
  expect(runtime.runs).toHaveLength(1);
  numbers$.next(1);
  numbers$.complete();
  expect((await here!).values).toEqual([1]);
});
