/** debatch: the values of arrays, one by one, in order. What is no array passes as it is (C-183). */

import { concatMap, type OperatorFunction } from 'rxjs';
import { mergeMapKernel } from './mergeMap.js';
import type { Lower } from './step.js';

const valuesOf = (batch: unknown): readonly unknown[] => (Array.isArray(batch) ? batch : [batch]);

export function debatch<T>(): OperatorFunction<readonly T[], T> {
  return concatMap((batch) => valuesOf(batch) as readonly T[]);
}

export function debatchKernel(): Lower {
  return mergeMapKernel(valuesOf);
}
