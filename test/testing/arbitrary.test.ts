/** What fast-check draws is accepted at the doors, covers what it should, and shrinks to what is simplest. */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBatch, resolveBatch } from '../../runtime/batch.js';
import { arbitrary } from '../../src/testing/arbitrary.js';
import { fastCheck } from '../../src/testing/fastCheck.js';
import type { Fault } from '../../src/testing/fault.js';
import { scheduleOf } from '../../src/testing/input.js';

const executors = ['input/0', 'words/0', 'words/1'];
const all = {
  input: arbitrary.input(fc.nat()),
  batch: arbitrary.batch(),
  faults: arbitrary.faults(executors),
  'faults of none': arbitrary.faults([]),
  seed: arbitrary.seed(),
} as const;

/** What a property that fails wherever `holds` does not hold is told to look at. */
function shrunk<T>(values: fc.Arbitrary<T>, holds: (value: T) => boolean): T | undefined {
  const { counterexample } = fc.check(fc.property(values, holds), { numRuns: 2_000, endOnFailure: false });
  return counterexample?.[0];
}

function drawn<T>(values: fc.Arbitrary<T>): T[] {
  return fc.sample(values, 2_000);
}

describe('arbitrary', () => {
  test.each(Object.entries(all))('law: %s shrinks to what is simplest', (name, values) => {
    const simplest = { input: [], batch: 1, faults: [], 'faults of none': [], seed: 0 }[name];
    expect(shrunk(values as fc.Arbitrary<unknown>, () => false)).toEqual(simplest);
  });

  test('law: every input has a schedule; some are spaced, some fail, some end later', () => {
    const schedules = drawn(all.input).map((input) => scheduleOf(input));
    expect(schedules.some(({ failure }) => failure !== undefined)).toBe(true);
    expect(schedules.some(({ failure }) => failure === undefined)).toBe(true);
    expect(schedules.some(({ values, endMs = 0 }) => endMs > (values.at(-1)?.[0] ?? 0))).toBe(true);
    expect(schedules.some(({ values }) => new Set(values.map(([atMs]) => atMs)).size > 3)).toBe(true);
    expect(drawn(all.input).some((input) => Array.isArray(input) && input.length > 3)).toBe(true);
  });

  test('law: inputs shrink to few values at 0 ms without an error', () => {
    expect(shrunk(all.input, (input) => scheduleOf(input).values.every(([, value]) => value < 10))).toEqual([10]);
    expect(shrunk(all.input, (input) => scheduleOf(input).failure === undefined)).toEqual({
      values: [],
      error: new Error('the input fails'),
    });
    const late = shrunk(all.input, (input) => (scheduleOf(input).endMs ?? 0) < 7);
    expect([{ values: [], endMs: 7 }, { values: [[7, 0]] }]).toContainEqual(late);
    const second = shrunk(
      all.input,
      (input) => !scheduleOf(input).values.some(([atMs], index) => index > 0 && atMs > 9),
    );
    expect(second).toEqual({
      values: [
        [0, 0],
        [10, 0],
      ],
    });
  });

  test('law: every batch is accepted, and every part is varied', () => {
    const batches = drawn(all.batch);
    for (const batch of batches) expect(checkBatch(batch, 'batch')).toEqual(batch);
    const rules = batches.map((batch) => resolveBatch(batch));
    const seen = (part: keyof (typeof rules)[number]): unknown[] =>
      [...new Set(rules.map((rule) => rule[part]))].sort();
    expect({ size: seen('size'), bytes: seen('bytes'), flushMs: seen('flushMs'), idle: seen('idle') }).toEqual({
      size: [1, 100, 2, 3, 'auto'],
      bytes: [1, 1024, 32768, 64],
      flushMs: [0, 1, 5, Number.POSITIVE_INFINITY],
      idle: [false, true],
    });
    expect(shrunk(all.batch, (batch) => resolveBatch(batch).flushMs > 0)).toEqual({ flushMs: 0 });
  });

  test('law: faults are of all kinds and all executors, at most three, in their ranges', () => {
    const lists = drawn(all.faults);
    expect([...new Set(lists.map(({ length }) => length))].sort()).toEqual([0, 1, 2, 3]);
    const faults = lists.flat();
    const kinds = [
      'die',
      'full',
      'lateDoorbell',
      'pause',
      'slow',
      'sourceStall',
      'starve',
      'subscriberThrows',
      'unsubscribe',
    ];
    expect([...new Set(faults.map(({ kind }) => kind))].sort()).toEqual(kinds);
    expect([...new Set(faults.map(({ executor }) => executor))].sort()).toEqual([...executors, undefined]);
    for (const { atValue = -1, forMs = 1 } of faults) {
      expect(atValue >= 0 && atValue <= 50 && forMs >= 1 && forMs <= 1_000).toBe(true);
    }
    const outside = new Set(drawn(all['faults of none']).flatMap((list) => list.map(({ kind }) => kind)));
    expect([...outside].sort()).toEqual(['sourceStall', 'subscriberThrows', 'unsubscribe']);
  });

  test('law: one fault shrinks to early and short', () => {
    const of = (kind: Fault['kind']) => shrunk(all.faults, (faults) => !faults.some((fault) => fault.kind === kind));
    expect(of('die')).toEqual([{ kind: 'die', executor: 'input/0', atValue: 0 }]);
    expect(of('pause')).toEqual([{ kind: 'pause', executor: 'input/0', atValue: 0, forMs: 1 }]);
  });

  test('law: seeds are whole numbers of 32 bits', () => {
    const seeds = drawn(all.seed);
    expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed <= 0xffff_ffff)).toBe(true);
    expect(seeds.some((seed) => seed > 0x7fff_ffff)).toBe(true);
  });
});

describe('fast-check', () => {
  test('it is the one that import gives', () => {
    expect(fastCheck('this test')).toBe(fc);
  });

  test('what it makes works with the one that require gives, shrinking included', () => {
    const other = createRequire(import.meta.url)('fast-check') as typeof fc;
    expect(other.integer).not.toBe(fc.integer);
    const { counterexample } = other.check(
      other.property(
        other.tuple(arbitrary.input(other.nat()), arbitrary.seed()),
        ([input]) => scheduleOf(input).values.length < 2,
      ),
    );
    expect(counterexample).toEqual([[[0, 0], 0]]);
  });
});
