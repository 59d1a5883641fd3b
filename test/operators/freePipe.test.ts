/** The free pipe(): what the one of RxJS can record, what it cannot, and that the menu's records everything. */

import type { Observable } from 'rxjs';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { map, pipe } from '../../operators/index.js';
import { shuffle } from '../../operators/shuffle.js';
import type { StepPlan } from '../../runtime/plan.js';
import { Bench, ofNumbers, refusal } from './harness.js';

type Numbers = Observable<number>;
type Operator = rx.OperatorFunction<number, number>;

const handWritten: Operator = (s) => new rx.Observable((subscriber) => s.subscribe(subscriber));
/** Operators that hide where their stream comes from. */
const hiding: readonly (readonly [string, () => Operator])[] = [
  ['a hand-written operator', () => handWritten],
  ['endWith', () => rx.endWith(1)],
  ['(s) => concat(s, x)', () => (s) => rx.concat(s, rx.of(1))],
  ['(s) => merge(s, x)', () => (s) => rx.merge(s, rx.of(1))],
  ['onErrorResumeNextWith', () => rx.onErrorResumeNextWith(rx.of(1))],
  ['delayWhen with a subscription delay', () => rx.delayWhen(() => rx.timer(0), rx.timer(0))],
  ['publish and refCount', () => rx.pipe(rx.publish(), rx.refCount())],
  ['publishBehavior and refCount', () => rx.pipe(rx.publishBehavior(0), rx.refCount())],
  ['publishReplay and refCount', () => rx.pipe(rx.publishReplay(1), rx.refCount())],
  ['publishLast and refCount', () => rx.pipe(rx.publishLast(), rx.refCount())],
  [
    'multicast and refCount',
    () =>
      rx.pipe(
        rx.multicast(() => new rx.Subject<number>()),
        rx.refCount(),
      ),
  ],
];

/** The steps of each segment of the plan. */
function segments(build: (s: Numbers) => unknown): Readonly<Record<string, readonly StepPlan[]>> {
  const { plan } = new Bench(ofNumbers(build));
  return Object.fromEntries(plan.segments.map(({ name, steps }) => [name, steps]));
}

describe("RxJS's pipe", () => {
  test('law: operators made by lift are recorded, each as a step', () => {
    const operator = rx.pipe(
      rx.map((n: number) => n),
      rx.bufferCount(2),
      rx.mergeMap((n) => n),
      shuffle(),
    );
    expect(segments((s) => s.pipe(operator, map(String)))).toMatchObject({
      input: [{ opaque: true }, { opaque: true }, { opaque: true }],
      'shuffle-1': [{ name: 'map(…)' }],
    });
  });

  test.each(hiding)('%s before a cut is refused, never lost', (_, make) => {
    const error = refusal(() => segments((s) => s.pipe(rx.pipe(make(), shuffle()))));
    expect([error.code, error.operator]).toEqual(['ERR_FLOW_LOST', 'shuffle()']);
    expect(error.at).toMatch(/freePipe\.test\.ts:\d+/);
    expect(error.message).toMatch(/to \.pipe\(\) one by one.*pipe\(\) of millrace\/operators/);
  });

  test.each(hiding)('%s alone in .pipe() is one step', (_, make) => {
    expect(segments((s) => s.pipe(make(), shuffle()))).toMatchObject({ input: [{ opaque: true }], 'shuffle-1': [] });
  });
});

describe('the pipe of the menu', () => {
  test.each(hiding)('law: %s before a cut is recorded', (_, make) => {
    const steps = { input: [{ name: 'map(…)' }, { opaque: true }], 'shuffle-1': [{ name: 'map(…)' }] };
    const twice = map((n: number) => n * 2);
    expect(segments((s) => s.pipe(pipe(twice, make(), shuffle(), twice)))).toMatchObject(steps);
  });

  test('outside a build it is the pipe of RxJS', () => {
    const seen: unknown[] = [];
    const operator = pipe(
      map((n: number) => n + 1),
      shuffle(),
      handWritten,
      map(String),
    );
    operator(rx.of(1, 2)).subscribe((n) => seen.push(n));
    expect(seen).toEqual(['2', '3']);
    expect(pipe()(7)).toBe(7);
  });
});

describe('publish and its kin', () => {
  const kinds: readonly (readonly [string, (s: Numbers) => Numbers])[] = [
    ['publish, refCount', (s) => s.pipe(rx.publish(), rx.refCount())],
    ['multicast(subject), refCount', (s) => s.pipe(rx.multicast(new rx.Subject<number>()), rx.refCount())],
    ['in a pipe of RxJS', (s) => s.pipe(rx.pipe(rx.publish(), rx.refCount()))],
    ['in a pipe of the menu', (s) => s.pipe(pipe(rx.publish(), rx.refCount()))],
    [
      'publish(selector)',
      (s) => s.pipe(rx.publish((shared) => rx.merge(shared.pipe(rx.take(1)), shared.pipe(rx.skip(1))))),
    ],
  ];
  test.each(kinds)('law: what stands before %s stays part of the plan', (_, use) => {
    const twice = map((n: number) => n * 2);
    const bench = new Bench(ofNumbers((s) => use(s.pipe(twice)).pipe(twice))).push(1, 2, 3).complete();
    expect(bench.plan.segments.map(({ steps }) => steps.map(({ opaque }) => opaque))).toEqual([[false, true, false]]);
    expect([bench.values(), bench.end()]).toEqual([[4, 8, 12], 'complete']);
  });
});
