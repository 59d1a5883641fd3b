/** max and min as steps of the loop: one value when the stream has ended, none of an empty one. */

import { reduceKernel } from './reduce.js';
import type { Lower } from './step.js';

type Comparer = (x: unknown, y: unknown) => number;

// By the operators alone, once a pair, as in RxJS: texts and dates have an order too, and NaN has none.
const above: Comparer = (x, y) => ((x as number) > (y as number) ? 1 : 0);
const below: Comparer = (x, y) => ((x as number) < (y as number) ? -1 : 0);

export function maxKernel(comparer?: Comparer): Lower {
  const compare = typeof comparer === 'function' ? comparer : above;
  return reduceKernel((x, y) => (compare(x, y) > 0 ? x : y));
}

export function minKernel(comparer?: Comparer): Lower {
  const compare = typeof comparer === 'function' ? comparer : below;
  return reduceKernel((x, y) => (compare(x, y) < 0 ? x : y));
}
