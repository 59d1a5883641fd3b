/**
 * route: a cut whose targets the user's function chooses.
 */

import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkCut, checkFunction, cut, type ExchangeOptions } from './cut.js';

/**
 * Cuts the pipeline: `fn` says which executor gets a value, or which several ones; an empty list discards it (C-114).
 * Executors are numbered from 0; the second argument says how many there are. Another index is an `ERR_OPERATOR`.
 *
 * ```text
 * source       --1--2--3--|
 *              route((n, executors) => n % executors, { parallelism: 2 })
 * executor 0   -----2-----|
 * executor 1   --1-----3--|
 * ```
 */
export function route<T>(
  fn: (value: T, executors: number) => number | readonly number[],
  options?: ExchangeOptions<NoInfer<T>>,
): MonoTypeOperatorFunction<T> {
  checkFunction(fn, 'the first argument of route()');
  return cut<T>('route', checkCut('route', options), fn as (value: never, executors: number) => unknown);
}
