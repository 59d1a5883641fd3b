/**
 * start: from subscribe to the first value through two threads, with threads that must be started and with warm ones.
 */

import { Worker } from 'node:worker_threads';
import { createRuntime, type Runtime, type Topology } from 'millrace';
import { firstValueFrom, type Observable, of } from 'rxjs';
import { answer } from './bareThreads.js';
import { builtRelay } from './builtRelay.mjs';
import { type Bench, compare, type Side } from './kit.js';
import { relay } from './relay.js';

type Relay = Topology<number, Observable<number>>;

const warmStarts = 100;

export const start: Bench = {
  name: 'start',
  about:
    'ms from subscribe to the first value through two threads, against two bare threads that echo one message each',
  async run(report) {
    const name = 'bare threads';
    const bareCold: Side = { name, measure: coldBare };
    // A thread must not inherit the loader of the benches where none is needed.
    const built = cold('built', builtRelay, () => createRuntime({ threads: 2, workerOptions: { execArgv: [] } }));
    const typed = cold('typed', relay, () => createRuntime({ threads: 2 }));
    await compare(report, { name: 'start cold, JavaScript', unit: 'ms', side: built, against: bareCold });
    await compare(report, { name: 'start cold, TypeScript', unit: 'ms', side: typed, against: bareCold });

    await using runtime = createRuntime({ threads: 2, workerOptions: { execArgv: [] } });
    const bare = [bareEcho(), bareEcho()];
    const side: Side = { name: 'millrace', measure: () => mean(() => firstValue(builtRelay, runtime)) };
    const against: Side = { name, measure: () => mean(() => echo(bare)) };
    await compare(report, { name: 'start warm', unit: 'ms', side, against });
    await Promise.all(bare.map((thread) => thread.terminate()));
  },
};

function cold(name: string, topology: Relay, make: () => Runtime): Side {
  return {
    name,
    async measure() {
      await using runtime = make();
      const started = performance.now();
      await firstValue(topology, runtime);
      return performance.now() - started;
    },
  };
}

async function coldBare(): Promise<number> {
  const started = performance.now();
  const threads = [bareEcho(), bareEcho()];
  await echo(threads);
  const ms = performance.now() - started;
  await Promise.all(threads.map((thread) => thread.terminate()));
  return ms;
}

function bareEcho(): Worker {
  return new Worker(new URL('./bareEcho.mjs', import.meta.url), { execArgv: [] });
}

async function firstValue(topology: Relay, runtime: Runtime): Promise<void> {
  await firstValueFrom(of(1).pipe(topology({ runtime })));
}

/** Through one thread after the other. */
async function echo(threads: readonly Worker[]): Promise<void> {
  for (const thread of threads) {
    thread.postMessage(1);
    await answer(thread);
  }
}

async function mean(once: () => Promise<void>): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < warmStarts; i++) await once();
  return (performance.now() - started) / warmStarts;
}
