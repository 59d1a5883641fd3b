/**
 * Random pipelines for the laws of the loop: chains of steps, forks that meet again, and the same thing in plain RxJS.
 * Owns the arbitraries. A fork of the model is RxJS's connect(): both branches subscribe, then values flow.
 */

import fc from 'fast-check';
import * as rx from 'rxjs';
import { connect, type Observable, type OperatorFunction } from 'rxjs';
import {
  bufferCount,
  catchError,
  concatAll,
  concatMap,
  count,
  defaultIfEmpty,
  distinct,
  distinctUntilChanged,
  elementAt,
  endWith,
  every,
  filter,
  find,
  findIndex,
  first,
  ignoreElements,
  isEmpty,
  last,
  map,
  max,
  mergeAll,
  mergeMap,
  min,
  pairwise,
  reduce,
  scan,
  skip,
  skipLast,
  skipWhile,
  startWith,
  take,
  takeLast,
  takeWhile,
  tap,
  throwIfEmpty,
  toArray,
} from '../../operators/index.js';
import { union } from '../../operators/union.js';
import { type Build, ofNumbers } from './harness.js';

/** Makes an operator anew for every build: none is shared. Values stay numbers. */
export interface StepSample {
  readonly name: string;
  readonly make: () => OperatorFunction<number, number>;
}
export interface Pipeline {
  readonly steps: readonly StepSample[];
  readonly fork?: { readonly left: Pipeline; readonly right: Pipeline; readonly behind: Pipeline } | undefined;
}

const sum = (a: number, b: number): number => a + b;
function* countdown(n: number): Generator<number> {
  for (let i = n; i > 0; i--) yield i;
}
const throwsAt = (at: number) => (n: number) => {
  if (n === at) throw `thrown at ${at}`;
  return n;
};
const step = (name: string, make: StepSample['make']): StepSample => ({ name, make });
/** Results of other types as numbers again. */
const numbers = <T>(operator: OperatorFunction<number, T>): OperatorFunction<number, number> => {
  const back = map((result: T) => (result === undefined ? -2 : Number(result)));
  return (s) => s.pipe(operator, back);
};
const flat = (operator: OperatorFunction<number, readonly number[]>): OperatorFunction<number, number> => {
  const apart = mergeMap((list: readonly number[]) => list);
  return (s) => s.pipe(operator, apart);
};
const small = fc.nat({ max: 4 });

/** Steps of the loop, all of them lowered. */
export const loweredStep: fc.Arbitrary<StepSample> = fc.oneof(
  small.map((k) => step(`map(+${k})`, () => map((n) => n + k))),
  small.map((k) => step(`map(index, ${k})`, () => map((n, i) => n + i * k))),
  small.map((k) => step(`filter(%${k + 2})`, () => filter((n) => n % (k + 2) !== 0))),
  small.map((k) => step(`mergeMap(array ${k})`, () => mergeMap((n) => new Array<number>(k).fill(n % 7)))),
  small.map((k) => step(`mergeMap(generator ${k})`, () => mergeMap((n) => countdown((n + k) % 4)))),
  small.map((k) => step(`mergeMap(set, ${k + 1})`, () => mergeMap((n) => new Set([n, n + 1, k]), k + 1))),
  fc.constant(step('concatMap(generator)', () => concatMap((n) => countdown(n % 4)))),
  fc.constant(
    step(
      'concatAll',
      () => (s) =>
        s.pipe(
          map((n) => [n, -n]),
          concatAll(),
        ),
    ),
  ),
  fc.constant(
    step(
      'mergeAll',
      () => (s) =>
        s.pipe(
          map((n) => String(n % 100)),
          mergeAll(),
          map(Number),
          filter((n) => n >= 0),
        ),
    ),
  ),
  fc.constant(step('scan', () => scan(sum))),
  small.map((k) => step(`scan(${k})`, () => scan(sum, k))),
  small.map((k) => step(`take(${k + 1})`, () => take(k + 1))),
  small.map((k) => step(`take(${k * 4 + 1})`, () => take(k * 4 + 1))),
  small.map((k) => step(`takeWhile(< ${k * 5})`, () => takeWhile((n) => n < k * 5))),
  small.map((k) => step(`takeWhile(< ${k * 5}, inclusive)`, () => takeWhile((n) => n < k * 5, true))),
  small.map((k) => step(`skip(${k})`, () => skip(k))),
  fc.constant(step('tap', () => tap(() => {}))),
  small.map((k) => step(`skipWhile(< ${k * 3})`, () => skipWhile((n) => n < k * 3))),
  small.map((k) => step(`skipLast(${k})`, () => skipLast(k))),
  fc.constant(step('distinctUntilChanged', () => distinctUntilChanged())),
  small.map((k) =>
    step(`distinctUntilChanged(by ${k + 1})`, () =>
      distinctUntilChanged(
        (a: number, b: number) => a > b,
        (n) => n % (k + 1),
      ),
    ),
  ),
  small.map((k) => step(`distinct(%${k * 3 + 2})`, () => distinct((n) => n % (k * 3 + 2)))),
  fc.constant(step('pairwise', () => flat(pairwise()))),
  fc
    .tuple(small, small)
    .map(([size, every]) => step(`bufferCount(${size}, ${every + 1})`, () => flat(bufferCount(size, every + 1)))),
  small.map((k) => step(`endWith(${k} values)`, () => endWith(...countdown(k)))),
  small.map((k) => step(`defaultIfEmpty(${k})`, () => defaultIfEmpty(k))),
);

