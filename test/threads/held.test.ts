/** A source that emits without a pause holds whoever subscribes it: what goes on meanwhile, and what ends it. */
import { createRuntime, type Run } from 'millrace';
import { map, Observable, of, range, Subject, switchMap } from 'rxjs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { asking } from './fixtures/asking.js';
import * as held from './fixtures/held.js';
import { observe, until, valuesOf } from './fixtures/observe.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 2 });
const ways = [
  ['on threads', { runtime }],
  ['on the calling thread', { runtime, threads: 0 }],
] as const;
/** No test waits that long: what comes all the same did not wait for it. */
const never = 2 ** 31 - 1;

afterEach(() => expect(runtime.runs).toEqual([]));
afterAll(() => runtime.close());

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe.each(ways)('a source that emits without a pause, %s', (_way, options) => {
  test('all values are delivered in order, most of them before subscribe returns', async () => {
    const count = long ? 10_000_000 : 300_000;
    let within = 0;
    let expected = 0;
    await new Promise<void>((resolve, reject) => {
      let inside = true;
      range(0, count)
        .pipe(held.slow(options))
        .subscribe({
          next: (n) => {
            if (n !== expected++) reject(new Error(`${n} came as ${expected - 1}`));
            if (inside) within++;
          },
          error: reject,
          complete: resolve,
        });
      inside = false;
    });
    expect(expected).toBe(count);
    expect(within).toBeGreaterThan(0);
  });

  test('a reader that asks for some and stops: ERR_HELD at once', () => {
    const reader = asking(range(0, 1_000_000).pipe(held.fast({ ...options, stallMs: never })));
    reader.request(3);
    expect(reader.values).toEqual([0, 1, 2]);
    expect(reader.ends).toMatchObject([{ code: 'ERR_HELD', topology: 'fast' }]);
    expect(String(reader.ends[0])).toMatch(
      /pull\(\(\) => iterable\)[\s\S]*output "[^"]*" waits for demand: its reader asks for nothing/,
    );
  });

  test('… also behind another topology, whose reader gets what was emitted, and then the error, when it asks again', async () => {
    const { fast } = held;
    const own = { ...options, stallMs: never };
    const reader = asking(range(0, 1_000_000).pipe(fast(own), fast(own)));
    reader.request(3);
    expect(reader.values).toEqual([0, 1, 2]);
    expect(runtime.runs).toHaveLength(1);
    reader.request(Number.POSITIVE_INFINITY);
    await until(() => reader.ends.length > 0);
    expect(reader.ends).toMatchObject([{ code: 'ERR_SOURCE', cause: { code: 'ERR_HELD' } }]);
    expect(reader.values.findIndex((n, i) => n !== i)).toBe(-1);
    expect(reader.values.length).toBeLessThan(1_000_000);
  });

  test('`block` inside its own delivery: ERR_HELD at once', async () => {
    const source$ = new Subject<number>();
    const seen = observe(
      source$.pipe(
        held.fast({ ...options, overflow: 'block', stallMs: never }),
        map((n) => {
          if (n === 0) for (let i = 1; i < 1_000_000 && source$.observed; i++) source$.next(i);
          return n;
        }),
      ),
    );
    source$.next(0);
    expect((await seen).end).toMatchObject({ code: 'ERR_HELD' });
  });

  /** Counts what it emits, and goes on until it is left. */
  function counting(): { source$: Observable<number>; emitted: () => number } {
    let emitted = 0;
    const source$ = new Observable<number>((subscriber) => {
      while (!subscriber.closed && emitted < 1e8) subscriber.next(emitted++);
      subscriber.complete();
    });
    return { source$, emitted: () => emitted };
  }

  test('unsubscribed inside next, it is left at once and nothing is delivered afterwards', () => {
    const { source$, emitted } = counting();
    let delivered = 0;
    let atLeaving = 0;
    const stream = source$.pipe(held.fast(options));
    let leave!: () => void;
    new Observable<number>((subscriber) => {
      leave = () => subscriber.unsubscribe();
      return stream.subscribe(subscriber);
    }).subscribe(() => {
      if (++delivered < 1_000) return;
      atLeaving = emitted();
      leave();
    });
    expect(delivered).toBe(1_000);
    expect(emitted() - atLeaving).toBeLessThanOrEqual(1);
  });

  type Ending = readonly [
    name: string,
    start: (source$: Observable<number>, act: { at1000: () => void }) => Observable<number>,
    end: unknown,
  ];
  const endings: readonly Ending[] = [
    [
      'aborted',
      (source$, act) => {
        const controller = new AbortController();
        act.at1000 = () => controller.abort(new Error('enough'));
        return source$.pipe(held.fast({ ...options, signal: controller.signal }));
      },
      { message: 'enough' },
    ],
    [
      'its runtime closed',
      (source$, act) => {
        const own = createRuntime({ threads: 1 });
        act.at1000 = () => void own.close();
        return source$.pipe(held.fast({ ...options, runtime: own }));
      },
      { code: 'ERR_CLOSED' },
    ],
  ];

  test.each(endings)('%s: the error comes within subscribe, and the source is left at once', (_name, start, end) => {
    const { source$, emitted } = counting();
    const act = { at1000: () => {} };
    let delivered = 0;
    let failed: unknown;
    let atError = 0;
    start(source$, act).subscribe({
      next: () => {
        if (++delivered === 1_000) act.at1000();
      },
      error: (reason: unknown) => {
        failed = reason;
        atError = emitted();
      },
    });
    expect(failed).toMatchObject(end as object);
    expect(emitted() - atError).toBeLessThanOrEqual(1);
  });

  test('an operator throws: the source is left before it has filled the rings once more', async () => {
    const { source$, emitted } = counting();
    const args = { at: 5_000, how: 'throws' } as const;
    const { values, end } = await observe(source$.pipe(held.fails({ ...options, args })));
    expect(end).toMatchObject({ code: 'ERR_OPERATOR', cause: { message: 'at 5000' } });
    expect(values).toEqual(upTo(5_000));
    expect(emitted()).toBeLessThan(5_000 + held.fails.describe({ args }).sharedBytes);
  });

  test('refused by `overflow`, a source that emits without end is left at once', async () => {
    const { source$, emitted } = counting();
    const { values, end } = await observe(
      source$.pipe(held.fast({ ...options, overflow: { strategy: 'error', capacity: 10 } })),
    );
    expect(end).toMatchObject({ code: 'ERR_OVERFLOW' });
    // All that was accepted, and not the one that was refused.
    expect(values).toEqual(upTo(emitted() - 1));
  });

  test('topologies one directly behind the other, and with an operator of RxJS in between', async () => {
    const count = 100_000;
    const { fast } = held;
    const pass = map((n: number) => n);
    for (const stream of [
      range(0, count).pipe(fast(options), fast(options)),
      range(0, count).pipe(fast(options), fast(options), fast(options)),
      range(0, count).pipe(fast(options), pass, fast(options)),
    ]) {
      const values = await valuesOf(stream);
      expect([values.length, values.findIndex((n, i) => n !== i)]).toEqual([count, -1]);
    }
  });

  test('switchMap around a topology whose source emits without a pause', async () => {
    const values = await valuesOf(of(1, 2, 3).pipe(switchMap(() => range(0, 50_000).pipe(held.fast(options)))));
    expect(values.slice(-50_000)).toEqual(upTo(50_000));
  });

  test('drained while it is held, what was emitted arrives, and the source is left at once', async () => {
    const { source$, emitted } = counting();
    let run!: Run;
    const stream = source$.pipe(held.fast({ ...options, onRun: (started) => (run = started) }));
    let atDrain = 0;
    const values: number[] = [];
    await new Promise<void>((resolve, reject) => {
      stream.subscribe({
        next: (n) => {
          if (values.push(n) !== 1_000) return;
          atDrain = emitted();
          run.drain();
        },
        error: reject,
        complete: resolve,
      });
    });
    expect(emitted() - atDrain).toBeLessThanOrEqual(1);
    expect(values).toEqual(upTo(emitted()));
  });
});
