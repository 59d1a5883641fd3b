/** A stream of a segment with several consumers: who gets what, in which order, and that nothing overtakes when the executor stops. */

import * as rx from 'rxjs';
import { type Observable, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import * as menuModule from '../../operators/index.js';
import { map, mergeMap, reduce, scan, take, tap, toArray } from '../../operators/index.js';
import { union } from '../../operators/union.js';
import { Bench, ofNumbers, Plain, seen } from './harness.js';

const menu = menuModule as unknown as typeof rx;
type Numbers = Observable<number>;

describe('forks', () => {
  test('law: the whole subtree of the first branch comes before the second one, also when suspended between', () => {
    const build = (onOutput: (host: Bench) => void): Bench =>
      new Bench(
        ofNumbers((s) => {
          const words = s.pipe(mergeMap((n) => [n, n + 1]));
          return union(
            words.pipe(map((n) => `a${n}`)),
            words.pipe(mergeMap((n) => [`b${n}`, `B${n}`])),
            words.pipe(map((n) => `c${n}`)),
          );
        }),
        { onOutput },
      );
    const expected = ['a1', 'b1', 'B1', 'c1', 'a2', 'b2', 'B2', 'c2'];
    expect(
      build(() => {})
        .push(1)
        .values(),
    ).toEqual(expected);
    const halting = build((host) => {
      host.room = false;
    }).push(1);
    while (!halting.room) halting.grant();
    expect(halting.values()).toEqual(expected);
  });

  const stopping = { onOutput: (host: Bench) => (host.room = false) };

  test('law: what a step emits meanwhile does not overtake a value on its way to the second branch', () => {
    const aside = new Subject<string>();
    const build = ofNumbers((s) => {
      const both = s.pipe((source) => rx.merge(source, aside));
      return union(both.pipe(map((v) => `a${v}`)), both.pipe(map((v) => `b${v}`)));
    });
    const bench = new Bench(build, stopping);
    for (const value of ['1', '2']) aside.next(value);
    expect(bench.values()).toEqual(['a1']);
    while (!bench.room) bench.grant();
    expect(bench.values()).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  test('law: what a step emits from within a delivery does not overtake what of it is waiting', () => {
    const aside = new Subject<number>();
    const build = ofNumbers((s) =>
      s.pipe(
        (source) => rx.merge(source, aside),
        mergeMap((n) => [n, n + 0.5]),
        tap((n) => n === 1.5 && aside.next(3)),
      ),
    );
    const bench = new Bench(build, stopping);
    for (const n of [1, 2]) aside.next(n);
    while (!bench.room) bench.grant();
    expect(bench.values()).toEqual([1, 1.5, 2, 2.5, 3, 3.5]);
  });

  test('law: an asynchronous inner does not overtake the iterator that is suspended beside it', () => {
    const aside = new Subject<number>();
    const bench = new Bench(
      ofNumbers((s) => s.pipe(mergeMap((n) => (n === 0 ? aside : [n, n + 1])))),
      stopping,
    );
    bench.push(0, 1);
    aside.next(9);
    expect(bench.values()).toEqual([1]);
    while (!bench.room) bench.grant();
    expect(bench.values()).toEqual([1, 2, 9]);
  });

  test('a branch that ends while the first one has the value does not get it', () => {
    const build = ofNumbers((s) => ({ a: s, b: s }));
    const bench = new Bench(build, { onOutput: (host) => host.program.closeOutlet(1) }).push(1, 2);
    expect([bench.values('a'), bench.values('b')]).toEqual([[1, 2], []]);
  });

  test('each branch gets what a step emits while it is being subscribed', () => {
    const bench = new Bench(
      ofNumbers((s) => {
        const started = s.pipe(menu.startWith(0));
        return { a: started.pipe(map((n) => n)), b: started.pipe(scan((a, b) => a + b, 0)) };
      }),
    ).push(1);
    expect([bench.values('a'), bench.values('b')]).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  test('each branch is told of an end that comes while it is being subscribed', () => {
    const bench = new Bench(
      ofNumbers((s) => {
        const ended = s.pipe(take(0));
        return { a: ended.pipe(reduce((a, b) => a + b, 5)), b: ended.pipe(map((n) => n)) };
      }),
    );
    expect([bench.values('a'), bench.end('a'), bench.end('b')]).toEqual([[5], 'complete', 'complete']);
  });

  test('a stream united with itself comes twice', () => {
    const bench = new Bench(ofNumbers((s) => union(s, s).pipe(toArray()))).push(1, 2).complete();
    expect(bench.values()).toEqual([[1, 1, 2, 2]]);
  });

  test('a value re-entering from behind is the next one, as in RxJS', () => {
    const feedback = (o: typeof rx, side: Subject<number>) => (s: Numbers) =>
      s.pipe(
        o.mergeMap((n) => (n === 1 ? side : [n])),
        o.tap((n) => n < 5 && side.next(n + 1)),
        o.take(3),
      );
    const logs = [rx, menu].map((o) => {
      const side = new Subject<number>();
      const build = ofNumbers(feedback(o, side));
      return seen((o === rx ? new Plain(build).push(1, 2) : new Bench(build).push(1, 2)).log);
    });
    expect(logs[1]).toEqual(logs[0]);
    expect(logs[0]).toHaveLength(4);
  });
});
