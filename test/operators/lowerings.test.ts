/** Operators as steps of the loop: argument by argument what RxJS does, which uses are left to it, and what re-enters. */

import fc from 'fast-check';
import type { Observable, OperatorFunction } from 'rxjs';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import * as menuModule from '../../operators/index.js';
import { Bench, type Build, ofNumbers, Plain, seen } from './harness.js';

type Rx = typeof rx;
type Use = (o: Rx) => OperatorFunction<number, unknown>;
type Predicate = (n: number, index: number) => boolean;

const menu = menuModule as unknown as Rx;
const numRuns = process.env['MILLRACE_LONG'] === '1' ? 5_000 : 60;

const small = fc.integer({ min: -1, max: 4 });
const values = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 10 });
const ending = fc.constantFrom('complete', 'error', 'open');

/** By value, by index, always, never, and throwing at a value or an index. */
const predicate: fc.Arbitrary<Predicate> = small.chain((k) =>
  fc.constantFrom<Predicate>(
    (n) => n > k,
    (n) => n % 3 === k,
    (_, i) => i === k,
    (n, i) => n < i,
    () => k > 1,
    (n) => (n === k ? thrown() : false),
    (_, i) => (i === k ? thrown() : true),
  ),
);
const compare = fc.constantFrom<(a: number, b: number) => boolean>(
  (a, b) => a > b,
  (a, b) => a % 3 === b % 3,
  (a) => (a === 2 ? thrown() : false),
);
const key = fc.constantFrom<(n: number) => unknown>(
  (n) => n % 3,
  (n) => (n > 3 ? Number.NaN : n),
  (n) => (n === 5 ? thrown() : null),
);
const order = fc.constantFrom<(a: number, b: number) => number>(
  (a, b) => b - a,
  (a, b) => (a % 3) - (b % 3),
  () => Number.NaN,
  (a) => (a === 4 ? thrown() : 1),
);

function thrown(): never {
  throw 'thrown';
}

const uses: Readonly<Record<string, fc.Arbitrary<Use>>> = {
  skipWhile: predicate.map((p) => (o) => o.skipWhile(p)),
  first: fc.oneof(
    fc.constant<Use>((o) => o.first()),
    predicate.map<Use>((p) => (o) => o.first(p)),
    predicate.map<Use>((p) => (o) => o.first(p, undefined)),
    small.map<Use>((k) => (o) => o.first(null, k)),
  ),
  last: fc.oneof(
    fc.constant<Use>((o) => o.last()),
    predicate.map<Use>((p) => (o) => o.last(p)),
    predicate.map<Use>((p) => (o) => o.last(p, undefined)),
    small.map<Use>((k) => (o) => o.last(null, k)),
  ),
  elementAt: fc.oneof(
    fc.nat({ max: 4 }).map<Use>((k) => (o) => o.elementAt(k)),
    fc.constantFrom(0, 1.5, 3, Number.NaN).map<Use>((k) => (o) => o.elementAt(k, undefined)),
  ),
  distinctUntilChanged: fc.oneof(
    fc.constant<Use>((o) => o.distinctUntilChanged()),
    compare.map<Use>((c) => (o) => o.distinctUntilChanged(c)),
    key.map<Use>((k) => (o) => o.distinctUntilChanged((a, b) => a === b, k)),
  ),
  distinctUntilKeyChanged: compare.map((c) => (o) => (s) => {
    const members = o.map((n: number) => (n === 6 ? (null as never) : { n }));
    return s.pipe(members, o.distinctUntilKeyChanged('n', c));
  }),
  distinct: fc.oneof(
    fc.constant<Use>((o) => o.distinct()),
    key.map<Use>((k) => (o) => o.distinct(k)),
  ),
  pairwise: fc.constant((o) => o.pairwise()),
  startWith: values.map((list) => (o) => o.startWith(...list)),
  endWith: values.map((list) => (o) => o.endWith(...list)),
  defaultIfEmpty: fc.constantFrom(undefined, 7).map((k) => (o) => o.defaultIfEmpty(k)),
  throwIfEmpty: fc.constantFrom<Use>(
    (o) => o.throwIfEmpty(),
    (o) => o.throwIfEmpty(() => 'none'),
    (o) => o.throwIfEmpty(thrown),
  ),
  bufferCount: fc.oneof(
    small.map<Use>((size) => (o) => o.bufferCount(size)),
    fc.tuple(small, small).map<Use>(
      ([size, every]) =>
        (o) =>
          o.bufferCount(size, every),
    ),
  ),
  every: predicate.map((p) => (o) => o.every(p)),
  find: predicate.map((p) => (o) => o.find(p)),
  findIndex: predicate.map((p) => (o) => o.findIndex(p)),
  isEmpty: fc.constant((o) => o.isEmpty()),
  min: fc.oneof(
    fc.constant<Use>((o) => o.min()),
    order.map<Use>((by) => (o) => o.min(by)),
  ),
  max: fc.oneof(
    fc.constant<Use>((o) => o.max()),
    order.map<Use>((by) => (o) => o.max(by)),
  ),
  takeLast: fc.oneof(small, fc.constant(1.5)).map((k) => (o) => o.takeLast(k)),
  skipLast: fc.oneof(small, fc.constant(1.5)).map((k) => (o) => o.skipLast(k)),
};

type Part = (o: Rx) => OperatorFunction<never, unknown>;
const around: fc.Arbitrary<Part> = fc.constantFrom<Part>(
  (o) => o.map((value) => value),
  (o) => o.mergeMap((value) => [value, value]),
  (o) => o.take(3),
  (o) => o.take(0),
  (o) => o.filter((value) => value !== 1),
  (o) => o.endWith(4, 5),
  () => rx.map((value) => value),
);

