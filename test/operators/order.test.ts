/** The order a plan promises at every exchange, and that runs keep it. */

import fc from 'fast-check';
import type { Observable } from 'rxjs';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { filter, map, perExecutor, skip, tap } from '../../operators/index.js';
import { broadcast, gather, keyBy, pull, route, shuffle, spreadKey, union } from '../../src/index.js';
import { made, run } from './planned.js';

type Numbers = Observable<number>;
type Build = (s$: Numbers) => unknown;

const by2 = (n: number): number => n % 2;
const by3 = (n: number): number => n % 3;
const two = { parallelism: 2 };
const plus1 = map((n: number) => n + 1);

function orders(build: Build): Readonly<Record<string, string>> {
  return Object.fromEntries(
    made(build)
      .describe({ threads: 0 })
      .exchanges.map(({ name, order }) => [name, order]),
  );
}

describe('order: total', () => {
  test.each<[string, Build, Readonly<Record<string, string>>]>([
    ['the input', (s$) => s$, { input: 'total', output: 'total' }],
    ['caller → keyBy', (s$) => s$.pipe(keyBy(by2, two)), { 'keyBy-1': 'total', output: 'key' }],
    [
      'segments of one executor',
      (s$) => s$.pipe(plus1, shuffle(), keyBy(by2), gather(), plus1),
      { input: 'total', 'shuffle-1': 'total', 'keyBy-2': 'total', 'gather-3': 'total', output: 'total' },
    ],
    ['pull → map → keyBy', () => pull(() => [1]).pipe(plus1, keyBy(by2, two)), { 'keyBy-1': 'total', output: 'key' }],
    [
      'a union within one segment',
      (s$) => s$.pipe(shuffle(), (t$) => union(t$, t$.pipe(plus1)), keyBy(by2)),
      { 'shuffle-1': 'total', 'keyBy-2': 'total', output: 'total' },
    ],
    [
      'caller → shuffle(2), route(2), broadcast(2)',
      (s$) => ({ a: s$.pipe(shuffle(two)), b: s$.pipe(route(by2, two)), c: s$.pipe(broadcast(two)) }),
      { 'shuffle-1': 'total', 'route-2': 'total', 'broadcast-3': 'total', a: 'none', b: 'none', c: 'none' },
    ],
  ])('%s', (_, build, expected) => {
    expect(orders(build)).toEqual(expected);
  });
});

const keyed = keyBy(by2, two);

const byKey: Readonly<Record<string, readonly [Build, Readonly<Record<string, string>>]>> = {
  'keyBy(f) → keyBy(f)': [
    (s$) => s$.pipe(keyed, keyBy(by2, two)),
    { 'keyBy-1': 'total', 'keyBy-2': 'key', output: 'key' },
  ],
  'keyBy(f) → filter, tap, skip → keyBy(f)': [
    (s$) =>
      s$.pipe(
        keyed,
        filter((n) => n > 1),
        tap(() => {}),
        perExecutor(skip(1)),
        keyBy(by2, two),
      ),
    { 'keyBy-1': 'total', 'keyBy-2': 'key', output: 'key' },
  ],
  'keyBy(f) → gather → keyBy(f)': [
    (s$) => s$.pipe(keyed, gather(), keyBy(by2, two)),
    { 'keyBy-1': 'total', 'gather-2': 'key', 'keyBy-3': 'key', output: 'key' },
  ],
  'keyBy → map → gather → map': [
    (s$) => s$.pipe(keyed, plus1, gather(), plus1),
    { 'keyBy-1': 'total', 'gather-2': 'key', output: 'key' },
  ],
  'keyBy → any cut to one executor': [
    (s$) => s$.pipe(keyed, shuffle(), spreadKey(by3), plus1),
    { 'keyBy-1': 'total', 'shuffle-2': 'key', 'spreadKey-3': 'key', output: 'key' },
  ],
};

test.each(Object.entries(byKey))('order: key: %s', (_, [build, expected]) => {
  expect(orders(build)).toEqual(expected);
});

