/** ignoreElements as a step of the loop. */

import type { Lower } from './step.js';

export function ignoreElementsKernel(): Lower {
  return () => ({ next() {} });
}
