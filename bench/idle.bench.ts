/**
 * idle: CPU time of a run through which nothing flows. All of the process counts, so no thread is left out.
 */

import { setTimeout } from 'node:timers/promises';
import { createRuntime } from 'millrace';
import { NEVER, Subject } from 'rxjs';
import { builtRelay } from './builtRelay.mjs';
import { type Bench, compare, type Side } from './kit.js';

const threads = 2;
const silenceMs = 10_000;

export const idle: Bench = {
  name: 'idle',
  about: '% of a core a thread, two threads subscribed and silent for 10 s; the whole process is charged to them',
  async run(report) {
    await using runtime = createRuntime({ threads });
    const heard = new Subject<number>();
    const running = NEVER.pipe(builtRelay({ runtime })).subscribe(heard);
    const side: Side = { name: 'silent', measure: cpuPercent };
    // Start-up is not counted, nor V8's own collection some seconds after it, which every process has that falls silent.
    await setTimeout(15_000);
    await compare(report, {
      name: 'idle',
      unit: '%',
      side,
      goal: { atMost: 0.1 },
      threads: 0,
      rounds: 3,
      warmUps: 0,
    });
    running.unsubscribe();
  },
};

async function cpuPercent(): Promise<number> {
  const started = performance.now();
  const before = process.cpuUsage();
  await setTimeout(silenceMs);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1000 / (performance.now() - started) / threads) * 100;
}
