/**
 * Two streams out of one segment, each with a batch of its own: most values go one way, one in a thousand the other.
 */

import { gather, pull, type Source, source } from 'millrace';
import { filter, reduce } from 'millrace/operators';
import type { Observable } from 'rxjs';
import { type Counted, type Load, valuesOf, weigherOf } from './values.js';

interface Sums {
  readonly words: Observable<number>;
  readonly errors: Observable<number>;
}

export const split: Source<Sums, [load: Load]> = source(import.meta.url, (load: Load) => {
  const weigh = weigherOf(load.kind);
  const all$ = pull(() => valuesOf(load)) as Observable<Counted>;
  const sum = (name: string, wanted: (value: Counted) => boolean) =>
    all$.pipe(
      filter(wanted),
      gather({ name }),
      reduce((total, value) => total + weigh(value), 0),
    );
  return { words: sum('to-words', ({ id }) => id % 1000 !== 0), errors: sum('errors-in', ({ id }) => id % 1000 === 0) };
});
