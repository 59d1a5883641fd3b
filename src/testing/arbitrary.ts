/**
 * What fast-check draws for simulations: inputs, batches, faults and seeds, which shrink to what is simplest.
 * Owns the ranges. Draws nothing before it is asked.
 */

import type { Arbitrary } from 'fast-check';
import type { Batch } from '../../runtime/batch.js';
import { type FastCheck, fastCheck } from './fastCheck.js';
import type { Fault } from './fault.js';
import type { Input } from './input.js';

/**
 * Arbitraries for fast-check, which is an optional peer: `npm install --save-dev fast-check`. Without it, `ERR_OPTION`.
 *
 * ```ts
 * fc.assert(
 *   fc.property(arbitrary.input(fc.string()), arbitrary.seed(), (input, seed) => {
 *     expect(simulate(wordCount(), { input, seed }).end).toBe('complete');
 *   }),
 * );
 * ```
 */
export const arbitrary: {
  /** Inputs of these values, at once or over up to a second, with and without an error. They shrink to `[]`. */
  input<T>(value: Arbitrary<T>): Arbitrary<Input<T>>;
  /** Batches from one value to one hundred, from one byte on, by age, by idleness and by neither. They shrink to 1. */
  batch(): Arbitrary<Batch>;
  /**
   * Up to three faults of these executors, such as `"words/0"`, and of the two ends; without executors of the ends alone. They
   * shrink to none, and singly to early and short ones.
   */
  faults(executors: readonly string[]): Arbitrary<readonly Fault[]>;
  /** Whole numbers of 32 bits without sign. They shrink to 0. */
  seed(): Arbitrary<number>;
} = {
  input<T>(value: Arbitrary<T>): Arbitrary<Input<T>> {
    return inputs(fastCheck('arbitrary.input()'), value);
  },
  batch: () => batches(fastCheck('arbitrary.batch()')),
  faults: (executors) => faults(fastCheck('arbitrary.faults()'), executors),
  seed: () => fastCheck('arbitrary.seed()').integer({ min: 0, max: 2 ** 32 - 1 }),
};

function inputs<T>(fc: FastCheck, value: Arbitrary<T>): Arbitrary<Input<T>> {
  // Times, not spans between them: a value that is left out moves no other.
  const timeMs = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 1_000 }));
  // What stands first is tried first: no error, all at once, no time after the last value.
  return fc
    .tuple(fc.integer({ min: 0, max: 3 }), fc.boolean(), timeMs, fc.array(fc.tuple(timeMs, value)))
    .map(([ending, spaced, endMs, timed]): Input<T> => {
      const fails = ending === 3;
      if (!spaced && !fails) return timed.map(([, single]) => single);
      const values = spaced
        ? [...timed].sort(([a], [b]) => a - b)
        : timed.map(([, single]): readonly [number, T] => [0, single]);
      const lastMs = values.at(-1)?.[0] ?? 0;
      return {
        values,
        ...(spaced && endMs > lastMs ? { endMs } : {}),
        ...(fails ? { error: new Error('the input fails') } : {}),
      };
    });
}

function batches(fc: FastCheck): Arbitrary<Batch> {
  const size = fc.constantFrom(1, 2, 3, 100);
  const parts = fc.record(
    {
      size,
      bytes: fc.constantFrom(32 * 1024, 1_024, 64, 1),
      flushMs: fc.constantFrom(5, 1, 0, Number.POSITIVE_INFINITY),
      idle: fc.constantFrom(true, false),
    },
    { requiredKeys: [] },
  );
  const auto = fc.constantFrom<Batch>('auto', { size: 'auto', latencyMs: 2 }, { size: 'auto', idle: false });
  return fc.oneof({ withCrossShrink: true }, size, parts, auto);
}

function faults(fc: FastCheck, executors: readonly string[]): Arbitrary<readonly Fault[]> {
  const atValue = fc.integer({ min: 0, max: 50 });
  const forMs = fc.integer({ min: 1, max: 1_000 });
  const kind = <K extends Fault['kind']>(name: K): Arbitrary<K> => fc.constant(name);
  const ends: Arbitrary<Fault>[] = [
    fc.record({ kind: kind('sourceStall'), atValue, forMs }),
    fc.record({ kind: kind('subscriberThrows'), atValue }),
    fc.record({ kind: kind('unsubscribe'), atValue }),
  ];
  if (executors.length === 0) return fc.array(fc.oneof(...ends), { maxLength: 3 });
  const executor = fc.constantFrom(...executors);
  const inside: Arbitrary<Fault>[] = [
    ...(['pause', 'slow', 'full', 'lateDoorbell'] as const).map((name) =>
      fc.record({ kind: kind(name), executor, atValue, forMs }),
    ),
    fc.record({ kind: kind('die'), executor, atValue }),
    fc.record({ kind: kind('starve'), executor, atValue }),
  ];
  return fc.array(fc.oneof(...inside, ...ends), { maxLength: 3 });
}
