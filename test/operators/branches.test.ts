/**
 * Streams of build that operators meet at run time: when they may still be subscribed, what happens when not,
 * and that an executor waits until its operators have subscribed.
 */

import type { Observable } from 'rxjs';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { concatMap, ignoreElements, map, mergeMap, take } from '../../operators/index.js';
import { union } from '../../operators/union.js';
import { Bench, inVirtualTime, type Left, ofNumbers, Plain, seen } from './harness.js';

type Numbers = Observable<number>;
type Use = (s: Numbers) => Observable<unknown>;

function executed(marbles: string, use: Use): readonly Left[] {
  return inVirtualTime(marbles, (now) => new Bench(ofNumbers(use), { now }));
}

describe('a branch subscribed later', () => {
  const later: readonly (readonly [string, Use])[] = [
    ['concatWith while the input goes on', (s) => s.pipe(rx.take(2), rx.concatWith(s.pipe(rx.map((n) => n * 100))))],
    [
      'concatMap of a branch',
      (s) =>
        s.pipe(
          concatMap((n) =>
            s.pipe(
              take(1),
              map((m) => [n, m]),
            ),
          ),
        ),
    ],
    [
      'mergeMap of a branch, two at once',
      (s) =>
        s.pipe(
          mergeMap(
            (n) =>
              s.pipe(
                take(2),
                map((m) => [n, m]),
              ),
            2,
          ),
        ),
    ],
    ['takeUntil of a branch of a branch', (s) => union(s, s.pipe(rx.takeUntil(s.pipe(rx.skip(1)).pipe(rx.skip(1)))))],
    ['defer', (s) => rx.defer(() => s).pipe((deferred) => s.pipe(rx.mergeWith(deferred)))],
  ];
  test.each(later)('law: %s is as in RxJS', (_, use) => {
    const behind: Use = (s) => s.pipe((source) => use(source as Numbers));
    for (const marbles of ['-1-2-3-4-5', '(1234)', '-1-4-#']) {
      const plain = inVirtualTime(marbles, (now) => new Plain(ofNumbers(use), now));
      expect(seen(executed(marbles, use))).toEqual(seen(plain));
      expect(seen(executed(marbles, behind))).toEqual(seen(plain));
    }
  });

  test('after the input has ended is an error, never an empty stream', () => {
    const log = executed('-1-2|', (s) =>
      s.pipe(
        rx.delay(9),
        rx.switchMap(() => s),
      ),
    );
    expect(seen(log)).toEqual([{ at: 10, out: '*', error: 'ERR_NOT_REPEATABLE' }]);
  });

  test('after the executor has said that it is finished is an error as well', () => {
    const log = executed('-1-2-3-4-5-6', (s) => s.pipe(rx.take(1), rx.concatWith(rx.timer(5)), rx.concatWith(s)));
    expect(seen(log)).toEqual([
      { at: 1, out: 'output', next: 1 },
      { at: 6, out: 'output', next: 0 },
      { at: 6, out: '*', error: 'ERR_NOT_REPEATABLE' },
    ]);
  });

  test('concat of two branches never loses the second one silently', () => {
    const second =
      (s: Numbers) =>
      (first: Numbers): Numbers =>
        rx.concat(first, s.pipe(rx.map((n) => -n)));
    const log = executed('-12|', (s) =>
      s.pipe(
        rx.map((n) => n),
        second(s),
      ),
    );
    expect(seen(log).slice(2)).toEqual([{ at: 3, out: '*', error: 'ERR_NOT_REPEATABLE' }]);
  });

  test('retry on a captured branch ends with the error instead of trying for ever', () => {
    expect(seen(executed('-1-#', (s) => s.pipe(rx.mergeWith(s.pipe(rx.retry()))))).at(-1)).toMatchObject({ out: '*' });
  });

  test('law: pipes at run time record nothing, however many there are', () => {
    const streams: Numbers[] = [];
    const bench = new Bench(
      ofNumbers((s) => {
        streams.push(s);
        return s.pipe(
          rx.mergeMap(() =>
            s.pipe(
              rx.map((n) => n),
              rx.take(1),
            ),
          ),
        );
      }),
    );
    const [stream] = streams as [Numbers];
    for (const piped of [stream.pipe(rx.map((n) => n)), stream.pipe(map((n) => n)), stream.pipe((s) => rx.concat(s))]) {
      expect(piped.constructor).toBe(rx.Observable);
    }
    expect(bench.push(1, 2, 3).values()).toEqual([2, 3]);
  });
});

describe('the head is awaited', () => {
  test.each<[string, Use]>([
    ['subscribeOn', (s) => s.pipe(rx.subscribeOn(rx.asyncScheduler, 7))],
    ['delayWhen with a subscription delay', (s) => s.pipe(rx.delayWhen(() => rx.timer(1), rx.timer(7)))],
    ['a hand-written operator that waits', (s) => s.pipe((source) => rx.timer(7).pipe(rx.switchMap(() => source)))],
    ['subscribeOn in one of two branches', (s) => union(s.pipe(rx.subscribeOn(rx.asyncScheduler, 7)), s)],
    [
      'two that wait in a row',
      (s) =>
        s.pipe(
          rx.subscribeOn(rx.asyncScheduler, 4),
          map((n) => n),
          rx.subscribeOn(rx.asyncScheduler, 3),
        ),
    ],
  ])('law: nothing is lost before %s subscribes', (_, use) => {
    const log = executed('12-34|', use);
    const values = log.flatMap((left) => ('next' in left ? [left.next] : []));
    expect([...new Set(values)]).toEqual([1, 2, 3, 4]);
    expect(log.at(-1)).toMatchObject({ complete: true });
    expect(log[0]?.at).toBeGreaterThanOrEqual(7);
  });

  test('an operator that never subscribes its source takes no input', () => {
    const bench = new Bench(
      ofNumbers((s) => s.pipe((source) => rx.merge(rx.of(8), rx.NEVER, source.pipe(rx.take(0))))),
    );
    bench.push(1);
    expect([bench.values(), bench.waiting, bench.program.ready]).toEqual([[8], 1, false]);
  });

  test('an operator that ends without its source finishes the executor', () => {
    const bench = new Bench(ofNumbers((s) => s.pipe(() => rx.of(8)))).push(1);
    expect([bench.values(), bench.end(), bench.program.finished]).toEqual([[8], 'complete', true]);
  });

  test('an operator that lets go of its source later, without a word, wakes the executor', () => {
    const stop = new rx.Subject<void>();
    const letGo = (source: Numbers): Numbers =>
      new rx.Observable((subscriber) => {
        const subscription = source.subscribe(subscriber);
        stop.subscribe(() => subscription.unsubscribe());
      });
    const bench = new Bench(ofNumbers((s) => s.pipe(letGo)));
    bench.room = false;
    bench.push(1, 2);
    expect([bench.waiting, bench.program.finished]).toEqual([2, false]);
    stop.next();
    expect([bench.waiting, bench.program.finished]).toEqual([0, true]);
  });

  test('one of two branches that ends without the source leaves the other one all values', () => {
    const build = ofNumbers((s) => {
      const all = s.pipe(map((n) => n));
      return union(
        all.pipe(() => rx.of(8)),
        all,
        all.pipe(ignoreElements()),
        all.pipe(take(0)),
      );
    });
    const bench = new Bench(build).push(1, 2);
    expect([bench.values(), bench.program.finished]).toEqual([[8, 1, 2], false]);
  });
});
