/**
 * broadcast: a cut that gives every value to every executor of the next segment.
 */

import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkCut, cut, type ExchangeOptions } from './cut.js';

/**
 * Cuts the pipeline: each of the `parallelism` executors behind it gets every value exactly once (C-120).
 * With n executors the outputs come n times; for reference data that each executor keeps.
 *
 * ```text
 * source       --a--b--|
 *              broadcast({ parallelism: 2 })
 * executor 0   --a--b--|
 * executor 1   --a--b--|
 * ```
 */
export function broadcast<T>(options?: ExchangeOptions<NoInfer<T>>): MonoTypeOperatorFunction<T> {
  return cut('broadcast', checkCut('broadcast', options));
}
