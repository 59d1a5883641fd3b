/**
 * Batching on threads: what the simulated host shows for any schedule, with real clocks, timers and memory.
 */
import fc from 'fast-check';
import { type Batch, createRuntime, pull, type Run } from 'millrace';
import { firstValueFrom, from, lastValueFrom, NEVER, Subject, startWith, take, toArray } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { arrays, chain, forked } from './fixtures/batching.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runs = long ? { numRuns: 1_000 } : { numRuns: 40, seed: 20_260 };
const { POSITIVE_INFINITY: never } = Number;
const runtime = createRuntime({ threads: 3 });
afterAll(() => runtime.close());

const shapes = fc.constantFrom<Batch>(
  1,
  7,
  'auto',
  { bytes: 60 },
  { flushMs: 0 },
  { size: 5, flushMs: never, idle: false },
  { size: 50, flushMs: 1, idle: false },
  { size: 'auto', latencyMs: 1, idle: false },
);

describe('batching on threads', { timeout: 60_000 }, () => {
  test('law: values come once and in order through any batches; what was sent is counted, by reason, and read', async () => {
    const given = fc.record({
      batches: fc.array(shapes, { minLength: 1, maxLength: 2 }),
      count: fc.nat(3_000),
      pulled: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(given, async ({ batches, count, pulled }) => {
        const values = Array.from({ length: count }, (_, i) => i);
        const started: Run[] = [];
        const operator = chain({ args: batches, runtime, onRun: (run) => void started.push(run) });
        const source = pulled ? pull(() => values) : from(values);
        expect(await lastValueFrom(source.pipe(operator, toArray()))).toEqual(values);
        for (const { values: sent, frames, bytes, bytesRead, flushes } of started[0]!.metrics().channels) {
          expect(sent).toBe(count);
          expect(Object.values(flushes).reduce((sum, n) => sum + n, 0)).toBe(frames);
          expect(bytesRead).toBe(bytes);
        }
      }),
      runs,
    );
  });

  test('law: debatch after batch is the identity', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Batch>(1, 9, 'auto', { size: 100, flushMs: 1 }, { idle: true }),
        fc.nat(2_000),
        async (args, count) => {
          const values = Array.from({ length: count }, (_, i) => i);
          expect(await lastValueFrom(from(values).pipe(arrays({ args, runtime }), toArray()))).toEqual(values);
        },
      ),
      runs,
    );
  });

  test('99 of 100 values, then silence: age lets them go', async () => {
    const values = Array.from({ length: 99 }, (_, i) => i);
    const started: Run[] = [];
    const batch: Batch = { size: 100, flushMs: 10, idle: false };
    const silent = NEVER.pipe(startWith(...values));
    const got = await firstValueFrom(
      silent.pipe(
        chain({ args: [batch], runtime, batches: { output: batch }, onRun: (run) => void started.push(run) }),
        take(99),
        toArray(),
      ),
    );
    expect(got).toEqual(values);
    const [channel] = started[0]!.metrics().channels;
    expect(channel?.flushes).toMatchObject({ age: 1, size: 0, idle: 0, asleep: 0, end: 0 });
  });

  test('a stream of size 1 never waits for one that lets nothing go', async () => {
    const input = new Subject<number>();
    const { errors, words } = forked({
      runtime,
      batches: { default: { size: 1_000, flushMs: never, idle: false }, errors: 1 },
    })(input);
    const done = lastValueFrom(words.pipe(toArray()));
    const first = firstValueFrom(errors.pipe(take(2), toArray()));
    for (const n of [1, 10, 11, 20]) input.next(n);
    expect(await first).toEqual([10, 20]);
    input.complete();
    expect(await done).toEqual([2, 20, 22, 40]);
  });
});
