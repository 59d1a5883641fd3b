/**
 * What a batch holds: bounds, order, ends, counters.
 */
import fc from 'fast-check';
import { type Batch, keyBy, type Run, topology } from 'millrace';
import { map } from 'millrace/operators';
import { simulate } from 'millrace/testing';
import type { Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { chain, classic, hop, runs, timed, times, toHop, valuesOf } from './fixtures/hops.js';

const { POSITIVE_INFINITY: never } = Number;
const keyOf = (n: number): number => n % 4;

describe('what a batch holds', () => {
  test('law: never more than its size, and less only for a reason; values of one target alone', () => {
    const shapes = fc.record({
      size: fc.integer({ min: 1, max: 6 }),
      flushMs: fc.constantFrom(1, 5, never),
      idle: fc.boolean(),
    });
    const keyed = topology(
      import.meta.url,
      (values$: Observable<number>, batch: Batch) =>
        values$.pipe(
          keyBy((n) => n % 5, { parallelism: 3, batch, name: 'key' }),
          map((n) => n),
        ),
      { name: 'keyed' },
    );
    fc.assert(
      // Rings of this world are so small that a full batch goes in two frames, for their bytes.
      fc.property(shapes, times, fc.nat(2 ** 32 - 1), (batch, at, seed) => {
        const { flushes, end, outputs } = simulate(keyed, {
          input: { values: timed(at), endMs: 99 },
          args: batch,
          seed,
        });
        expect([end, outputs['output']?.length]).toEqual(['complete', at.length]);
        for (const { count, reason, channel } of flushes) {
          if (!channel.startsWith('key:')) continue;
          expect(count).toBeLessThanOrEqual(batch.size);
          if (reason === 'size') expect(count).toBe(batch.size);
          if (reason === 'idle' || reason === 'asleep') expect(batch.idle).toBe(true);
          if (reason === 'age') expect(batch.flushMs).not.toBe(never);
        }
      }),
      { ...runs, examples: [[{ size: 6, flushMs: 1, idle: false }, [0, 0, 0, 0, 0, 0, 0, 0, 0], 8]] },
    );
  });

  test('law: the counters say what was sent, by reason; what was read is what was sent', () => {
    fc.assert(
      fc.property(
        times,
        fc.constantFrom<Batch>(1, 3, 'auto', { bytes: 40 }),
        fc.nat(2 ** 32 - 1),
        (at, batch, seed) => {
          const started: Run[] = [];
          const { flushes } = simulate(chain, {
            input: { values: timed(at), endMs: 99 },
            args: [batch, batch],
            seed,
            run: { onRun: (run) => void started.push(run) },
          });
          for (const { id, values, frames, bytes, bytesRead, flushes: counted } of started[0]!.metrics().channels) {
            const sent = flushes.filter(({ channel }) => channel === id);
            expect(values).toBe(sent.reduce((sum, { count }) => sum + count, 0));
            expect(frames).toBe(sent.length);
            for (const [reason, count] of Object.entries(counted))
              expect([reason, count]).toEqual([reason, sent.filter((flush) => flush.reason === reason).length]);
            expect(bytesRead).toBe(bytes);
          }
        },
      ),
      runs,
    );
  });

  test('law: no batch setting touches an order that holds (C-141, C-190)', () => {
    const shapes = fc.array(
      fc.constantFrom<Batch>(1, 10, 'auto', { size: 7, ...classic }, { flushMs: 0 }, { bytes: 50 }),
      {
        minLength: 1,
        maxLength: 3,
      },
    );
    const perKey = topology(
      import.meta.url,
      (values$: Observable<number>, batches: readonly Batch[]) =>
        batches.reduce((stream$, batch) => stream$.pipe(keyBy(keyOf, { parallelism: 3, batch })), values$),
      { name: 'perKey' },
    );
    fc.assert(
      fc.property(shapes, times, fc.nat(2 ** 32 - 1), (args, at, seed) => {
        const input = { values: timed(at), endMs: 99 };
        const sent = at.map((_, i) => i);
        expect(valuesOf(simulate(chain, { input, args, seed }))).toEqual(sent);
        const got = valuesOf(simulate(perKey, { input, args, seed }));
        for (const key of [0, 1, 2, 3])
          expect(got.filter((n) => keyOf(n) === key)).toEqual(sent.filter((n) => keyOf(n) === key));
      }),
      runs,
    );
  });

  test('law: what waits in batches comes before the end, and before the error (C-189, C-200, C-201)', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 2, max: 50 }), fc.nat(2 ** 32 - 1), (at, size, seed) => {
        const batches = [
          { size, ...classic },
          { size: 100, ...classic },
        ];
        const input = { values: timed(at), endMs: 99 };
        const sent = at.map((_, i) => i);
        const complete = simulate(chain, { input, args: batches, seed });
        expect([valuesOf(complete), complete.end]).toEqual([sent, 'complete']);
        const failed = simulate(chain, { input: { ...input, error: 'gone' }, args: batches, seed });
        expect(valuesOf(failed)).toEqual(sent);
        expect(failed.end).toMatchObject({ code: 'ERR_SOURCE', cause: 'gone' });
      }),
      runs,
    );
  });

  test('100 values of 4 bytes in one frame take at most 55 % of those in 100 frames (C-203)', () => {
    const bytesOf = (size: number, values: readonly unknown[]): number => {
      let run: Run | undefined;
      simulate(hop, {
        input: values,
        run: { batches: { hop: { size, ...classic } }, onRun: (started) => (run = started) },
      });
      return run?.metrics().channels.find(({ id }) => id === toHop)?.bytes ?? Number.NaN;
    };
    for (const values of [
      Array.from({ length: 100 }, (_, i) => i * 1000),
      Array.from({ length: 100 }, (_, i) => `${1000 + i}`),
    ])
      expect(bytesOf(100, values) / bytesOf(1, values)).toBeLessThanOrEqual(0.55);
  });
});
