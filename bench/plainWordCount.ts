/**
 * The same count in RxJS alone, as one would write it without millrace: what the demo is compared with.
 */

import { from, mergeMap, type Observable, reduce } from 'rxjs';
import { linesOf, wordsOf } from './demoTopology.js';

export function plainWordCount(files: readonly string[]): Observable<ReadonlyMap<string, number>> {
  return from(linesOf(files)).pipe(
    mergeMap(wordsOf),
    reduce((counts, word) => counts.set(word, (counts.get(word) ?? 0) + 1), new Map<string, number>()),
  );
}
