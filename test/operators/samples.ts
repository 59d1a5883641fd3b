/**
 * Uses of every operator that RxJS exports: each as a pipe on a stream of numbers, with the operators of `o`
 * ('rxjs' itself, or the menu of millrace/operators). The table is complete, or differential.test.ts fails.
 */

import type { Observable } from 'rxjs';
import * as rx from 'rxjs';

type Rx = typeof rx;
export type Sample = (s: Observable<number>, o: Rx) => Observable<unknown>;

const { EMPTY, interval, of, Subject, timer } = rx;
const even = (n: number): boolean => n % 2 === 0;
const sum = (a: number, b: number): number => a + b;
const inTime = (n: number): Observable<number> => timer(n).pipe(rx.map(() => n));
const lists = (w: Observable<number>): Observable<number[]> => w.pipe(rx.toArray());
const boom = (): never => {
  throw 'thrown';
};

/** Asks for the source, which RxJS hands to some predicates. */
const asks = (n: number, _: number, source: Observable<number>): boolean => n < 3 && source instanceof rx.Observable;
function bounded(this: { readonly below: number }, n: number): boolean {
  return n < this.below;
}

export const samples: Readonly<Record<string, readonly Sample[]>> = {
  audit: [(s, o) => s.pipe(o.audit(inTime))],
  auditTime: [(s, o) => s.pipe(o.auditTime(3))],
  buffer: [(s, o) => s.pipe(o.buffer(interval(4)))],
  bufferCount: [
    (s, o) => s.pipe(o.bufferCount(2)),
    (s, o) => s.pipe(o.bufferCount(3, 1)),
    (s, o) => s.pipe(o.bufferCount(2, 3)),
    (s, o) => s.pipe(o.bufferCount(0)),
  ],
  bufferTime: [(s, o) => s.pipe(o.bufferTime(4)), (s, o) => s.pipe(o.bufferTime(6, 3, 2))],
  bufferToggle: [(s, o) => s.pipe(o.bufferToggle(interval(4), () => timer(3)))],
  bufferWhen: [(s, o) => s.pipe(o.bufferWhen(() => timer(5)))],
  catchError: [
    (s, o) => s.pipe(o.catchError((reason) => of(reason, 7))),
    (s, o) =>
      s.pipe(
        o.map((n) => (n === 3 ? boom() : n)),
        o.catchError(() => interval(2).pipe(rx.take(2))),
      ),
    (s, o) => s.pipe(o.catchError(boom)),
  ],
  combineAll: [(s, o) => s.pipe(o.map(inTime), o.combineAll())],
  combineLatestAll: [(s, o) => s.pipe(o.map(inTime), o.combineLatestAll())],
  combineLatestWith: [(s, o) => s.pipe(o.combineLatestWith(interval(3).pipe(rx.take(3))))],
  concatAll: [
    (s, o) => s.pipe(o.map(inTime), o.concatAll()),
    (s, o) =>
      s.pipe(
        o.map((n) => 'x'.repeat(n)),
        o.concatAll(),
      ),
  ],
  concatMap: [
    (s, o) => s.pipe(o.concatMap((n) => [n, n])),
    (s, o) => s.pipe(o.concatMap(inTime)),
    (s, o) => s.pipe(o.concatMap((n, i) => of(n, i))),
    (s, o) =>
      s.pipe(
        o.concatMap(
          (n) => [n, 9],
          (a, b, i, j) => [a, b, i, j],
        ),
      ),
    (s, o) => s.pipe(o.concatMap((n) => (n === 3 ? boom() : [n]))),
    (s, o) => s.pipe(o.concatMap((n) => (n === 3 ? ({} as never) : [n]))),
  ],
  concatMapTo: [(s, o) => s.pipe(o.concatMapTo(of(1, 2)))],
  concatWith: [(s, o) => s.pipe(o.concatWith(of(8), timer(3)))],
  connect: [(s, o) => s.pipe(o.connect((shared) => rx.merge(shared, shared.pipe(rx.map((n) => n * 10)))))],
  count: [(s, o) => s.pipe(o.count()), (s, o) => s.pipe(o.count((n, i) => n > i))],
  debounce: [(s, o) => s.pipe(o.debounce(inTime))],
  debounceTime: [(s, o) => s.pipe(o.debounceTime(2))],
  defaultIfEmpty: [(s, o) => s.pipe(o.defaultIfEmpty(-1))],
  delay: [(s, o) => s.pipe(o.delay(3))],
  delayWhen: [(s, o) => s.pipe(o.delayWhen(inTime))],
  dematerialize: [(s, o) => s.pipe(o.materialize(), o.dematerialize())],
  distinct: [
    (s, o) => s.pipe(o.distinct()),
    (s, o) => s.pipe(o.distinct((n) => n % 3)),
    (s, o) => s.pipe(o.distinct((n) => n, interval(5))),
  ],
  distinctUntilChanged: [
    (s, o) => s.pipe(o.distinctUntilChanged()),
    (s, o) => s.pipe(o.distinctUntilChanged((a, b) => a > b)),
    (s, o) => s.pipe(o.distinctUntilChanged((a, b) => a > b, String)),
    (s, o) => s.pipe(o.distinctUntilChanged((a, b) => a === b, even)),
  ],
  distinctUntilKeyChanged: [
    (s, o) =>
      s.pipe(
        o.map((n) => ({ n })),
        o.distinctUntilKeyChanged('n'),
      ),
  ],
  elementAt: [
    (s, o) => s.pipe(o.elementAt(2)),
    (s, o) => s.pipe(o.elementAt(99, -1)),
    (s, o) => s.pipe(o.elementAt(99)),
    (s, o) => s.pipe(o.elementAt(99, undefined)),
  ],
  endWith: [
    (s, o) => s.pipe(o.endWith(8, 9)),
    (s, o) => s.pipe(o.endWith(8, rx.queueScheduler)),
    (s, o) => s.pipe(o.take(2), o.endWith(8)),
    (s, o) => s.pipe(o.endWith()),
  ],
  every: [
    (s, o) => s.pipe(o.every((n) => n < 3)),
    (s, o) => s.pipe(o.every((n) => n < 99)),
    (s, o) => s.pipe(o.every(asks)),
    (s, o) => s.pipe(o.every(bounded, { below: 3 })),
  ],
  exhaust: [(s, o) => s.pipe(o.map(inTime), o.exhaust())],
  exhaustAll: [(s, o) => s.pipe(o.map(inTime), o.exhaustAll())],
  exhaustMap: [(s, o) => s.pipe(o.exhaustMap(inTime))],
  expand: [(s, o) => s.pipe(o.expand((n) => (n < 8 ? timer(2).pipe(rx.map(() => n * 2)) : EMPTY)))],
  filter: [(s, o) => s.pipe(o.filter(even)), (s, o) => s.pipe(o.filter((n, i) => n > i))],
  finalize: [(s, o) => s.pipe(o.finalize(() => {}))],
  find: [
    (s, o) => s.pipe(o.find(even)),
    (s, o) => s.pipe(o.find((n) => n > 99)),
    (s, o) => s.pipe(o.find((n, i, source) => !asks(n, i, source))),
    (s, o) => s.pipe(o.find(bounded, { below: 2 })),
  ],
  findIndex: [
    (s, o) => s.pipe(o.findIndex(even)),
    (s, o) => s.pipe(o.findIndex(bounded, { below: 2 })),
    (s, o) => s.pipe(o.findIndex((_, i, source) => i === 1 && source instanceof rx.Observable)),
  ],
  first: [
    (s, o) => s.pipe(o.first()),
    (s, o) => s.pipe(o.first((n) => n > 99)),
    (s, o) => s.pipe(o.first(even, -1)),
    (s, o) => s.pipe(o.first(null, undefined)),
    (s, o) => s.pipe(o.first((n, i, source) => !asks(n, i, source), 7)),
  ],
  flatMap: [(s, o) => s.pipe(o.flatMap((n) => [n, n]))],
  groupBy: [
    (s, o) =>
      s.pipe(
        o.groupBy((n) => n % 2),
        o.mergeMap((group) =>
          group.pipe(
            rx.scan(sum),
            rx.map((total) => [group.key, total]),
          ),
        ),
      ),
    (s, o) =>
      s.pipe(
        o.groupBy((n) => n % 2, { duration: () => timer(4), element: String }),
        o.mergeMap((group) => group.pipe(rx.toArray())),
      ),
  ],
  ignoreElements: [(s, o) => s.pipe(o.ignoreElements())],
  isEmpty: [(s, o) => s.pipe(o.isEmpty())],
  last: [
    (s, o) => s.pipe(o.last()),
    (s, o) => s.pipe(o.last(even, -1)),
    (s, o) => s.pipe(o.last(null, undefined)),
    (s, o) => s.pipe(o.last(asks)),
  ],
  map: [
    (s, o) => s.pipe(o.map((n) => n * 2)),
    (s, o) => s.pipe(o.map((n, i) => [n, i])),
    (s, o) => s.pipe(o.map((n) => (n === 3 ? boom() : n))),
    (s, o) =>
      s.pipe(
        o.map(
          function (this: { readonly by: number }, n) {
            return n * this.by;
          },
          { by: 3 },
        ),
      ),
  ],
  mapTo: [(s, o) => s.pipe(o.mapTo(5))],
  materialize: [(s, o) => s.pipe(o.materialize())],
  max: [
    (s, o) => s.pipe(o.max()),
    (s, o) => s.pipe(o.max((a, b) => (a % 3) - (b % 3))),
    (s, o) => s.pipe(o.map(String), o.max()),
  ],
  mergeAll: [
    (s, o) => s.pipe(o.map(inTime), o.mergeAll()),
    (s, o) => s.pipe(o.map(inTime), o.mergeAll(1)),
    (s, o) =>
      s.pipe(
        o.map((n) => [n, n]),
        o.mergeAll(),
      ),
  ],
  mergeMap: [
    (s, o) => s.pipe(o.mergeMap((n) => [n, n])),
    (s, o) => s.pipe(o.mergeMap(inTime)),
    (s, o) => s.pipe(o.mergeMap(inTime, 1)),
    (s, o) => s.pipe(o.mergeMap((n) => (n === 3 ? rx.throwError(() => 'inner') : of(n)))),
    (s, o) => s.pipe(o.mergeMap((n, i) => new Set([n, i]), 2)),
    (s, o) =>
      s.pipe(
        o.mergeMap(
          (n) => [n, 9],
          (a, b, i, j) => [a, b, i, j],
        ),
      ),
  ],
  mergeMapTo: [(s, o) => s.pipe(o.mergeMapTo(timer(3)))],
  mergeScan: [(s, o) => s.pipe(o.mergeScan((total, n) => timer(n).pipe(rx.map(() => total + n)), 0))],
  mergeWith: [(s, o) => s.pipe(o.mergeWith(interval(4).pipe(rx.take(3))))],
  min: [
    (s, o) => s.pipe(o.min()),
    (s, o) => s.pipe(o.min((a, b) => (a % 3) - (b % 3))),
    (s, o) => s.pipe(o.map(String), o.min()),
  ],
  multicast: [
    (s, o) =>
      s.pipe(
        o.multicast(() => new Subject<number>()),
        o.refCount(),
      ),
    (s, o) =>
      s.pipe(
        o.multicast(
          () => new Subject<number>(),
          (shared) => rx.merge(shared, shared),
        ),
      ),
  ],
  observeOn: [(s, o) => s.pipe(o.observeOn(rx.asyncScheduler, 2))],
  onErrorResumeNextWith: [(s, o) => s.pipe(o.onErrorResumeNextWith(of(8, 9)))],
  pairwise: [(s, o) => s.pipe(o.pairwise())],
  pluck: [
    (s, o) =>
      s.pipe(
        o.map((n) => ({ n })),
        o.pluck('n'),
      ),
  ],
  publish: [
    (s, o) => s.pipe(o.publish(), o.refCount()),
    (s, o) => s.pipe(o.publish((shared) => rx.merge(shared, shared))),
  ],
  publishBehavior: [(s, o) => s.pipe(o.publishBehavior(7), o.refCount())],
  publishLast: [(s, o) => s.pipe(o.publishLast(), o.refCount())],
  publishReplay: [(s, o) => s.pipe(o.publishReplay(1), o.refCount())],
  raceWith: [(s, o) => s.pipe(o.raceWith(timer(3))), (s, o) => s.pipe(o.raceWith(timer(99)))],
  reduce: [
    (s, o) => s.pipe(o.reduce(sum)),
    (s, o) => s.pipe(o.reduce(sum, 100)),
    (s, o) => s.pipe(o.reduce((acc: unknown, n) => [acc, n], undefined)),
  ],
  refCount: [(s, o) => s.pipe(o.publish(), o.refCount(), o.map(String))],
  repeat: [(s, o) => s.pipe(o.repeat())],
  repeatWhen: [(s, o) => s.pipe(o.repeatWhen((ends) => ends))],
  retry: [(s, o) => s.pipe(o.retry())],
  retryWhen: [(s, o) => s.pipe(o.retryWhen((errors) => errors))],
  sample: [(s, o) => s.pipe(o.sample(interval(4)))],
  sampleTime: [(s, o) => s.pipe(o.sampleTime(4))],
  scan: [
    (s, o) => s.pipe(o.scan(sum)),
    (s, o) => s.pipe(o.scan(sum, 100)),
    (s, o) => s.pipe(o.scan((acc: unknown, n) => [acc, n], undefined)),
    (s, o) => s.pipe(o.scan((acc: number[], n, i) => [...acc, n, i], [])),
  ],
  sequenceEqual: [(s, o) => s.pipe(o.sequenceEqual(of(1, 2, 3, 2, 4))), (s, o) => s.pipe(o.sequenceEqual(of(1)))],
  share: [(s, o) => s.pipe(o.share())],
  shareReplay: [(s, o) => s.pipe(o.shareReplay(1)), (s, o) => s.pipe(o.shareReplay({ bufferSize: 2, refCount: true }))],
  single: [(s, o) => s.pipe(o.single((n) => n === 3)), (s, o) => s.pipe(o.single())],
  skip: [(s, o) => s.pipe(o.skip(2)), (s, o) => s.pipe(o.skip(0))],
  skipLast: [(s, o) => s.pipe(o.skipLast(2)), (s, o) => s.pipe(o.skipLast(0)), (s, o) => s.pipe(o.skipLast(1.5))],
  skipUntil: [(s, o) => s.pipe(o.skipUntil(timer(5)))],
  skipWhile: [
    (s, o) => s.pipe(o.skipWhile((n) => n < 3)),
    (s, o) => s.pipe(o.skipWhile((n, i) => n > i)),
    (s, o) => s.pipe(o.skipWhile(boom)),
  ],
  startWith: [
    (s, o) => s.pipe(o.startWith(8, 9)),
    (s, o) => s.pipe(o.startWith(8, rx.queueScheduler)),
    (s, o) => s.pipe(o.startWith()),
    (s, o) => s.pipe(o.startWith(8, 9), o.take(1)),
  ],
  subscribeOn: [(s, o) => s.pipe(o.subscribeOn(rx.asapScheduler))],
  switchAll: [(s, o) => s.pipe(o.map(inTime), o.switchAll())],
  switchMap: [(s, o) => s.pipe(o.switchMap(inTime)), (s, o) => s.pipe(o.switchMap((n) => [n, n]))],
  switchMapTo: [(s, o) => s.pipe(o.switchMapTo(timer(2)))],
  switchScan: [(s, o) => s.pipe(o.switchScan((total, n) => timer(2).pipe(rx.map(() => total + n)), 0))],
  take: [(s, o) => s.pipe(o.take(2)), (s, o) => s.pipe(o.take(0)), (s, o) => s.pipe(o.take(99))],
  takeLast: [(s, o) => s.pipe(o.takeLast(2)), (s, o) => s.pipe(o.takeLast(0)), (s, o) => s.pipe(o.takeLast(99))],
  takeUntil: [(s, o) => s.pipe(o.takeUntil(timer(5)))],
  takeWhile: [(s, o) => s.pipe(o.takeWhile((n) => n < 3)), (s, o) => s.pipe(o.takeWhile((n) => n < 3, true))],
  tap: [(s, o) => s.pipe(o.tap(() => {})), (s, o) => s.pipe(o.tap((n) => n === 3 && boom()))],
  throttle: [(s, o) => s.pipe(o.throttle(inTime, { leading: true, trailing: true }))],
  throttleTime: [(s, o) => s.pipe(o.throttleTime(3))],
  throwIfEmpty: [
    (s, o) => s.pipe(o.throwIfEmpty(() => 'empty')),
    (s, o) => s.pipe(o.throwIfEmpty()),
    (s, o) => s.pipe(o.throwIfEmpty(boom)),
  ],
  timeInterval: [
    (s, o) =>
      s.pipe(
        o.timeInterval(),
        o.map(({ value, interval: ms }) => [value, ms]),
      ),
  ],
  timeout: [
    (s, o) => s.pipe(o.timeout({ each: 99 })),
    (s, o) => s.pipe(o.timeout({ each: 2, with: () => of(-1) })),
    (s, o) => s.pipe(o.timeout({ first: 1 })),
  ],
  timeoutWith: [(s, o) => s.pipe(o.timeoutWith(2, of(-1)))],
  timestamp: [(s, o) => s.pipe(o.timestamp())],
  toArray: [(s, o) => s.pipe(o.toArray())],
  window: [(s, o) => s.pipe(o.window(interval(4)), o.mergeMap(lists))],
  windowCount: [
    (s, o) => s.pipe(o.windowCount(2), o.mergeMap(lists)),
    (s, o) => s.pipe(o.windowCount(3, 1), o.mergeMap(lists)),
  ],
  windowTime: [(s, o) => s.pipe(o.windowTime(4), o.mergeMap(lists))],
  windowToggle: [
    (s, o) =>
      s.pipe(
        o.windowToggle(interval(4), () => timer(3)),
        o.mergeMap(lists),
      ),
  ],
  windowWhen: [
    (s, o) =>
      s.pipe(
        o.windowWhen(() => timer(5)),
        o.mergeMap(lists),
      ),
  ],
  withLatestFrom: [
    (s, o) => s.pipe(o.withLatestFrom(interval(2))),
    (s, o) => s.pipe(o.withLatestFrom(interval(2), (a, b) => a + b)),
  ],
  zipAll: [(s, o) => s.pipe(o.map(inTime), o.zipAll())],
  zipWith: [(s, o) => s.pipe(o.zipWith(interval(3)))],
};
