/**
 * The topology of the demo: how often each word occurs in some files. Every thread that runs a part of it loads this module.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { keyBy, pull, type Source, source } from 'millrace';
import { mergeMap, reduceByKey } from 'millrace/operators';
import type { Observable } from 'rxjs';

export type WordCount = readonly [word: string, count: number];

/** One executor reads and splits, one counts: two threads, which two cores can feed. */
export const wordCount: Source<Observable<WordCount>, [files: readonly string[]]> = source(
  import.meta.url,
  (files: readonly string[]) =>
    pull(() => linesOf(files)).pipe(
      mergeMap(wordsOf),
      keyBy((word) => word, { name: 'count' }),
      reduceByKey(
        (count) => count + 1,
        () => 0,
      ),
    ),
);

export function wordsOf(line: string): readonly string[] {
  return line.toLowerCase().match(/\p{L}+/gu) ?? [];
}

/** Read when they are asked for, so that a file of any size needs the memory of one chunk. */
export function* linesOf(files: readonly string[]): Generator<string> {
  const chunk = Buffer.alloc(64 * 1024);
  for (const file of files) {
    const opened = openSync(file, 'r');
    const decoder = new StringDecoder('utf8');
    let rest = '';
    try {
      for (let bytes = readSync(opened, chunk); bytes > 0; bytes = readSync(opened, chunk)) {
        const lines = (rest + decoder.write(chunk.subarray(0, bytes))).split('\n');
        rest = lines.pop() ?? '';
        yield* lines;
      }
      yield rest + decoder.end();
    } finally {
      closeSync(opened);
    }
  }
}
