/**
 * scanByKey: scan with a state per key.
 * Owns its plain form, which reads the key register, and its kernel. State lives in one KeyedState per executor.
 */

import { Observable, type OperatorFunction } from 'rxjs';
import { currentKey } from './key.js';
import type { KeyOf } from './keyBy.js';
import { KeyedState } from './keyedState.js';
import type { Lower } from './step.js';

type Accumulator = (acc: unknown, value: unknown, key: unknown) => unknown;
type Seed = (key: unknown) => unknown;

export function scanByKeyKernel(accumulate: Accumulator, seed: Seed): Lower {
  return (out) => {
    const state = new KeyedState<unknown>();
    return { next: (value) => out.emit(stepKey(state, accumulate, seed, value, 'scanByKey')) };
  };
}

/** Accumulates `value` under the current key; the result is what is emitted. */
export function stepKey(
  state: KeyedState<unknown>,
  accumulate: Accumulator,
  seed: Seed,
  value: unknown,
  operator: string,
): readonly [unknown, unknown] {
  const key = currentKey(operator);
  const entry = state.get(key) ?? state.add(key, seed(key));
  entry.state = accumulate(entry.state, value, entry.key);
  return [entry.key, entry.state];
}

/**
 * Emits `[key, state]` for every value, with a state per key that begins at `seed(key)`. Needs keyBy() before it.
 *
 * ```text
 *     --a1----b1----a2-----|
 *     scanByKey((sum, v) => sum + v.n, () => 0)
 *     --[a,1]-[b,1]-[a,3]--|
 * ```
 */
export function scanByKey<T, A>(
  accumulator: (acc: A, value: T, key: KeyOf<T>) => A,
  seed: (key: KeyOf<T>) => A,
): OperatorFunction<T, readonly [key: KeyOf<T>, acc: A]> {
  return (source) =>
    new Observable((subscriber) => {
      const state = new KeyedState<unknown>();
      return source.subscribe({
        next(value) {
          let result: readonly [unknown, unknown];
          try {
            result = stepKey(state, accumulator as Accumulator, seed as Seed, value, 'scanByKey');
          } catch (reason) {
            subscriber.error(reason);
            return;
          }
          subscriber.next(result as readonly [KeyOf<T>, A]);
        },
        error: (reason: unknown) => subscriber.error(reason),
        complete: () => subscriber.complete(),
      });
    });
}
