/**
 * shuffle: a cut that deals values to the executors of the next segment in turn.
 * Owns its options. Behind more than one executor no order holds.
 */

import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkCut, cut, type ExchangeOptions } from './cut.js';

export interface ShuffleOptions<T> extends ExchangeOptions<T> {
  /** Deal only to executors on the producer's own thread, where there are any; default false. */
  readonly local?: boolean;
}

/**
 * Cuts the pipeline: what follows runs on `parallelism` executors, each taking every n-th value of a producer (C-100).
 *
 * ```text
 * source       --a--b--c--d--|
 *              shuffle({ parallelism: 2 })
 * executor 0   --a-----c-----|
 * executor 1   -----b-----d--|
 * ```
 *
 * Throws `ERR_OPTION` for unknown or wrong options.
 */
export function shuffle<T>(options?: ShuffleOptions<NoInfer<T>>): MonoTypeOperatorFunction<T> {
  return cut('shuffle', checkCut('shuffle', options, ['local']));
}