/** Steps that end a stream, throw, or emit when it has ended. */
const endingStep: fc.Arbitrary<StepSample> = fc.oneof(
  fc.constant(step('first', () => first())),
  small.map((k) => step(`first(> ${k * 2}, ${k})`, () => first((n) => n > k * 2, k))),
  fc.constant(step('last', () => last())),
  small.map((k) => step(`last(< ${k * 2}, ${k})`, () => last((n) => n < k * 2, k))),
  small.map((k) => step(`elementAt(${k})`, () => elementAt(k))),
  small.map((k) => step(`elementAt(${k}, -1)`, () => elementAt(k, -1))),
  fc.constant(step('throwIfEmpty', () => throwIfEmpty())),
  small.map((k) => step(`every(< ${k * 3})`, () => numbers(every((n) => n < k * 3)))),
  small.map((k) => step(`find(> ${k * 3})`, () => numbers(find((n) => n > k * 3)))),
  small.map((k) => step(`findIndex(> ${k * 3})`, () => findIndex((n) => n > k * 3))),
  fc.constant(step('isEmpty', () => numbers(isEmpty()))),
  fc.constant(step('min', () => min())),
  fc.constant(step('max', () => max((a, b) => (a % 5) - (b % 5)))),
  small.map((k) => step(`takeLast(${k})`, () => takeLast(k))),
  fc.constant(step('reduce', () => reduce(sum))),
  small.map((k) => step(`reduce(${k})`, () => reduce(sum, k))),
  fc.constant(step('count', () => count())),
  fc.constant(
    step(
      'toArray',
      () => (s) =>
        s.pipe(
          toArray(),
          mergeMap((all) => all),
        ),
    ),
  ),
  fc.constant(step('ignoreElements', () => ignoreElements())),
  small.map((k) => step(`throws at ${k}`, () => map(throwsAt(k)))),
);

const opaqueStep: fc.Arbitrary<StepSample> = fc.oneof(
  small.map((k) => step(`endWith(${k}) of RxJS`, () => rx.endWith(k, k + 1))),
  fc.constant(step('distinctUntilChanged of RxJS', () => rx.distinctUntilChanged())),
  fc.constant(step('pairwise of RxJS', () => flat(rx.pairwise()))),
  fc.constant(step('catchError', () => catchError(() => [-1, -2]))),
);

function pipelines(one: fc.Arbitrary<StepSample>, depth: number): fc.Arbitrary<Pipeline> {
  const steps = fc.array(one, { maxLength: 4 });
  if (depth === 0) return fc.record({ steps });
  const part = pipelines(one, depth - 1);
  const fork = fc.option(fc.record({ left: part, right: part, behind: part }), { nil: undefined, freq: 2 });
  return fc.record({ steps, fork });
}

export const loweredPipeline: fc.Arbitrary<Pipeline> = pipelines(
  fc.oneof(
    { arbitrary: loweredStep, weight: 12 },
    { arbitrary: endingStep, weight: 2 },
    { arbitrary: fc.constant(step('take(0)', () => take(0))), weight: 1 },
    { arbitrary: small.map((k) => step(`startWith(${k} values)`, () => startWith(...countdown(k)))), weight: 1 },
  ),
  2,
);
/** Without take(0) and startWith: forks of what emits while it is being subscribed start in another order than connect() does. */
export const mixedPipeline: fc.Arbitrary<Pipeline> = pipelines(
  fc.oneof(
    { arbitrary: loweredStep, weight: 6 },
    { arbitrary: endingStep, weight: 1 },
    { arbitrary: opaqueStep, weight: 2 },
  ),
  2,
);

function applied(s: Observable<number>, { steps }: Pipeline): Observable<number> {
  return steps.reduce((stream, { make }) => stream.pipe(make()), s);
}

function recorded(s: Observable<number>, pipeline: Pipeline): Observable<number> {
  const stream = applied(s, pipeline);
  if (pipeline.fork === undefined) return stream;
  const { left, right, behind } = pipeline.fork;
  return recorded(union(recorded(stream, left), recorded(stream, right)), behind);
}

function modelled(s: Observable<number>, pipeline: Pipeline): Observable<number> {
  const stream = applied(s, pipeline);
  if (pipeline.fork === undefined) return stream;
  const { left, right, behind } = pipeline.fork;
  return modelled(stream.pipe(connect((shared) => union(modelled(shared, left), modelled(shared, right)))), behind);
}

/** The build that a topology records. */
export function buildOf(pipeline: Pipeline): Build {
  return ofNumbers((s) => recorded(s, pipeline));
}

/** The same in RxJS: outside a build the menu is RxJS. */
export function modelOf(pipeline: Pipeline): Build {
  return ofNumbers((s) => modelled(s, pipeline));
}
