/**
 * npm run demo [-- file…]: counts the words of some files on threads, then again in plain RxJS, and compares every count.
 */

import { statSync } from 'node:fs';
import type { Run, RunMetrics } from 'millrace';
import { lastValueFrom, toArray } from 'rxjs';
import { type WordCount, wordCount } from './demoTopology.js';
import { plainWordCount } from './plainWordCount.js';
import { declarations } from './texts.js';

const given: readonly string[] = process.argv.slice(2);
const files: readonly string[] = given.length > 0 ? given : declarations();
const missing: string | undefined = files.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() !== true);
if (missing !== undefined) {
  console.error(`demo: ${missing} is not a file that can be read`);
  process.exit(2);
}

const { seconds: startSeconds } = await timed(() => countOnThreads([]));
const threads = await timed(() => countOnThreads(files));
const plain = await timed(() => lastValueFrom(plainWordCount(files)));

const { counts, metrics } = threads.result;
const words: number = sum(counts.map(([, count]) => count));
const row = (...cells: readonly (string | number)[]): void =>
  console.log(cells.map((cell, i) => (i === 0 ? String(cell).padEnd(18) : show(cell).padStart(14))).join(''));

console.log(`The words of ${given.length > 0 ? given.join(', ') : 'the type declarations of TypeScript and Node'}`);
console.log(`(${files.length} files, ${show(sum(files.map((file) => statSync(file).size)) / 1e6)} MB)\n`);
for (const [word, count] of mostFrequent(10)) row(`  ${word}`, count);
console.log();
row('', `${metrics.threads} threads`, 'plain RxJS');
row('seconds', threads.seconds, plain.seconds);
row('words/s', words / threads.seconds, words / plain.seconds);
console.log(`
${show(metrics.in)} lines in, ${show(words)} words counted, ${show(counts.length)} different ones.
Batches: ${flushes(metrics)}.
Starting the threads took ${show(startSeconds)} s more. Each side ran once; "npm run bench -- wordCount" measures both warm.`);

const difference: string | undefined = firstDifference(new Map(counts), plain.result);
console.log(difference ?? 'All counts are equal.');
process.exitCode = difference === undefined ? 0 : 1;

async function countOnThreads(of: readonly string[]): Promise<{ counts: WordCount[]; metrics: RunMetrics }> {
  let run: Run | undefined;
  const counts = await lastValueFrom(
    wordCount({
      args: of,
      onRun: (started) => {
        run = started;
      },
    }).pipe(toArray()),
  );
  return { counts, metrics: (run as Run).metrics() };
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const started = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - started) / 1000 };
}

function mostFrequent(n: number): readonly WordCount[] {
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, n);
}

function flushes({ channels }: RunMetrics): string {
  const total = sum(channels.map(({ frames }) => frames));
  const reasons = channels.flatMap(({ flushes }) => Object.keys(flushes) as (keyof typeof flushes)[]);
  const shown = [...new Set(reasons)]
    .map((reason) => [reason, sum(channels.map(({ flushes }) => flushes[reason]))] as const)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${show(count)} by ${reason}`);
  return `${show(total)}, ${shown.join(', ')}`;
}

/** Both ways, so that a word only one side has is found. */
function firstDifference(ours: ReadonlyMap<string, number>, theirs: ReadonlyMap<string, number>): string | undefined {
  for (const word of new Set([...theirs.keys(), ...ours.keys()])) {
    if (ours.get(word) === theirs.get(word)) continue;
    return `Counts differ, first at ${JSON.stringify(word)}: ${ours.get(word)} on threads, ${theirs.get(word)} in plain RxJS.`;
  }
  return undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

function show(cell: string | number): string {
  if (typeof cell === 'string') return cell;
  return cell.toLocaleString('en', { maximumFractionDigits: cell < 100 && !Number.isInteger(cell) ? 2 : 0 });
}
