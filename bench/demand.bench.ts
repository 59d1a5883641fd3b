/**
 * demand: what it costs to ask a topology. The same topology, subscribed and asked without end; and one value asked for at a time, from
 * exchanges with batches of 100 and of 1: a batch must not wait for values nobody has asked for. A run that is subscribed has no
 * instruction of demand per value, as a CPU profile of the receiving thread shows.
 */

import { Session } from 'node:inspector/promises';
import { createRuntime, pull, type Runtime } from 'millrace';
import type { Observable } from 'rxjs';
import { builtRelay } from './builtRelay.mjs';
import { type Bench, compare, type Side } from './kit.js';

const many = 500_000;
const few = 20_000;

interface Asking {
  request(n: number): void;
  unsubscribe(): void;
}
type Ask = (observer: { next(value: number): void; error(reason: unknown): void; complete(): void }) => Asking;

const key = Symbol.for('millrace.demand/1');

function results(runtime: Runtime, count: number, batch: number): Observable<number> {
  const numbers = pull(function* () {
    for (let n = 0; n < count; n++) yield n;
  });
  return numbers.pipe(builtRelay({ runtime, batches: { default: batch } }));
}

/** Values a second, each of which is answered by a request for `again` more. */
function asked(name: string, runtime: Runtime, count: number, batch: number, first: number, again: number): Side {
  return {
    name,
    measure: () =>
      rate(count, (done, failed) => {
        let got = 0;
        const values = results(runtime, count, batch) as unknown as Record<symbol, Ask>;
        const asking = (values[key] as Ask)({
          next() {
            got++;
            if (again > 0) asking.request(again);
          },
          error: failed,
          complete: () => done(got),
        });
        asking.request(first);
      }),
  };
}

function subscribed(name: string, runtime: Runtime, count: number, batch: number): Side {
  return {
    name,
    measure: () =>
      rate(count, (done, failed) => {
        let got = 0;
        results(runtime, count, batch).subscribe({ next: () => got++, error: failed, complete: () => done(got) });
      }),
  };
}

async function rate(
  count: number,
  run: (done: (got: number) => void, failed: (reason: unknown) => void) => void,
): Promise<number> {
  const started = performance.now();
  const got = await new Promise<number>(run);
  if (got !== count) throw new Error(`${got} values came of ${count}`);
  return (count / (performance.now() - started)) * 1000;
}

/** How many per cent of the samples of this thread's CPU profile are in the files of demand. */
async function shareOfDemand(side: Side): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  await side.measure();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const files = /[\\/](demand|prefetch|pushInput|overflow)\.js$/;
  const hits = (counted: (url: string) => boolean): number =>
    profile.nodes.reduce(
      (total, { callFrame, hitCount = 0 }) => (counted(callFrame.url) ? total + hitCount : total),
      0,
    );
  return (hits((url) => files.test(url)) / hits(() => true)) * 100;
}

export const demand: Bench = {
  name: 'demand',
  about: 'values/s through two threads, asked without end against subscribed; one at a time, batches of 100 against 1',
  async run(report) {
    await using runtime = createRuntime({ threads: 2 });
    const unit = 'values/s';
    await compare(report, {
      name: 'without end',
      unit,
      side: asked('asked', runtime, many, 100, Number.POSITIVE_INFINITY, 0),
      against: subscribed('subscribed', runtime, many, 100),
    });
    await compare(report, {
      name: 'of a subscribed run',
      unit: '%',
      side: { name: 'samples in demand', measure: () => shareOfDemand(subscribed('', runtime, many, 100)) },
      goal: { atMost: 0 },
      rounds: 3,
    });
    await compare(report, {
      name: 'one at a time',
      unit,
      side: asked('batch 100', runtime, few, 100, 1, 1),
      against: asked('batch 1', runtime, few, 1, 1, 1),
      goal: { atLeast: 0.5 },
    });
  },
};
