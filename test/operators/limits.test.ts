/** How many inners are open at once, and what becomes of those that end, throw or emit at inconvenient moments. */

import { setImmediate as turn } from 'node:timers/promises';
import * as rx from 'rxjs';
import { EMPTY, NEVER, type Observable, of, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { catchError, concatAll, concatMap, map, mergeAll, mergeMap, take } from '../../operators/index.js';
import { union } from '../../operators/union.js';
import { Bench, ofNumbers } from './harness.js';

describe('limits', () => {
  const never = (): Promise<never> => new Promise(() => {});

  test('promises without a limit: 1,024 are open, then the executor takes no input', async () => {
    const settle: ((n: number) => void)[] = [];
    const open = (): Promise<number> => new Promise((resolve) => settle.push(resolve));
    const bench = new Bench(ofNumbers((s) => s.pipe(mergeMap(open)))).push(
      ...Array.from({ length: 1100 }, (_, n) => n),
    );
    expect(settle).toHaveLength(1024);
    expect(bench.program.ready).toBe(false);
    // Any of them makes room for another one, not only the last.
    settle[3]?.(3);
    settle[7]?.(7);
    await turn();
    expect(settle).toHaveLength(1026);
    for (let n = 0; n < 1100; n++) {
      settle[n]?.(n);
      if (n % 500 === 0) await turn();
    }
    await turn();
    for (const one of settle) one(-1);
    await turn();
    expect(bench.complete().end()).toBe('complete');
    expect(bench.values()).toHaveLength(1100);
  });

  test('async iterables count like promises', () => {
    let opened = 0;
    async function* endless(): AsyncGenerator<number> {
      yield await never();
    }
    const open = (): AsyncIterable<number> => {
      opened++;
      return endless();
    };
    const bench = new Bench(ofNumbers((s) => s.pipe(mergeMap(open)))).push(...new Array<number>(1100).fill(0));
    expect([opened, bench.waiting]).toEqual([1024, 76]);
    bench.stop();
  });

  test('inner Observables without a limit follow RxJS: none is kept out', () => {
    const bench = new Bench(ofNumbers((s) => s.pipe(mergeMap(() => NEVER)))).push(...new Array<number>(3000).fill(0));
    expect([bench.waiting, bench.program.ready]).toEqual([0, true]);
  });

  test.each([
    ['concatMap', 1, (s: Observable<number>) => s.pipe(concatMap(never))],
    ['concatAll', 1, (s: Observable<number>) => s.pipe(map(never), concatAll())],
    ['mergeMap with a limit of 3', 3, (s: Observable<number>) => s.pipe(mergeMap(() => NEVER, 3))],
    ['mergeAll with a limit of 2', 2, (s: Observable<number>) => s.pipe(map(never), mergeAll(2))],
  ])('%s takes %i values and then none while its inners are open', (_, taken, build) => {
    const bench = new Bench(ofNumbers(build)).push(1, 2, 3, 4, 5);
    expect(bench.waiting).toBe(5 - taken);
    expect([bench.program.ready, bench.program.suspended]).toEqual([false, false]);
  });

  test('an iterator above is asked for nothing while an inner is open', () => {
    const asked: number[] = [];
    function* items(): Generator<number> {
      for (let n = 0; n < 5; n++) {
        asked.push(n);
        yield n;
      }
    }
    const inners = new Map<number, Subject<number>>();
    const open = (n: number): Subject<number> => inners.set(n, new Subject()).get(n) as Subject<number>;
    const bench = new Bench(ofNumbers((s) => s.pipe(mergeMap(items), concatMap(open)))).push(0);
    expect([asked, bench.program.suspended]).toEqual([[0], true]);
    inners.get(0)?.complete();
    expect([asked, [...inners.keys()]]).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  test('20,000 empty inners are not 20,000 calls deep', () => {
    const build = ofNumbers((s) => s.pipe(concatMap((n) => (n % 2 === 0 ? [] : EMPTY))));
    const inputs = Array.from({ length: 20_000 }, (_, n) => n);
    expect(
      new Bench(build)
        .push(...inputs)
        .complete()
        .end(),
    ).toBe('complete');
  });

  test('20,000 empty inners that waited for one are not so many calls deep either', () => {
    const first = new Subject<number>();
    // An opaque step cannot be kept from emitting: its values wait in concatMap.
    const burst = (s: Observable<number>): Observable<number> => s.pipe(rx.mergeMap(() => rx.range(0, 20_000)));
    const build = ofNumbers((s) =>
      s.pipe(
        burst,
        concatMap((n) => (n === 0 ? first : EMPTY)),
      ),
    );
    const bench = new Bench(build).push(1).complete();
    expect(bench.end()).toBe(undefined);
    first.complete();
    expect(bench.end()).toBe('complete');
  });

  test('a function that throws where an inner is opened later is an error of that step', () => {
    const first = new Subject<number>();
    const burst = (s: Observable<number>): Observable<number> => s.pipe(rx.mergeMap(() => [0, 1]));
    const project = (n: number): Observable<number> => {
      if (n === 1) throw 'thrown late';
      return first;
    };
    const build = ofNumbers((s) =>
      s.pipe(
        burst,
        concatMap(project),
        catchError((reason) => of(reason)),
      ),
    );
    const bench = new Bench(build).push(1);
    first.complete();
    expect(bench.values()).toEqual(['thrown late']);
  });
});

test('65,536 events of a step that cannot be suspended may wait; then it is ERR_OUTPUT_BURST, and names the step', () => {
  const aside = new Subject<number>();
  const build = ofNumbers((s) =>
    s.pipe(
      rx.mergeWith(aside),
      mergeMap((n) => [n, n]),
    ),
  );
  const bench = new Bench(build, {
    onOutput: (host) => {
      host.room = false;
    },
  });
  // The first one is suspended, the others wait for it.
  for (let n = 0; n < 65_537; n++) aside.next(n);
  expect(bench.end()).toBe(undefined);
  aside.next(0);
  expect(bench.failure?.reason).toMatchObject({ code: 'ERR_OUTPUT_BURST', operator: 'step 1' });
});

describe('inners that emit inside subscribe', () => {
  test.each([
    [
      'mergeMap',
      (s: Observable<number>) =>
        s.pipe(
          mergeMap(() => rx.range(0, Number.MAX_SAFE_INTEGER)),
          take(3),
        ),
    ],
    [
      'concatAll',
      (s: Observable<number>) =>
        s.pipe(
          map(() => rx.range(0, 1e15)),
          concatAll(),
          take(3),
        ),
    ],
    ['an opaque step', (s: Observable<number>) => s.pipe(rx.mergeWith(rx.range(0, 1e15)), take(3))],
  ])('%s: an endless one ends with the take behind it', (_, build) => {
    const bench = new Bench(ofNumbers(build)).push(1);
    expect(bench.values()).toEqual([0, 1, 2]);
    expect(bench.end()).toBe('complete');
  });

  test('an inner is let go of when a take behind it ends inside its subscribe', () => {
    let torn = 0;
    const inner = new rx.Observable<number>((subscriber) => {
      subscriber.add(() => torn++);
      subscriber.next(1);
    });
    new Bench(
      ofNumbers((s) =>
        s.pipe(
          mergeMap(() => inner),
          take(1),
        ),
      ),
    ).push(1);
    expect(torn).toBe(1);
  });

  test('a take that ends inside the subscribe of an inner leaves nothing held', () => {
    const inner = rx.merge(of(0), NEVER);
    const build = ofNumbers((s) =>
      union(
        s.pipe(
          concatMap(() => inner),
          take(1),
        ),
        s.pipe(map((n) => n)),
      ),
    );
    expect(new Bench(build).push(1, 2, 3).values()).toEqual([0, 1, 2, 3]);
  });

  test('all inners are let go of when the executor stops', () => {
    let torn = 0;
    const inner = new rx.Observable<number>((subscriber) => subscriber.add(() => torn++));
    new Bench(ofNumbers((s) => s.pipe(mergeMap(() => inner)))).push(1, 2, 3).stop();
    expect(torn).toBe(3);
  });
});
