/**
 * batching: what a batch costs and gains. One emission alone, by its own path, by the general one and by hand; streams of one
 * batch size beside streams of another; batches of 100 against single values between threads, with what the latter cost a value
 * that comes alone.
 */

import { createRuntime, type Run } from 'millrace';
import { lastValueFrom } from 'rxjs';
import { type Emission, emissionOf } from './emission.js';
import { hop } from './hop.js';
import { type Bench, compare, type Report, type Side } from './kit.js';
import { paced } from './paced.js';
import { split } from './split.js';
import { type Kind, weightOf } from './values.js';

/** What the goals ask for. */
const rounds = 15;
/** Of a side that takes one thread: many short rounds, since a disturbance is then in few of them. */
const shortRounds = 61;
const measureMs = 30;

export const batching: Bench = {
  name: 'batching',
  about: 'batch: 1 against the general path and bare frames; mixed streams; 100 against 1; latency at low rates',
  async run(report) {
    for (const kind of ['objects', 'words', 'numbers'] as const) {
      const alone = emission('batch: 1', kind, 'alone');
      await compare(report, {
        ...{ name: `${kind}, 1 by its own path`, unit: 'values/s', side: alone, rounds: shortRounds, threads: 1 },
        ...{ against: emission('general path at size 1', kind, 'general'), goal: { atLeast: 1, sure: true } },
      });
      await compare(report, {
        ...{ name: `${kind}, 1 and bare frames`, unit: 'values/s', side: alone, rounds: shortRounds, threads: 1 },
        ...{ against: emission('frames written in a loop', kind, 'bare'), goal: { atLeast: 0.95, sure: true } },
      });
    }
    await mixed(report);
    for (const kind of ['words', 'objects'] as const) await hundred(kind, report);
    await bytes(report);
    await paced(report, rounds);
  },
};

/** Frames through a ring that the same thread empties: encoding, header and ring, and nothing else. */
function emission(name: string, kind: Kind, by: Emission): Side {
  const emit = emissionOf(kind, by);
  return {
    name,
    async measure() {
      const started = performance.now();
      let values = 0;
      let ms = 0;
      for (; ms < measureMs; ms = performance.now() - started) values += emit();
      return (values * 1000) / ms;
    },
  };
}

const hopValues: Readonly<Record<'words' | 'objects', readonly [many: number, few: number]>> = {
  words: [2_000_000, 250_000],
  objects: [1_000_000, 250_000],
};

async function hundred(kind: 'words' | 'objects', report: Report): Promise<void> {
  await using runtime = createRuntime({ threads: 2 });
  const sideOf = (size: number, count: number): Side => ({
    name: `batch: ${size}`,
    async measure() {
      const load = { kind, count };
      const started = performance.now();
      const sum = await lastValueFrom(hop({ args: load, runtime, batches: { hop: size } }));
      const seconds = (performance.now() - started) / 1000;
      if (sum !== weightOf(load)) throw new Error(`${kind} weighed ${sum}`);
      return count / seconds;
    },
  });
  const [many, few] = hopValues[kind];
  await compare(report, {
    ...{ name: `${kind}, 100 and 1`, unit: 'values/s', side: sideOf(100, many), against: sideOf(1, few) },
    ...{ goal: { atLeast: 5, sure: true }, rounds },
  });
}

/** One value in a thousand goes to a stream of its own, unbatched or not. */
async function mixed(report: Report): Promise<void> {
  await using runtime = createRuntime({ threads: 3 });
  const load = { kind: 'objects', count: 800_000 } as const;
  const sideOf = (name: string, errors: number): Side => ({
    name,
    async measure() {
      const started = performance.now();
      const { words, errors: failed } = split({ args: load, runtime, batches: { default: 100, errors } });
      const [sum, wrong] = await Promise.all([lastValueFrom(words), lastValueFrom(failed)]);
      const seconds = (performance.now() - started) / 1000;
      if (sum + wrong !== weightOf(load)) throw new Error(`weighed ${sum} and ${wrong}`);
      return load.count / seconds;
    },
  });
  await compare(report, {
    ...{ name: 'streams of 100 and of 1', unit: 'values/s', side: sideOf('100 and 1', 1), rounds },
    ...{ against: sideOf('100 and 100', 100), goal: { atLeast: 0.97 } },
  });
}

/** Counted by the channel, not computed. */
async function bytes(report: Report): Promise<void> {
  await using runtime = createRuntime({ threads: 2 });
  const bytesOf = async (size: number): Promise<number> => {
    const runs: Run[] = [];
    const load = { kind: 'short', count: 100 } as const;
    const onRun = (run: Run): void => void runs.push(run);
    await lastValueFrom(hop({ args: load, runtime, batches: { hop: { size, idle: false } }, onRun }));
    return runs[0]?.metrics().channels.find(({ id }) => id.startsWith('hop:'))?.bytes ?? Number.NaN;
  };
  const [value, other] = [await bytesOf(100), await bytesOf(1)];
  const ratio = value / other;
  const goal = { goal: '<= 0.55', met: ratio <= 0.55 };
  report.result({
    ...{ name: '100 values of 4 bytes', unit: 'bytes', value, against: { name: '100 frames', value: other } },
    ...{ ratio, interval: null, ...goal },
  });
}
