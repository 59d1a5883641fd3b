/**
 * breakeven: how much work a step must be before threads make it faster: the same stream in plain RxJS and on 2 threads.
 */

import { createRuntime, pull, type Runtime } from 'millrace';
import { from, lastValueFrom, map, type Observable, reduce } from 'rxjs';
import { type Bench, compare, type Report, type Result, type Side } from './kit.js';
import { spin, spun, turnsPerUs } from './spin.js';
import { type Counted, valuesOf } from './values.js';

const stepsUs: readonly number[] = [0, 1, 2, 5, 10, 20, 50, 100];

export const breakeven: Bench = {
  name: 'breakeven',
  about:
    'values/s of a step of so many us on 2 threads, sent from and gathered on the calling thread, against plain RxJS',
  async run(report) {
    const perUs = turnsPerUs();
    await using runtime = createRuntime({ threads: 2 });
    const results: [us: number, result: Result][] = [];
    for (const us of stepsUs) results.push([us, await measure(us, Math.round(us * perUs), runtime, report)]);
    report.result(smallest(results));
  },
};

async function measure(us: number, turns: number, runtime: Runtime, report: Report): Promise<Result> {
  // About 0.3 s in plain RxJS.
  const count = Math.round(300_000 / (us + 1));
  const values = (): Generator<Counted> => valuesOf({ kind: 'objects', count }) as Generator<Counted>;
  const expected = [...values()].reduce((sum, value) => sum + spin(value, turns), 0);
  const sideOf = (name: string, results$: Observable<number>): Side => ({
    name,
    async measure() {
      const started = performance.now();
      const sum = await lastValueFrom(results$.pipe(reduce((all, each) => all + each, 0)));
      const seconds = (performance.now() - started) / 1000;
      if (sum !== expected) throw new Error(`${name} came to ${sum} instead of ${expected}`);
      return count / seconds;
    },
  });
  // A fresh generator for every subscription.
  const plain$ = from({ [Symbol.iterator]: values }).pipe(map((value) => spin(value, turns)));
  return compare(report, {
    name: `breakeven, ${us} us`,
    unit: 'values/s',
    side: sideOf('millrace', pull(values).pipe(spun({ args: turns, runtime }))),
    against: sideOf('plain RxJS', plain$),
  });
}

/** The smallest step from which on all intervals lie above 1. */
function smallest(results: readonly [us: number, result: Result][]): Result {
  const losing = results.findLastIndex(([, { interval }]) => interval === null || interval[0] <= 1);
  const refused = results.filter(([, { ratio }]) => ratio === null).map(([us]) => us);
  return {
    name: 'threads win from',
    unit: 'us a value',
    value: results[losing + 1]?.[0] ?? Number.NaN,
    against: null,
    ratio: null,
    interval: null,
    goal: null,
    met: null,
    ...(refused.length === 0 ? {} : { refused: `not known for ${refused.join(', ')} us` }),
  };
}
