/**
 * wordCount: the demo's count of real text on 0, 1 and 2 threads, against the same in plain RxJS.
 */

import { createRuntime } from 'millrace';
import { lastValueFrom, reduce } from 'rxjs';
import { wordCount as topology } from './demoTopology.js';
import { type Bench, compare, type Side } from './kit.js';
import { plainWordCount } from './plainWordCount.js';
import { declarations } from './texts.js';

export const wordCount: Bench = {
  name: 'wordCount',
  about: 'words/s of the demo on its text, warm, against plain RxJS; threads 0 is the calling thread',
  async run(report) {
    const files = declarations();
    const expected = sum([...(await lastValueFrom(plainWordCount(files))).values()]);
    const perSecond = async (count: () => Promise<number>): Promise<number> => {
      const started = performance.now();
      const words = await count();
      const seconds = (performance.now() - started) / 1000;
      if (words !== expected) throw new Error(`counted ${words} words instead of ${expected}`);
      return words / seconds;
    };
    const against: Side = {
      name: 'plain RxJS',
      measure: () => perSecond(async () => sum([...(await lastValueFrom(plainWordCount(files))).values()])),
    };

    await using runtime = createRuntime({ threads: 2 });
    for (const threads of [0, 1, 2]) {
      const counts$ = topology({ args: files, threads, runtime });
      const words$ = counts$.pipe(reduce((words, [, count]) => words + count, 0));
      const side: Side = { name: 'millrace', measure: () => perSecond(() => lastValueFrom(words$)) };
      await compare(report, {
        name: `wordCount, ${threads} threads`,
        unit: 'words/s',
        side,
        against,
        threads: Math.max(1, threads),
      });
    }
  },
};

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