interface Driving {
  readonly before: Part;
  readonly use: Use;
  readonly behind: Part;
  readonly inputs: readonly number[];
  readonly end: string;
}

function driving(use: fc.Arbitrary<Use>): fc.Arbitrary<Driving> {
  return fc.record({ before: around, use, behind: around, inputs: values, end: ending });
}

function drive(driven: Bench | Plain, { inputs, end }: Driving): void {
  driven.push(...inputs);
  if (end === 'complete') driven.complete();
  else if (end === 'error') driven.error('the source failed');
}

/** The build with the operators of `o`; what comes out sends so many values in again, from where 0 subscribed to them. */
function buildOf({ before, use, behind }: Driving, o: Rx, again: number): Build {
  return ofNumbers((s: Observable<number>) => {
    const side = new rx.Subject<number>();
    let left = again;
    return s.pipe(
      o.mergeMap((n) => (n === 0 && again > 0 ? side : [n])),
      before(o) as OperatorFunction<number, number>,
      use(o) as OperatorFunction<number, never>,
      behind(o),
      o.tap(() => {
        if (left-- > 0) side.next(left + 1);
      }),
    );
  });
}

describe.each(Object.entries(uses))('law: %s in the loop is that of RxJS', (_, use) => {
  test('whenever the executor stops', () => {
    fc.assert(
      fc.property(driving(use), fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }), (how, rooms) => {
        const plain = new Plain(buildOf(how, rx, 0));
        drive(plain, how);
        let outputs = 0;
        const bench = new Bench(buildOf(how, menu, 0), {
          onOutput: (host) => {
            host.room = rooms[outputs++ % rooms.length] as boolean;
          },
        });
        drive(bench, how);
        while (!bench.room) bench.grant();
        expect(seen(bench.log)).toEqual(seen(plain.log));
      }),
      { numRuns },
    );
  });

  test('with values that re-enter while others are handed over', () => {
    fc.assert(
      fc.property(driving(use), fc.integer({ min: 1, max: 4 }), (how, again) => {
        const run = { ...how, inputs: [0, ...how.inputs] };
        const plain = new Plain(buildOf(run, rx, again));
        drive(plain, run);
        const bench = new Bench(buildOf(run, menu, again));
        drive(bench, run);
        expect(seen(bench.log)).toEqual(seen(plain.log));
      }),
      { numRuns },
    );
  });
});

/** Whether the last step of the plan is opaque. */
function isOpaque(use: Use): boolean {
  const { plan } = new Bench(ofNumbers((s: Observable<number>) => s.pipe(use(menu))));
  return plan.segments[0]?.steps.at(-1)?.opaque === true;
}

const asking = (n: number, _: number, source: unknown): boolean => n > 0 && source !== undefined;
const leftToRxjs: readonly (readonly [string, Use])[] = [
  ['startWith with a scheduler', (o) => o.startWith(1, rx.queueScheduler)],
  ['endWith with a scheduler', (o) => o.endWith(1, rx.queueScheduler)],
  ['distinct with flushes', (o) => o.distinct(undefined, rx.NEVER)],
  ['first that asks for the source', (o) => o.first(asking)],
  ['last that asks for the source', (o) => o.last(asking)],
  ['every that asks for the source', (o) => o.every(asking)],
  ['find that asks for the source', (o) => o.find(asking)],
  ['findIndex that asks for the source', (o) => o.findIndex(asking)],
];
test.each(leftToRxjs)('%s is opaque', (_, use) => {
  expect(isOpaque(use)).toBe(true);
});

test.each(Object.entries(uses))('%s is a step of the loop', (_, use) => {
  for (const one of fc.sample(use, 20)) expect(isOpaque(one)).toBe(false);
});

test('endWith, takeLast and startWith stop between two of their values', () => {
  const ofThree: readonly Use[] = [
    (o) => o.endWith(7, 8, 9),
    (o) => o.takeLast(3),
    (o) => o.startWith(7, 8, 9),
    (o) => o.bufferCount(3, 1),
  ];
  for (const use of ofThree) {
    const sizes: number[] = [];
    const bench = new Bench(
      ofNumbers((s: Observable<number>) => s.pipe(use(menu))),
      {
        onOutput: (host) => {
          host.room = false;
        },
      },
    );
    bench.push(1, 2, 3).complete();
    for (; !bench.room; bench.grant()) sizes.push(bench.values().length);
    expect(sizes).toEqual([...sizes.keys()].map((turn) => turn + 1));
    expect([sizes.length, bench.end()]).toEqual([use === ofThree[1] || use === ofThree[3] ? 3 : 6, 'complete']);
  }
});

test('without a match, first and last fail with the EmptyError of RxJS, elementAt with its ArgumentOutOfRangeError', () => {
  const reasonOf = (use: Use): unknown => new Bench(ofNumbers((s) => s.pipe(use(menu)))).push(1).complete().end();
  expect(reasonOf((o) => o.first((n) => n > 1))).toBeInstanceOf(rx.EmptyError);
  expect(reasonOf((o) => o.last((n) => n > 1))).toBeInstanceOf(rx.EmptyError);
  expect(reasonOf((o) => o.elementAt(1))).toBeInstanceOf(rx.ArgumentOutOfRangeError);
  expect(() => menu.elementAt(-1)).toThrow(rx.ArgumentOutOfRangeError);
});
