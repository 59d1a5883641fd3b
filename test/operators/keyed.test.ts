/** The laws of keyed steps: inline, in the loop and a list of pairs say the same; the key goes with its value, or is known to be lost. */

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import * as rx from 'rxjs';
import { type Observable, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import {
  concatMap,
  countByKey,
  filter,
  map,
  mergeMap,
  pipe,
  reduceByKey,
  scanByKey,
  tap,
} from '../../operators/index.js';
import { keyBy } from '../../operators/keyBy.js';
import { union } from '../../operators/union.js';
import { Bench, ofNumbers } from './harness.js';

type Numbers = Observable<number>;
type Pair = readonly [unknown, unknown];

/** Keys of all kinds; fast-check draws equal ones often. */
const scalar = fc.oneof(
  fc.integer({ min: -1, max: 2 }),
  fc.constantFrom(0, -0, Number.NaN, 1.5, '', 'a', '0', '\0a', 0n, 1n, true, false, null, undefined),
);
const composite = fc.oneof(
  fc.array(scalar, { maxLength: 2 }),
  fc.constantFrom(0, 1).map((ms) => new Date(ms)),
  fc.array(fc.nat({ max: 1 }), { maxLength: 2 }).map((bytes) => Uint8Array.from(bytes)),
  fc.record({ a: scalar, b: fc.array(scalar, { maxLength: 1 }) }, { requiredKeys: [], noNullPrototype: true }),
  fc.constantFrom({ a: 1, b: 2 }, { b: 2, a: 1 }),
);
const key = fc.oneof(scalar, composite);

/** -0 is 0. */
function plainZero(value: unknown): unknown {
  if (value === 0) return 0;
  if (Array.isArray(value)) return value.map(plainZero);
  if (typeof value !== 'object' || value === null || value instanceof Date || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plainZero(part)]));
}

/** A list of pairs, searched by deep equality. */
class Model {
  readonly pairs: { readonly key: unknown; state: readonly number[] }[] = [];

  add(found: unknown, value: number): Pair {
    let pair = this.pairs.find((one) => isDeepStrictEqual(plainZero(one.key), plainZero(found)));
    if (pair === undefined) {
      pair = { key: found, state: [] };
      this.pairs.push(pair);
    }
    pair.state = [...pair.state, value];
    return [pair.key, pair.state];
  }
}

const collected = (acc: readonly number[], value: number): readonly number[] => [...acc, value];
const empty = (): readonly number[] => [];

/** Runs a build that starts with keyBy: inline, and as its keyed segment, stopping as `rooms` say. */
function both(
  build: (s: Numbers) => unknown,
  inputs: readonly number[],
  rooms: readonly boolean[],
): readonly unknown[][] {
  const inline: unknown[] = [];
  (build(rx.from(inputs)) as Observable<unknown>).subscribe((value) => inline.push(value));
  let turn = 0;
  const bench = new Bench(ofNumbers(build), {
    segment: 'keyBy-1',
    onOutput: (host) => {
      host.room = rooms[turn++ % rooms.length] as boolean;
    },
  });
  bench.push(...inputs).complete();
  while (!bench.room) bench.grant();
  expect(bench.end()).toBe('complete');
  return [inline, bench.values()];
}

const keys = fc.array(key, { minLength: 1, maxLength: 12 });
const rooms = fc.array(fc.boolean(), { minLength: 1, maxLength: 9 });

