/** The laws of suspension: an executor that stops between two outputs gives what RxJS gives without stopping. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { concatMap, count, reduce, skip, take } from '../../operators/index.js';
import { Bench, Plain, seen } from './harness.js';
import { buildOf, loweredPipeline, mixedPipeline, modelOf, type Pipeline } from './pipelines.js';

const numRuns = process.env['MILLRACE_LONG'] === '1' ? 20_000 : 400;
const input = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 12 });
const ending = fc.constantFrom('complete', 'error', 'open');
const sum = (a: number, b: number): number => a + b;
const rooms = fc.array(fc.boolean(), { minLength: 1, maxLength: 20 });

function drive(
  driven: Pick<Bench | Plain, 'push' | 'complete' | 'error'>,
  values: readonly number[],
  end: string,
): void {
  driven.push(...values);
  if (end === 'complete') driven.complete();
  if (end === 'error') driven.error('the source failed');
}

function model(pipeline: Pipeline, values: readonly number[], end: string): readonly unknown[] {
  const plain = new Plain(modelOf(pipeline));
  drive(plain, values, end);
  return seen(plain.log);
}

interface Schedule {
  readonly rooms: readonly boolean[];
  /** Whether a resume without room comes before room does. */
  readonly resumes: readonly boolean[];
}

function suspended(pipeline: Pipeline, values: readonly number[], end: string, { rooms, resumes }: Schedule): Bench {
  let outputs = 0;
  const bench = new Bench(buildOf(pipeline), {
    onOutput: (host) => {
      host.room = rooms[outputs++ % rooms.length] as boolean;
    },
  });
  drive(bench, values, end);
  for (let turn = 0; !bench.room; turn++) {
    const { length } = bench.log;
    if (resumes[turn % resumes.length] === true) {
      bench.program.resume();
      expect(bench.log).toHaveLength(length);
    }
    bench.grant();
  }
  return bench;
}

const schedule = fc.record({ rooms, resumes: rooms });

test('law: with steps of the loop, outputs are those of RxJS whenever the executor stops', () => {
  fc.assert(
    fc.property(loweredPipeline, input, ending, schedule, (pipeline, values, end, when) => {
      const bench = suspended(pipeline, values, end, when);
      expect(seen(bench.log)).toEqual(model(pipeline, values, end));
      expect(bench.program.suspended).toBe(false);
      if (bench.failure === undefined) expect(bench.waiting).toBe(0);
    }),
    { numRuns },
  );
});

test('law: with opaque steps between, outputs are those of RxJS whenever the executor stops', () => {
  fc.assert(
    fc.property(mixedPipeline, input, ending, schedule, (pipeline, values, end, when) => {
      expect(seen(suspended(pipeline, values, end, when).log)).toEqual(model(pipeline, values, end));
    }),
    { numRuns },
  );
});

test('what a branch that ended while it was being subscribed still has to say comes before the stream starts', () => {
  const none = { steps: [] };
  const counted = { steps: [{ name: 'count', make: () => count() }] };
  const right = {
    steps: [
      { name: 'take(0)', make: () => take<number>(0) },
      { name: 'skip(0)', make: () => skip<number>(0) },
    ],
    fork: { left: counted, right: { steps: [{ name: 'reduce(2)', make: () => reduce(sum, 2) }] }, behind: none },
  };
  const left = { steps: [{ name: 'reduce(7)', make: () => reduce(sum, 7) }] };
  const steps = [{ name: 'take(0)', make: () => take<number>(0) }];
  const pipeline: Pipeline = { steps, fork: { left, right, behind: none } };
  const bench = suspended(pipeline, [], 'complete', { rooms: [false], resumes: [false] });
  expect(bench.values()).toEqual([0, 2, 7]);
  expect(seen(bench.log)).toEqual(model(pipeline, [], 'complete'));
});

test('a branch that emits while it is being subscribed comes out before the next one is subscribed', () => {
  const none = { steps: [] };
  const behindTake = { steps: [{ name: 'take(0)', make: () => take(0) }] };
  const left = {
    steps: [
      ...behindTake.steps,
      { name: 'reduce(2)', make: () => reduce((sum: number, n: number) => sum + n, 2) },
      { name: 'concatMap', make: () => concatMap((n: number) => [n, n - 1]) },
    ],
  };
  const right = { steps: [{ name: 'reduce(0)', make: () => reduce((sum: number, n: number) => sum + n, 0) }] };
  const pipeline = { ...behindTake, fork: { left, right, behind: none } } as Pipeline;
  const bench = suspended(pipeline, [], 'complete', { rooms: [false], resumes: [false] });
  expect(seen(bench.log)).toEqual(model(pipeline, [], 'complete'));
});
