/**
 * scanByKey: scan with a state per key.
 * Owns its plain form, which reads the key register, and its kernel. State lives in one KeyedState per executor.
 */

import { defer, map, type OperatorFunction } from 'rxjs';
import { currentKey } from './key.js';
import type { KeyOf } from './keyBy.js';
import { KeyedState } from './keyedState.js';
import type { Lower } from './step.js';

type Accumulator = (acc: unknown, value: unknown, key: unknown) => unknown;
type Seed = (key: unknown) => unknown;

export function scanByKeyKernel(accumulate: Accumulator, seed: Seed): Lower {
  return keyedScanKernel(accumulate, seed, 'scanByKey');
}

/** `operator` is the name errors give. */
export function keyedScanKernel(accumulate: Accumulator, seed: Seed, operator: string): Lower {
  return (out) => {
    const state = new KeyedState<unknown>();
    return { next: (value) => out.emit(stepKey(state, accumulate, seed, value, operator)) };
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

/** The plain form; the menu has the documentation. */
export function scanByKey<T, A>(
  accumulator: (acc: A, value: T, key: KeyOf<T>) => A,
  seed: (key: KeyOf<T>) => A,
): OperatorFunction<T, readonly [key: KeyOf<T>, acc: A]> {
  return keyedScan(accumulator as Accumulator, seed as Seed, 'scanByKey');
}

/** The plain form; `operator` is the name errors give. */
export function keyedScan<T, A>(
  accumulate: Accumulator,
  seed: Seed,
  operator: string,
): OperatorFunction<T, readonly [key: KeyOf<T>, acc: A]> {
  return (source) =>
    defer(() => {
      const state = new KeyedState<unknown>();
      return source.pipe(map((value) => stepKey(state, accumulate, seed, value, operator) as readonly [KeyOf<T>, A]));
    });
}