describe('state per key', () => {
  const indices = (all: readonly unknown[]): number[] => [...all.keys()];

  test('law: scanByKey inline, in the loop and in the model are equal', () => {
    fc.assert(
      fc.property(keys, rooms, (all, bits) => {
        const model = new Model();
        const expected = all.map((one, n) => model.add(one, n));
        const build = (s: Numbers): unknown =>
          s.pipe(
            keyBy((n) => all[n]),
            scanByKey(collected, empty),
          );
        for (const values of both(build, indices(all), bits)) expect(values).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  test('law: reduceByKey gives the last states, in the order in which keys were first seen', () => {
    fc.assert(
      fc.property(keys, rooms, (all, bits) => {
        const model = new Model();
        for (const [n, one] of all.entries()) model.add(one, n);
        const build = (s: Numbers): unknown =>
          s.pipe(
            keyBy((n) => all[n]),
            reduceByKey(collected, empty),
          );
        const expected = model.pairs.map((pair) => [pair.key, pair.state]);
        for (const values of both(build, indices(all), bits)) expect(values).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  test('law: countByKey counts', () => {
    fc.assert(
      fc.property(keys, rooms, (all, bits) => {
        const model = new Model();
        const expected = all.map((one, n) => [model.add(one, n)[0], (model.add(one, n)[1] as number[]).length / 2]);
        const build = (s: Numbers): unknown =>
          s.pipe(
            keyBy((n) => all[n]),
            countByKey(),
          );
        for (const values of both(build, indices(all), bits)) expect(values).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });

  test('the seed is made per key, and the accumulator gets the key', () => {
    const seen: unknown[] = [];
    const build = (s: Numbers): unknown =>
      s.pipe(
        keyBy((n) => n % 2),
        scanByKey(
          (acc: string, n, k) => {
            seen.push(k);
            return `${acc}${n}`;
          },
          (k) => `${k}:`,
        ),
      );
    for (const values of both(build, [1, 2, 3], [true])) {
      expect(values).toEqual([
        [1, '1:1'],
        [0, '0:2'],
        [1, '1:13'],
      ]);
    }
    expect(seen).toEqual([1, 0, 1, 1, 0, 1]);
  });
});

describe('the key goes with its value', () => {
  const between: fc.Arbitrary<rx.OperatorFunction<number, number>> = fc.constantFrom<
    rx.OperatorFunction<number, number>
  >(
    map((n) => n + 100),
    filter((n) => n % 3 !== 0),
    mergeMap((n) => [n, n + 1, n + 2]),
    concatMap((n) => new Set([n, n + 7])),
    tap(() => {}),
    pipe(
      mergeMap((n: number) => [n, n]),
      filter((n) => n % 2 === 0),
    ),
  );

  test('law: through value-scoped steps of the loop, whenever the executor stops', () => {
    fc.assert(
      fc.property(keys, rooms, fc.array(between, { maxLength: 4 }), (all, bits, steps) => {
        const through = (s: Numbers): Numbers => steps.reduce((stream, step) => stream.pipe(step), s);
        const model = new Model();
        const expected: Pair[] = [];
        for (const [n, one] of all.entries()) {
          through(rx.of(n)).subscribe((value) => expected.push(model.add(one, value)));
        }
        const build = (s: Numbers): unknown =>
          through(s.pipe(keyBy((n) => all[n]))).pipe(
            scanByKey(collected, empty),
            mergeMap((pair) => [pair]),
          );
        for (const values of both(build, [...all.keys()], bits)) expect(values).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  test('law: the results of reduceByKey have their key for the keyed steps behind', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 })), rooms, (values, bits) => {
        const build = (s: Numbers): unknown =>
          s.pipe(
            keyBy((n) => n % 3),
            reduceByKey(
              (sum: number, n) => sum + n,
              () => 0,
            ),
            mergeMap(([, sum]) => [sum, -sum]),
            scanByKey((acc: readonly number[], n) => [...acc, n], empty),
          );
        const sums = new Map<number, number>();
        for (const n of values) sums.set(n % 3, (sums.get(n % 3) ?? 0) + n);
        const expected = [...sums].flatMap(([k, sum]) => [
          [k, [sum]],
          [k, [sum, -sum]],
        ]);
        for (const got of both(build, values, bits)) expect(got).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });

  test('law: what comes in from aside meanwhile does not take the key of a suspended value', () => {
    const aside = new Subject<number>();
    const build = ofNumbers((s) => {
      const keyed = s.pipe(keyBy((n) => n));
      return {
        counts: keyed.pipe(
          mergeMap((n) => [n, n, n]),
          countByKey(),
        ),
        aside: keyed.pipe((from) => rx.merge(from.pipe(rx.ignoreElements()), aside)),
      };
    });
    const bench = new Bench(build, {
      segment: 'keyBy-1',
      onOutput: (host) => {
        host.room = false;
      },
    });
    bench.push(7);
    for (let n = 0; n < 4; n++) {
      aside.next(n);
      bench.grant();
    }
    expect(bench.end()).toBeUndefined();
    expect(bench.values('counts')).toEqual([
      [7, 1],
      [7, 2],
      [7, 3],
    ]);
    expect(bench.values('aside')).toEqual([0, 1, 2, 3]);
  });

  test('a value that waits for an inner before it has it', () => {
    const build = ofNumbers((s) => {
      const keyed = s.pipe(keyBy((n) => n));
      return keyed.pipe(
        concatMap((n) => (n === 0 ? keyed.pipe(rx.take(1), rx.ignoreElements()) : [n])),
        countByKey(),
      );
    });
    const bench = new Bench(build, { segment: 'keyBy-1' }).push(0, 1, 2);
    expect([bench.values(), bench.end()]).toEqual([
      [
        [1, 1],
        [2, 1],
      ],
      undefined,
    ]);
  });

  test('each branch of a fork has it', () => {
    const build = (s: Numbers): unknown => {
      const keyed = s.pipe(keyBy((n) => n % 2));
      return union(
        keyed.pipe(countByKey()),
        keyed.pipe(
          map((n) => n * 10),
          countByKey(),
        ),
      );
    };
    const [, values] = both((s) => build(s.pipe(rx.share())), [1, 2, 3], [false, true]);
    expect(values).toEqual([
      [1, 1],
      [1, 1],
      [0, 1],
      [0, 1],
      [1, 2],
      [1, 2],
    ]);
  });
});
