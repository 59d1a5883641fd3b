/**
 * One hop through the public API: values are pulled on one thread and weighed on the next, only the sum comes back.
 */

import { gather, pull, type Source, source } from 'millrace';
import { reduce } from 'millrace/operators';
import type { Observable } from 'rxjs';
import { type Load, valuesOf, weigherOf } from './values.js';

export const hop: Source<Observable<number>, [load: Load]> = source(import.meta.url, (load: Load) => {
  const weigh = weigherOf(load.kind);
  return pull(() => valuesOf(load)).pipe(
    gather({ name: 'hop' }),
    reduce((sum, value) => sum + weigh(value), 0),
  );
});
