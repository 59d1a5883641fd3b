/**
 * countByKey: how often each key has come so far.
 */

import type { OperatorFunction } from 'rxjs';
import type { KeyOf } from './keyBy.js';
import { scanByKey, scanByKeyKernel } from './scanByKey.js';
import type { Lower } from './step.js';

const plusOne = (count: unknown): number => (count as number) + 1;
const zero = (): number => 0;

export function countByKeyKernel(): Lower {
  return scanByKeyKernel(plusOne, zero);
}

/**
 * Emits `[key, count so far]` for every value. Needs keyBy() before it.
 *
 * ```text
 *     --a-----b-----a------|
 *     countByKey()
 *     --[a,1]-[b,1]-[a,2]--|
 * ```
 */
export function countByKey<T>(): OperatorFunction<T, readonly [key: KeyOf<T>, count: number]> {
  return scanByKey<T, number>(plusOne, zero);
}
