/** distinctByKey against a list of keys: inline, in the loop, under random weather, and on threads. */

import fc from 'fast-check';
import { createRuntime } from 'millrace';
import * as built from 'millrace/testing';
import * as rx from 'rxjs';
import { type Observable, Subject } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { countByKey, distinctByKey, map, mergeMap, take } from '../../operators/index.js';
import { keyBy } from '../../operators/keyBy.js';
import { canonicalKey } from '../../runtime/hash.js';
import { captured } from '../../src/testing/captured.js';
import { valuesOf } from '../threads/fixtures/observe.js';
import { firsts } from '../threads/fixtures/perValue.js';
import { Bench, type Build, ofNumbers, refusal, said } from './harness.js';

type Numbers = Observable<number>;

/** Keys that are equal in pairs, and some that only look so. */
const key = fc.constantFrom<unknown>(
  0,
  -0,
  '0',
  0n,
  Number.NaN,
  null,
  undefined,
  false,
  [1, 'a'],
  [1, 'b'],
  { a: 1, b: 2 },
  {
    b: 2,
    a: 1,
  },
  new Date(0),
  '',
  1,
);
const keys = fc.array(key, { maxLength: 30 });
const rooms = fc.array(fc.boolean(), { minLength: 1, maxLength: 9 });

/** Indices of the keys that come for the first time. */
function firstOf(all: readonly unknown[]): readonly number[] {
  const seen: unknown[] = [];
  return all.flatMap((one, n) => {
    const canonical = canonicalKey(one);
    if (seen.some((other) => Object.is(other, canonical))) return [];
    seen.push(canonical);
    return [n];
  });
}

function inLoop(build: Build, count: number, bits: readonly boolean[]): Bench {
  let turn = 0;
  const bench = new Bench(build, {
    segment: 'keyBy-1',
    onOutput: (host) => {
      host.room = bits[turn++ % bits.length] as boolean;
    },
  });
  bench.push(...Array.from({ length: count }, (_, n) => n)).complete();
  while (!bench.room) bench.grant();
  return bench;
}

describe('the first value of each key', () => {
  test('law: passes, inline and in the loop, whenever the executor stops', () => {
    fc.assert(
      fc.property(keys, rooms, (all, bits) => {
        const build = (s: Numbers): Numbers =>
          s.pipe(
            keyBy((n) => all[n]),
            distinctByKey(),
          );
        expect(captured(build(rx.range(0, all.length)))).toEqual({ values: firstOf(all), end: 'complete' });
        const bench = inLoop(ofNumbers(build), all.length, bits);
        expect([bench.values(), bench.end()]).toEqual([firstOf(all), 'complete']);
      }),
      { numRuns: 200 },
    );
  });

  test('law: it is that of distinct with the same selector, for keys that are scalars', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 })), (values) => {
        const byKey = rx.from(values).pipe(
          keyBy((n) => n % 4),
          distinctByKey(),
        );
        expect(captured(byKey)).toEqual(captured(rx.from(values).pipe(rx.distinct((n) => n % 4))));
      }),
    );
  });

  test('what passes keeps its key, and steps before it may make several values of one', () => {
    const build = (s: Numbers): unknown =>
      s.pipe(
        keyBy((n) => n % 3),
        mergeMap((n) => [n, n + 100]),
        distinctByKey(),
        countByKey(),
        map(([key, count]) => `${key}:${count}`),
      );
    expect(inLoop(ofNumbers(build), 9, [true]).values()).toEqual(['0:1', '1:1', '2:1']);
    expect(captured(build(rx.range(0, 9)) as Observable<string>).values).toEqual(['0:1', '1:1', '2:1']);
  });

  test('each subscription, and each executor, begins anew', () => {
    const twice = rx.of(1, 1).pipe(
      keyBy((n) => n),
      distinctByKey(),
    );
    expect([captured(twice).values, captured(twice).values]).toEqual([[1], [1]]);
    const build = ofNumbers((s) =>
      s.pipe(
        keyBy(() => 0),
        distinctByKey(),
      ),
    );
    expect([inLoop(build, 3, [true]).values(), inLoop(build, 3, [true]).values()]).toEqual([[0], [0]]);
  });

  test('an early end lets go of the source, an error passes', () => {
    const input = new Subject<number>();
    const got = captured(
      input.pipe(
        keyBy((n) => n),
        distinctByKey(),
        take(2),
      ),
    );
    for (const n of [1, 1, 2]) input.next(n);
    expect([got, input.observed]).toEqual([{ values: [1, 2], end: 'complete' }, false]);
    const bench = new Bench(
      ofNumbers((s) =>
        s.pipe(
          keyBy((n) => n),
          distinctByKey(),
        ),
      ),
      { segment: 'keyBy-1' },
    );
    expect(bench.push(1, 1).error('gone').end()).toBe('gone');
    expect(bench.values()).toEqual([1]);
  });

  test('without a key it is refused: inline with ERR_KEY_LOST, while planning with ERR_SCOPE', () => {
    expect(said((captured(rx.of(1).pipe(distinctByKey())).end as { error: unknown }).error)).toBe('ERR_KEY_LOST');
    const build = ofNumbers((s) => s.pipe(distinctByKey()));
    expect(refusal(() => new Bench(build))).toMatchObject({ code: 'ERR_SCOPE', operator: 'distinctByKey' });
  });

  test('it hands values on unchanged: order of each key lasts to a keyBy by the same function', () => {
    const selector = (n: number): number => n % 2;
    const { plan } = new Bench(
      ofNumbers((s) =>
        s.pipe(
          keyBy(selector, { parallelism: 2 }),
          distinctByKey(),
          keyBy(selector, { parallelism: 2 }),
          map((n) => n),
        ),
      ),
    );
    expect(plan.exchanges.map(({ name, order }) => `${name} ${order}`)).toContain('keyBy-2 key');
  });
});

describe('over several executors', () => {
  const runtime = createRuntime({ threads: 2 });
  afterAll(() => runtime.close());

  test('law: under random weather each key comes once, by its first value', () => {
    const inputs = fc.array(fc.tuple(fc.nat(20), fc.nat(99)), { maxLength: 40 });
    fc.assert(
      fc.property(inputs, fc.integer({ min: 1, max: 7 }), built.arbitrary.seed(), (timed, modulus, seed) => {
        const values = [...timed].sort(([a], [b]) => a - b);
        const { outputs, end } = built.simulate(firsts, { input: { values }, args: modulus, seed });
        const model = new Map<number, number>();
        for (const [, value] of values) if (!model.has(value % modulus)) model.set(value % modulus, value);
        const found = (outputs['output'] ?? []).map(([, value]) => value);
        expect([end, found.sort()]).toEqual(['complete', [...model.values()].sort()]);
      }),
      { numRuns: 100 },
    );
  });

  test('on threads', { timeout: 20_000 }, async () => {
    const found = await valuesOf(rx.range(0, 5_000).pipe(firsts({ runtime, args: 50 })));
    expect(found.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });
});
