/**
 * gather: a cut that brings all values to one executor.
 */

import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkCut, cut, type ExchangeOptions } from './cut.js';

/**
 * Cuts the pipeline: what follows runs on one executor, the place for stream-scoped steps such as `take` (C-121).
 * At the very end of a pipeline it makes no executor: it names the output and sets the batch and codec of the last hop.
 *
 * ```text
 * executor 0   --a-----c--|
 * executor 1   -----b-----|
 *              gather()
 * executor 0   --a--b--c--|
 * ```
 */
export function gather<T>(options?: Omit<ExchangeOptions<NoInfer<T>>, 'parallelism'>): MonoTypeOperatorFunction<T> {
  return cut('gather', checkCut('gather', options));
}
