import { createRuntime, pull, type Run } from 'millrace';
import {
  concat,
  concatMap,
  defer,
  from,
  interval,
  map,
  NEVER,
  of,
  range,
  repeat,
  retry,
  Subject,
  type Subscription,
  share,
  switchMap,
  take,
  tap,
  toArray,
} from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { counted, unsteady } from './fixtures/endingsAgain.js';
import type { How } from './fixtures/endingsSeen.js';
import { lives } from './fixtures/endingsThreads.js';
import { errorOf, observe, valuesOf } from './fixtures/observe.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());

const ways: readonly (readonly [string, How])[] = [
  ['on threads', { runtime }],
  ['on the calling thread', { threads: 0 }],
];

const failing = (times: number): SharedArrayBuffer => {
  const attempts = new SharedArrayBuffer(4);
  new Int32Array(attempts)[0] = times;
  return attempts;
};

describe.each(ways)('each subscription is a run of its own %s', (_, how) => {
  test('retry begins again, and gives up where it should', async () => {
    const input = of(1, 2, 3);
    const again = await valuesOf(input.pipe(unsteady({ ...how, args: failing(3) }), retry(3)));
    expect(again).toEqual([1, 1, 1, 1, 2, 3]);
    const { values, end } = await observe(input.pipe(unsteady({ ...how, args: failing(9) }), retry(3)));
    expect(values).toEqual([1, 1, 1, 1]);
    expect(end).toMatchObject({ code: 'ERR_OPERATOR', cause: { message: 'not yet' } });
    expect(runtime.runs).toEqual([]);
  });

  const times = long ? 1000 : 100;

  test(`repeat ${times} times`, { timeout: 60_000 }, async () => {
    const ids = new Set<string>();
    const onRun = (run: Run): void => void ids.add(run.id);
    const values = await valuesOf(of('a b', 'a').pipe(counted({ ...how, onRun }), repeat(times)));
    expect(ids.size).toBe(times);
    const counts: Record<string, number> = {};
    for (const [word, count] of values) counts[`${word} ${count}`] = (counts[`${word} ${count}`] ?? 0) + 1;
    expect(counts).toEqual({ 'a 1': times, 'a 2': times, 'b 1': times });
    expect(runtime.runs).toEqual([]);
  });

  test('a pull as input is made anew for each', async () => {
    let made = 0;
    const input = pull(() => [++made, 10]);
    expect(await valuesOf(input.pipe(lives(how), repeat(3)))).toEqual([-1, -10, -2, -10, -3, -10]);
  });

  test('share: later subscribers see what is left of the one run', async () => {
    const input = new Subject<number>();
    let runs = 0;
    const shared = input.pipe(lives({ ...how, onRun: () => runs++ }), share());
    const seen: [string, number][] = [];
    const first = valuesOf(shared.pipe(tap((n) => seen.push(['first', n]))));
    const later = new Promise<void>((done) => {
      shared.pipe(take(1)).subscribe(() => {
        shared.subscribe({ next: (n) => seen.push(['later', n]), complete: done });
        input.next(2);
        input.complete();
      });
    });
    input.next(1);
    expect(await first).toEqual([-1, -2]);
    await later;
    expect(seen.filter(([who]) => who === 'later')).toEqual(expect.arrayContaining([['later', -2]]));
    expect(runs).toBe(1);
    expect(input.observed).toBe(false);
  });

  test('twenty at once do not disturb each other', async () => {
    const words = Array.from({ length: 200 }, (_, i) => `word${i % 10} all`);
    const all = await Promise.all(Array.from({ length: 20 }, () => valuesOf(from(words).pipe(counted(how)))));
    for (const values of all) {
      expect(values).toHaveLength(400);
      const last = new Map(values);
      expect(Math.max(...values.filter(([word]) => word === 'all').map(([, count]) => count))).toBe(200);
      expect(last.size).toBe(11);
    }
    expect(runtime.runs).toEqual([]);
  });

  test('switchMap leaves the run it was in', async () => {
    const outer = new Subject<number>();
    const values = valuesOf(
      outer.pipe(switchMap((n) => concat(of(n, n + 1), n < 30 ? NEVER : of()).pipe(lives(how)))).pipe(
        tap((n) => {
          if (n === -11) outer.next(20);
          if (n === -21) outer.next(30);
          if (n === -31) outer.complete();
        }),
      ),
    );
    outer.next(10);
    expect(await values).toEqual([-10, -11, -20, -21, -30, -31]);
    expect(runtime.runs).toEqual([]);
  });

  test('a run that begins inside the end of another', async () => {
    const again = defer(() => range(1, 3).pipe(lives(how)));
    expect(
      await valuesOf(
        range(1, 20).pipe(
          concatMap(() => again),
          toArray(),
          map((all) => all.length),
        ),
      ),
    ).toEqual([60]);
    const inError = new Promise<unknown>((resolve) => {
      of(2)
        .pipe(unsteady({ ...how, args: failing(1) }))
        .subscribe({ error: () => resolve(valuesOf(again)) });
    });
    expect(await inError).toEqual([-1, -2, -3]);
  });

  test('runs left in the middle leave nothing behind for those that follow', { timeout: 60_000 }, async () => {
    for (let i = 0; i < 30; i++) {
      const open: Subscription[] = [];
      for (let j = 0; j < 4; j++)
        open.push(
          interval(0)
            .pipe(
              map((n) => `${n}`),
              counted(how),
            )
            .subscribe(),
        );
      open.push(
        pull(() => endless())
          .pipe(counted(how))
          .subscribe(),
      );
      const values = valuesOf(of('a b a').pipe(counted(how)));
      for (const subscription of open) subscription.unsubscribe();
      expect((await values).toSorted()).toEqual([
        ['a', 1],
        ['a', 2],
        ['b', 1],
      ]);
    }
    expect(runtime.runs).toEqual([]);
  });

  test('metrics stay readable after every kind of end', async () => {
    const runs: Run[] = [];
    const onRun = (run: Run): void => void runs.push(run);
    await valuesOf(of(1, 2, 3).pipe(lives({ ...how, onRun })));
    await errorOf(of(1, 2, 3).pipe(unsteady({ ...how, onRun, args: failing(1) })));
    of(1, 2, 3)
      .pipe(lives({ ...how, onRun }))
      .subscribe()
      .unsubscribe();
    expect(runs.map((run) => run.metrics().out)).toEqual([3, 1, 0]);
    expect(runs.map((run) => run.metrics().in)).toEqual([3, 3, 3]);
    for (const run of runs) {
      run.flush();
      run.drain();
    }
  });
});

function* endless(): Generator<string> {
  for (let n = 0; ; n++) yield `word ${n}`;
}
