/**
 * throughput: values a second from one thread to another, everything included, against postMessage in arrays of 100.
 */

import { createRuntime } from 'millrace';
import { lastValueFrom } from 'rxjs';
import { answer, barePair } from './bareThreads.js';
import { hop } from './hop.js';
import { type Bench, compare, type Goal, type Report, type Side } from './kit.js';
import { kinds, type Usual, weightOf } from './values.js';

const goals: Readonly<Partial<Record<Usual, Goal>>> = { objects: { atLeast: 2 } };
/** About 0.4 s on each side. */
const counts: Readonly<Record<Usual, number>> = {
  objects: 1_500_000,
  words: 3_000_000,
  pairs: 1_500_000,
  numbers: 5_000_000,
};

export const throughput: Bench = {
  name: 'throughput',
  about: 'values/s over one hop between two threads, against postMessage of arrays of 100',
  async run(report) {
    for (const kind of kinds) await measure(kind, report);
  },
};

async function measure(kind: Usual, report: Report): Promise<void> {
  // Not a multiple of 100: a last, shorter array ends the other side's run.
  const load = { kind, count: counts[kind] + 1 };
  const expected = weightOf(load);
  const perSecond = async (run: () => Promise<number>): Promise<number> => {
    const started = performance.now();
    const sum = await run();
    const seconds = (performance.now() - started) / 1000;
    if (sum !== expected) throw new Error(`${kind} weighed ${sum} instead of ${expected}`);
    return load.count / seconds;
  };

  await using runtime = createRuntime({ threads: 2 });
  const threads = await barePair('./bareProducer.ts', './bareConsumer.ts');
  const [producer, consumer] = threads;
  const side: Side = {
    name: 'millrace',
    measure: () => perSecond(() => lastValueFrom(hop({ args: load, runtime }))),
  };
  const against: Side = {
    name: 'postMessage of arrays of 100',
    measure: () =>
      perSecond(() => {
        producer.postMessage(load);
        return answer<number>(consumer);
      }),
  };
  const goal = goals[kind];
  await compare(report, {
    name: `throughput ${kind}`,
    unit: 'values/s',
    side,
    against,
    ...(goal === undefined ? {} : { goal }),
  });
  await Promise.all(threads.map((thread) => thread.terminate()));
}
