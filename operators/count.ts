/** count as a step of the loop. */

import { reduceKernel } from './reduce.js';
import type { Lower } from './step.js';

export function countKernel(predicate?: (value: unknown, index: number) => boolean): Lower {
  if (predicate === undefined) return reduceKernel((total) => (total as number) + 1, 0);
  return reduceKernel((total, value, index) => (predicate(value, index) ? (total as number) + 1 : total), 0);
}
