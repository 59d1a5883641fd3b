/**
 * edges: each adapter against its bare counterpart, which does the same work: the same values, one by one, into the same sink.
 * All of it on the calling thread, so that nothing but the edge differs.
 */

import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { into, pull, toAsyncBatches, toAsyncIterable, toReadable, toReadableStream } from 'millrace';
import { type Bench, type Comparison, compare } from './kit.js';

const count = 200_000;
const list: readonly number[] = Array.from({ length: count }, (_, n) => n);
const sum = (count * (count - 1)) / 2;

/** Values a second of what returns the sum of all it took. */
function rate(name: string, run: () => Promise<number>): Comparison['side'] {
  return {
    name,
    async measure() {
      const started = performance.now();
      const got = await run();
      if (got !== sum) throw new Error(`${name} gave ${got}, not ${sum}`);
      return (count / (performance.now() - started)) * 1000;
    },
  };
}

async function* generated(): AsyncGenerator<number> {
  for (const n of list) yield n;
}

async function summed(values: AsyncIterable<number>): Promise<number> {
  let total = 0;
  for await (const n of values) total += n;
  return total;
}

async function summedBatches(batches: AsyncIterable<readonly number[]>): Promise<number> {
  let total = 0;
  for await (const batch of batches) for (const n of batch) total += n;
  return total;
}

class Sum extends Writable {
  total = 0;

  constructor() {
    super({ objectMode: true });
  }

  override _write(n: number, _: unknown, done: () => void): void {
    this.total += n;
    done();
  }
}

async function intoSum(fill: (sink: Sum) => Promise<unknown>): Promise<number> {
  const sink = new Sum();
  await fill(sink);
  return sink.total;
}

async function intoWebSum(fill: (sink: WritableStream<number>) => Promise<unknown>): Promise<number> {
  let total = 0;
  const write = (n: number): void => {
    total += n;
  };
  await fill(new WritableStream({ write }));
  return total;
}

function bareStream(): ReadableStream<number> {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      if (next < count) controller.enqueue(next++);
      else controller.close();
    },
  });
}

const asked = pull(() => list);
const noSlower = { atLeast: 1 } as const;

const comparisons: readonly Pick<Comparison, 'name' | 'side' | 'against' | 'goal'>[] = [
  {
    name: 'toAsyncIterable',
    side: rate('for await', () => summed(toAsyncIterable(asked))),
    against: rate('an async generator', () => summed(generated())),
    goal: noSlower,
  },
  {
    name: 'toAsyncBatches',
    side: rate('for await', () => summedBatches(toAsyncBatches(asked))),
    against: rate('an async generator', () => summed(generated())),
    goal: { atLeast: 3 },
  },
  {
    name: 'toReadable',
    side: rate('pipeline', () => intoSum((sink) => pipeline(toReadable(asked), sink))),
    against: rate('Readable.from', () => intoSum((sink) => pipeline(Readable.from(list), sink))),
    goal: noSlower,
  },
  {
    name: 'into, Node',
    side: rate('into', () => intoSum((sink) => into(asked, sink))),
    against: rate('pipeline', () => intoSum((sink) => pipeline(Readable.from(list), sink))),
    goal: noSlower,
  },
  {
    name: 'toReadableStream',
    side: rate('pipeTo', () => intoWebSum((sink) => toReadableStream(asked).pipeTo(sink))),
    against: rate('ReadableStream.from', () => intoWebSum((sink) => ReadableStream.from(list).pipeTo(sink))),
    goal: noSlower,
  },
  {
    name: 'toReadableStream, by hand',
    side: rate('pipeTo', () => intoWebSum((sink) => toReadableStream(asked).pipeTo(sink))),
    against: rate('a stream of its own pull', () => intoWebSum((sink) => bareStream().pipeTo(sink))),
  },
  {
    name: 'into, Web',
    side: rate('into', () => intoWebSum((sink) => into(asked, sink))),
    against: rate('pipeTo', () => intoWebSum((sink) => ReadableStream.from(list).pipeTo(sink))),
    goal: noSlower,
  },
];

export const edges: Bench = {
  name: 'edges',
  about: 'values/s through each adapter of a pull, against its bare counterpart; all on one thread',
  async run(report) {
    for (const comparison of comparisons) await compare(report, { ...comparison, unit: 'values/s', threads: 1 });
  },
};
