/**
 * countByKey: how often each key has come so far.
 */

import type { OperatorFunction } from 'rxjs';
import type { KeyOf } from './keyBy.js';
import { keyedScan, keyedScanKernel } from './scanByKey.js';
import type { Lower } from './step.js';

const plusOne = (count: unknown): number => (count as number) + 1;
const zero = (): number => 0;

export function countByKeyKernel(): Lower {
  return keyedScanKernel(plusOne, zero, 'countByKey');
}

/** The plain form; the menu has the documentation. */
export function countByKey<T>(): OperatorFunction<T, readonly [key: KeyOf<T>, count: number]> {
  return keyedScan(plusOne, zero, 'countByKey');
}
