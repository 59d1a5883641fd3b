/**
 * spreadKey: a cut for skewed keys. Each key has two homes.
 */

import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkCut, checkFunction, cut, type ExchangeOptions } from './cut.js';

/**
 * Cuts the pipeline: each key has two executors, and a value goes to the one this producer has used less (C-115 to C-119).
 * Evens out keys that are far more frequent than others. Since a key meets two executors, key-scoped steps are refused
 * behind it: count partial results per executor, then `keyBy` and add them up.
 *
 * ```text
 * source       --a1--a2--a3--a4--|
 *              spreadKey((v) => v[0], { parallelism: 4 })
 * executor 1   --a1------a3------|
 * executor 3   ------a2------a4--|
 * ```
 */
export function spreadKey<T>(
  selector: (value: T) => unknown,
  options?: ExchangeOptions<NoInfer<T>>,
): MonoTypeOperatorFunction<T> {
  checkFunction(selector, 'the first argument of spreadKey()');
  return cut<T>('spreadKey', checkCut('spreadKey', options), selector as (value: never) => unknown);
}