describe('order: none', () => {
  const none = { 'keyBy-2': 'none', output: 'none' };
  test.each<[string, Build, Readonly<Record<string, string>>]>([
    ['shuffle(2) → keyBy', (s$) => s$.pipe(shuffle(two), keyBy(by2, two)), { 'shuffle-1': 'total', ...none }],
    ['keyBy(f) → keyBy(g)', (s$) => s$.pipe(keyed, keyBy(by3, two)), { 'keyBy-1': 'total', ...none }],
    ['keyBy(f) → keyBy(g) of one executor', (s$) => s$.pipe(keyed, keyBy(by3)), { 'keyBy-1': 'total', ...none }],
    [
      'keyBy(f) → map → keyBy(f): other values have other keys',
      (s$) => s$.pipe(keyed, plus1, keyBy(by2, two)),
      { 'keyBy-1': 'total', ...none },
    ],
    [
      'keyBy(f) → a branch that maps → keyBy(f)',
      (s$) => s$.pipe(keyed, (k$) => union(k$, k$.pipe(plus1)), keyBy(by2, two)),
      { 'keyBy-1': 'total', ...none },
    ],
    [
      'keyBy(f) → map → gather → keyBy(f)',
      (s$) => s$.pipe(keyed, plus1, gather(), keyBy(by2, two)),
      { 'keyBy-1': 'total', 'gather-2': 'key', 'keyBy-3': 'none', output: 'none' },
    ],
    [
      'keyBy(f) → an operator of rxjs → keyBy(f)',
      (s$) => s$.pipe(keyed, perExecutor(rx.map((n) => n)), keyBy(by2, two)),
      { 'keyBy-1': 'total', ...none },
    ],
    [
      'keyBy → shuffle(2)',
      (s$) => s$.pipe(keyed, shuffle(two)),
      { 'keyBy-1': 'total', 'shuffle-2': 'none', output: 'none' },
    ],
    [
      'shuffle(2) → gather → keyBy',
      (s$) => s$.pipe(shuffle(two), gather(), keyBy(by2)),
      { 'shuffle-1': 'total', 'gather-2': 'none', 'keyBy-3': 'none', output: 'none' },
    ],
    [
      'broadcast(2) → gather',
      (s$) => s$.pipe(broadcast(two), gather(), plus1),
      { 'broadcast-1': 'total', 'gather-2': 'none', output: 'none' },
    ],
    ['spreadKey(2)', (s$) => s$.pipe(spreadKey(by2, two)), { 'spreadKey-1': 'total', output: 'none' }],
    [
      'union → keyBy',
      (s$) =>
        union(
          s$,
          pull(() => [1]),
        ).pipe(keyBy(by2)),
      { 'keyBy-1': 'none', output: 'none' },
    ],
    [
      'union → map → keyBy',
      (s$) =>
        union(
          s$.pipe(shuffle()),
          pull(() => [1]),
        ).pipe(plus1, keyBy(by2)),
      { 'shuffle-1': 'total', 'union-2': 'none', 'keyBy-3': 'none', output: 'none' },
    ],
    [
      'union as the output',
      (s$) =>
        union(
          s$,
          pull(() => [1]),
        ),
      { input: 'total', output: 'none' },
    ],
  ])('%s', (_, build, expected) => {
    expect(orders(build)).toEqual(expected);
  });
});

describe('law: a run keeps the order of each key where the plan promises it', () => {
  const size = fc.constantFrom(1, 2, 7, 100);
  test.each(Object.entries(byKey))('%s', async (_, [build]) => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 200 }), size, async (length, batch) => {
        const values = Array.from({ length }, (_, i) => i);
        const { output } = await run(made(build), values, { batches: { default: batch } });
        // Steps add the same to all values, so keys stay apart.
        for (const key of [0, 1]) {
          const ofKey = output?.values.filter((value) => (value as number) % 2 === key) ?? [];
          expect(ofKey).toEqual([...ofKey].sort((a, b) => (a as number) - (b as number)));
        }
        expect(output?.end).toBe('complete');
      }),
      { numRuns: 5 },
    );
  });
});
