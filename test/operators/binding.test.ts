/** Flows captured by operators stand for the executor's own streams, and what build creates is one executor's own. */

import fc from 'fast-check';
import * as rx from 'rxjs';
import { Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';
import * as menuModule from '../../operators/index.js';
import { perExecutor } from '../../operators/index.js';
import { gather, keyBy, shuffle, union } from '../../src/index.js';
import { Bench, type Build, inVirtualTime, ofNumbers, Plain, seen } from './harness.js';
import { inline, lineOf, made, refused, run, sorted } from './planned.js';

type Numbers = Observable<number>;
type Rx = typeof rx;
/** `b$` is another branch of the segment that begins at `s$`. */
type Capture = (s$: Numbers, b$: Numbers, o: Rx) => unknown;

const menu = menuModule as unknown as Rx;
const tenfold = (n: number): number => n * 10;
const sum = (a: number, b: number): number => a + b;

const captures: Readonly<Record<string, Capture>> = {
  mergeWith: (s$, b$, o) => s$.pipe(o.mergeWith(b$)),
  withLatestFrom: (s$, b$, o) => s$.pipe(o.withLatestFrom(b$)),
  takeUntil: (s$, b$, o) => s$.pipe(o.takeUntil(b$.pipe(o.filter((n) => n === 30)))),
  skipUntil: (s$, b$, o) => s$.pipe(o.skipUntil(b$.pipe(o.filter((n) => n === 30)))),
  zipWith: (s$, b$, o) => s$.pipe(o.zipWith(b$)),
  combineLatestWith: (s$, b$, o) => s$.pipe(o.combineLatestWith(b$)),
  raceWith: (s$, b$, o) => s$.pipe(o.raceWith(b$)),
  sequenceEqual: (s$, b$, o) => s$.pipe(o.sequenceEqual(b$)),
  sample: (s$, b$, o) => s$.pipe(o.sample(b$.pipe(o.filter((n) => n % 20 === 0)))),
  buffer: (s$, b$, o) => s$.pipe(o.buffer(b$.pipe(o.filter((n) => n % 20 === 0)))),
  switchMap: (s$, b$, o) => s$.pipe(o.switchMap((n) => b$.pipe(o.map((m) => [n, m])))),
  'switchMap, bare': (s$, b$, o) => s$.pipe(o.switchMap(() => b$)),
  mergeMap: (s$, b$, o) =>
    s$.pipe(
      o.mergeMap((n) =>
        b$.pipe(
          o.take(2),
          o.map((m) => [n, m]),
        ),
      ),
    ),
  'mergeMap, one at a time': (s$, b$, o) =>
    s$.pipe(
      o.mergeMap(
        (n) =>
          b$.pipe(
            o.take(1),
            o.map((m) => [n, m]),
          ),
        1,
      ),
    ),
  exhaustMap: (s$, b$, o) => s$.pipe(o.exhaustMap(() => b$.pipe(o.take(2)))),
  connect: (s$, b$, o) => s$.pipe(o.connect((shared$) => rx.merge(shared$, b$, shared$.pipe(o.map(tenfold))))),
  'combineLatest inside an operator': (s$, b$) => s$.pipe((q$) => rx.combineLatest([q$, b$])),
  'forkJoin inside an operator': (s$, b$) => s$.pipe((q$) => rx.forkJoin([q$, b$])),
  'an Observable of one’s own': (s$, b$) => s$.pipe((q$) => new Observable((to) => rx.merge(b$, q$).subscribe(to))),
  'the branch twice': (s$, b$, o) => s$.pipe(o.withLatestFrom(b$, b$.pipe(o.scan(sum)))),
  'a union': (s$, b$, o) => s$.pipe(o.withLatestFrom(union(b$, b$.pipe(o.map(tenfold))))),
  'two outputs': (s$, b$, o) => ({ one: s$.pipe(o.zipWith(b$)), two: b$.pipe(o.withLatestFrom(s$)) }),
  itself: (s$, _, o) => s$.pipe(o.zipWith(s$.pipe(o.skip(1)))),
};

/** Where the segment begins: at the input, or behind a cut, which plain RxJS does not see. */
const segments: Readonly<Record<string, (capture: Capture, o: Rx) => Build>> = {
  input: (capture, o) => ofNumbers((s$) => capture(s$, s$.pipe(o.map(tenfold)), o)),
  'shuffle-1': (capture, o) =>
    ofNumbers((input) => {
      const s$ = input.pipe(shuffle());
      return capture(s$, s$.pipe(o.map(tenfold)), o);
    }),
  'keyBy-1': (capture, o) =>
    ofNumbers((input) => {
      const s$ = input.pipe(keyBy((n) => n % 3));
      const t$ = s$.pipe(o.filter((n) => n !== 2)) as Numbers;
      return capture(t$, t$.pipe(o.map(tenfold), o.scan(sum)), o);
    }),
};

describe.each(Object.entries(captures))('law: %s of another branch is that of RxJS', (_, capture) => {
  test.each(Object.entries(segments))('in segment %s', (segment, buildOf) => {
    for (const o of [rx, menu]) {
      const build = buildOf(capture, o);
      for (const marbles of ['1234512|', '12345', '123#', '|', '#']) {
        const plain = inVirtualTime(marbles, (now) => new Plain(build, now));
        // The first error ends the run.
        const end = plain.findIndex((left) => 'error' in left);
        const expected = end < 0 ? plain : plain.slice(0, end + 1);
        expect(seen(inVirtualTime(marbles, (now) => new Bench(build, { segment, now })))).toEqual(seen(expected));
      }
    }
  });
});

describe('a branch that is subscribed when the input has ended', () => {
  const late: Readonly<Record<string, Capture>> = {
    concatWith: (s$, b$, o) => s$.pipe(o.concatWith(b$)),
    'concat inside an operator': (s$, b$) => s$.pipe((q$) => rx.concat(q$, b$)),
    repeat: (s$, _, o) => s$.pipe(o.repeat(2)),
  };
  test.each(Object.entries(late))('%s is refused, not silently empty', (_, capture) => {
    for (const o of [rx, menu]) {
      const bench = new Bench(ofNumbers((s$) => capture(s$, s$.pipe(o.map(tenfold)), o)));
      bench.push(1, 2).complete();
      expect(bench.values()).toEqual([1, 2]);
      expect(bench.end()).toMatchObject({
        code: 'ERR_NOT_REPEATABLE',
        message: expect.stringContaining('the topology'),
      });
    }
  });
});

describe('an executor takes no input before its steps have subscribed', () => {
  const items = Array.from({ length: 300 }, (_, i) => i);
  const slow: Readonly<Record<string, (o: Rx) => rx.MonoTypeOperatorFunction<number>>> = {
    'delayWhen with a subscription delay': (o) => o.delayWhen(() => rx.of(0), rx.timer(5)),
    subscribeOn: (o) => o.subscribeOn(rx.asyncScheduler, 5),
    'subscribeOn twice': (o) => rx.pipe(o.subscribeOn(rx.asapScheduler), o.subscribeOn(rx.asyncScheduler, 2)),
    'a hand-written one': () => (s$) =>
      new Observable((to) => {
        void Promise.resolve().then(() => to.add(s$.subscribe(to)));
      }),
  };
  test.each(Object.entries(slow))('%s loses nothing', async (_, operator) => {
    for (const o of [rx, menu]) {
      const t = made((s$) => ({ a: s$.pipe(o.map(tenfold), operator(o)), b: s$.pipe(shuffle(), operator(o)) }));
      expect(await run(t, items)).toEqual({
        a: { values: items.map(tenfold), end: 'complete' },
        b: { values: items, end: 'complete' },
      });
    }
  });

  test('nor does a branch beside it miss what the slow one waits for', () => {
    const build = ofNumbers((s$) => ({
      a: s$.pipe(rx.subscribeOn(rx.asyncScheduler, 5)),
      b: s$.pipe(rx.map(tenfold)),
    }));
    const log = inVirtualTime('123|', (now) => new Bench(build, { now }));
    for (const [out, times] of [
      ['a', 1],
      ['b', 10],
    ] as const) {
      const of = log.flatMap((left) => ('next' in left && left.out === out ? [[left.at, left.next]] : []));
      expect(of).toEqual([
        [5, times],
        [5, 2 * times],
        [5, 3 * times],
      ]);
    }
  });
});

describe('what build creates is one executor’s own', () => {
  const parallelism = fc.integer({ min: 1, max: 4 });
  const numbers = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 30 });

  /** shuffle deals in turn, so executor i has every n-th value. */
  function dealt(values: readonly number[], executors: number): readonly number[][] {
    return Array.from({ length: executors }, (_, i) => values.filter((_, at) => at % executors === i));
  }
  function running(values: readonly number[]): number[] {
    return values.map((_, i) => values.slice(0, i + 1).reduce(sum, 0));
  }

  const stateful: Readonly<Record<string, () => rx.OperatorFunction<number, number>>> = {
    'a counter': () => {
      let total = 0;
      return menu.map((n) => (total += n));
    },
    'a counter of rxjs': () => {
      let total = 0;
      return perExecutor(rx.map((n: number) => (total += n)));
    },
    scan: () => perExecutor(menu.scan(sum)),
    'scan of rxjs': () => perExecutor(rx.scan(sum)),
    share: () => perExecutor(rx.pipe(rx.scan(sum), rx.share())),
    shareReplay: () => perExecutor(rx.pipe(rx.scan(sum), rx.shareReplay(1))),
    'publish and refCount': () => perExecutor(rx.pipe(rx.scan(sum), rx.publish(), rx.refCount())),
    connectable: () => {
      const through = new rx.Subject<number>();
      return perExecutor((s$) => rx.merge(s$.pipe(rx.scan(sum), rx.tap(through), rx.ignoreElements()), through));
    },
  };
  test.each(Object.entries(stateful))('law: %s knows the values of its executor only', async (_, operator) => {
    await fc.assert(
      fc.asyncProperty(numbers, parallelism, async (values, executors) => {
        const t = made((s$) => s$.pipe(shuffle({ parallelism: executors }), operator()));
        const expected = { output: { values: dealt(values, executors).flatMap(running), end: 'complete' } };
        // Twice: a second run begins anew.
        for (let runs = 0; runs < 2; runs++) expect(sorted(await run(t, values))).toEqual(sorted(expected));
      }),
      { numRuns: 8 },
    );
  });

  test('one instance of an operator in two places is two instances', async () => {
    const once = rx.pipe(rx.scan(sum), rx.share());
    const t = made((s$) => ({ a: s$.pipe(menu.map(tenfold), once), b: s$.pipe(gather(), once) }));
    expect(await run(t, [1, 2])).toMatchObject({ a: { values: [10, 30] }, b: { values: [1, 3] } });
  });

  test('args are each executor’s own', async () => {
    const build = (s$: Numbers, args: { readonly list: number[] }): Numbers =>
      s$.pipe(
        shuffle({ parallelism: 2 }),
        menu.map((n) => args.list.push(n)),
      );
    const list = [7];
    const t = made(build as (s$: Numbers) => Numbers);
    expect(sorted(await run(t, [1, 2, 3, 4], { args: { list } } as never))).toEqual(
      sorted({ output: { values: [2, 2, 3, 3], end: 'complete' } }),
    );
    expect(list).toEqual([7]);
  });

  let atModuleLevel = 0;
  test('what stands at module level is shared by a thread and outlives runs', async () => {
    const t = made((s$) =>
      s$.pipe(
        shuffle({ parallelism: 2 }),
        menu.map(() => ++atModuleLevel),
      ),
    );
    expect(sorted(await run(t, [0, 0, 0]))).toEqual([['output', ['1', '2', '3'], 'complete']]);
    expect(sorted(await run(t, [0, 0, 0]))).toEqual([['output', ['4', '5', '6'], 'complete']]);
  });
});

