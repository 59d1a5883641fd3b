/**
 * rounds: 10,000 times subscribe and leave on warm threads, in each of the ways a run ends: how many a second, what stays
 * on the heap; and how long a process whose work is done takes to end by itself.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRuntime, type Runtime } from 'millrace';
import { concat, NEVER, type Observable, of, throwError } from 'rxjs';
import { builtRelay } from './builtRelay.mjs';
import { type Bench, compare, type Result, type Side } from './kit.js';

const roundsEach = 1000;
const measurements = 10;
const warmUps = 2;

export const rounds: Bench = {
  name: 'rounds',
  about:
    'rounds/s of subscribing and leaving two warm threads, bytes that 10,000 rounds leave, ms until a process ends',
  async run(report) {
    await using runtime = createRuntime({ threads: 2, workerOptions: { execArgv: [] } });
    const heap = collectedHeap();
    const sizes: number[] = [];
    const side: Side = {
      name: 'rounds',
      async measure() {
        const started = performance.now();
        for (let i = 0; i < roundsEach; i++) await roundOf(runtime, i);
        const seconds = (performance.now() - started) / 1000;
        sizes.push(heap());
        return roundsEach / seconds;
      },
    };
    await compare(report, { name: 'rounds', unit: 'rounds/s', side, threads: 1, rounds: measurements, warmUps });
    report.result(grown(sizes));
    const leaving: Side = { name: 'leaving', measure: leavingMs };
    await compare(report, {
      name: 'leaving the process',
      unit: 'ms',
      side: leaving,
      threads: 0,
      goal: { atMost: 200 },
    });
  },
};

/** Completed, left early, left at once, failed: in turn. */
async function roundOf(runtime: Runtime, i: number): Promise<void> {
  const relayed = (input: Observable<number>): Observable<number> => input.pipe(builtRelay({ runtime }));
  if (i % 4 === 0) await end(relayed(of(1, 2, 3)));
  else if (i % 4 === 1) await end(relayed(concat(of(1, 2, 3), NEVER)), 2);
  else if (i % 4 === 2) relayed(NEVER).subscribe().unsubscribe();
  else await end(relayed(throwError(() => new Error('the input'))));
}

/** However it ends; after `count` values it is left. */
function end(run$: Observable<number>, count = Number.POSITIVE_INFINITY): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0;
    const subscription = run$.subscribe({
      next: () => {
        if (++seen < count) return;
        subscription.unsubscribe();
        resolve();
      },
      error: () => resolve(),
      complete: resolve,
    });
  });
}

function collectedHeap(): () => number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
}

/** From behind the warm-ups to the end, also rounds that did not count for their speed. */
function grown(sizes: readonly number[]): Result {
  const [first = Number.NaN, ...later] = sizes.slice(warmUps - 1);
  const value = ((later.at(-1) ?? Number.NaN) - first) / (later.length * roundsEach);
  const unit = 'bytes a round';
  return { name: 'heap growth', unit, value, against: null, ratio: null, interval: null, goal: null, met: null };
}

/** From the line a script prints when it is done to the end of its process. */
async function leavingMs(): Promise<number> {
  const script = fileURLToPath(new URL('./leaver.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const started = performance.now();
  const [code] = await ended;
  if (code !== 0) throw new Error(`${script} ended with code ${code}`);
  return performance.now() - started;
}