describe('a topology inside the build of another', () => {
  const inner = made((s$) =>
    s$.pipe(
      keyBy((n) => n % 2, { parallelism: 2 }),
      menu.map(tenfold),
    ),
  );
  const nested = (): rx.OperatorFunction<number, number> =>
    inner({ threads: 0 }) as rx.OperatorFunction<number, number>;
  const values = [1, 2, 3, 4, 5, 6];

  test('in pipe it is an opaque step: each executor has runs of its own', async () => {
    const t = made((s$) =>
      s$.pipe(
        shuffle(),
        menu.map((n) => n + 1),
        nested(),
        menu.reduce(sum),
      ),
    );
    expect(
      t.describe({ threads: 0 }).segments.map(({ name, steps }) => [name, steps.map((step) => step.opaque)]),
    ).toEqual([['shuffle-1', [false, true, false]]]);
    expect(await run(t, values)).toEqual({ output: { values: [270], end: 'complete' } });
    expect(await inline(t, values)).toEqual({ output: { values: [270], end: 'complete' } });
  });

  test('so it is refused on several executors, unless that is meant', async () => {
    const several = (s$: Numbers): Numbers => s$.pipe(shuffle({ parallelism: 2 }), nested());
    const error = refused(several);
    expect(error.code).toBe('ERR_SCOPE');
    expect(lineOf(error)).toContain('s$.pipe');
    const t = made((s$) => s$.pipe(shuffle({ parallelism: 2 }), perExecutor(nested())));
    expect(sorted(await run(t, values))).toEqual(sorted({ output: { values: values.map(tenfold), end: 'complete' } }));
  });

  test('its inline form is part of the plan', async () => {
    const t = made((s$) => (inner.inline(s$.pipe(menu.map((n) => n + 1))) as Numbers).pipe(gather(), menu.reduce(sum)));
    expect(t.describe({ threads: 0 }).segments.map(({ name }) => name)).toEqual(['input', 'keyBy-1', 'gather-2']);
    expect(await run(t, values)).toEqual({ output: { values: [270], end: 'complete' } });
  });

  test('what is wrong with it is thrown when it is called', () => {
    const wrong = made((s$) => s$.pipe(shuffle({ parallelism: 2 }), menu.take(1)));
    expect(refused((s$) => s$.pipe(wrong() as rx.OperatorFunction<number, number>)).code).toBe('ERR_SCOPE');
  });
});
