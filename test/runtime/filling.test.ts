import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BatchRule, defaultBatch } from '../../runtime/batch.js';
import { Filling, maxAutoSize } from '../../runtime/filling.js';
import type { FlushReason } from '../../runtime/metrics.js';

const auto: BatchRule = { ...defaultBatch, size: 'auto' };

/** Publishes values; a full batch leaves, as its owner has it. */
function publish(filling: Filling, values: number, nowMs = 0): void {
  for (let i = 0; i < values; i++) if (filling.add(nowMs)) filling.left('size');
}

/** A filling whose size has grown so far. */
function grown(size: number, rule: BatchRule = auto, max = maxAutoSize): Filling {
  const filling = new Filling(rule, max);
  while (filling.size < size) publish(filling, 1);
  expect([filling.size, filling.count]).toEqual([size, 0]);
  return filling;
}

describe("size 'auto'", () => {
  test('C-152: begins at 1; 1 value: 2; 2 more: 3', () => {
    const filling = new Filling(auto, 8);
    const sizes = [filling.size];
    publish(filling, 1);
    sizes.push(filling.size);
    publish(filling, 2);
    expect([...sizes, filling.size]).toEqual([1, 2, 3]);
  });

  test('C-153: never above its bound', () => {
    const filling = new Filling(auto, 4);
    for (let i = 0; i < 40; i++) {
      publish(filling, 1);
      expect(filling.size).toBeLessThanOrEqual(4);
    }
    expect(filling.size).toBe(4);
  });

  test.each<FlushReason>(['age', 'explicit'])(
    'C-154, C-156: a partial batch that leaves by %s halves it, down to 1',
    (reason) => {
      const filling = grown(4);
      const sizes = [4];
      for (let i = 0; i < 3; i++) {
        filling.add(0);
        filling.left(reason);
        sizes.push(filling.size);
      }
      expect(sizes).toEqual([4, 2, 1, 1]);
    },
  );

  test('C-155: an empty batch, and one that leaves for another reason, leave it', () => {
    const filling = grown(4);
    filling.left('explicit');
    for (const reason of ['idle', 'asleep', 'starved', 'bytes', 'end', 'error'] as const) {
      filling.add(0);
      filling.left(reason);
    }
    expect(filling.size).toBe(4);
  });

  test('law: with latencyMs, the size settles where a full batch of this rate is just old enough', () => {
    const rates = fc.record({
      gapMs: fc.double({ min: 0.01, max: 10, noNaN: true }),
      latencyMs: fc.double({ min: 0.5, max: 50, noNaN: true }),
    });
    fc.assert(
      fc.property(rates, ({ gapMs, latencyMs }) => {
        const filling = new Filling({ ...auto, latencyMs, flushMs: Number.POSITIVE_INFINITY });
        let nowMs = 0;
        let oldest = 0;
        for (let i = 0; i < 200_000 && i * gapMs < 400 * latencyMs; i++) {
          nowMs += gapMs;
          // The owner lets it go when it is due.
          if (filling.deadlineMs <= nowMs) filling.left('age');
          if (!filling.add(nowMs)) continue;
          oldest = (filling.count - 1) * gapMs;
          filling.left('size');
        }
        expect(oldest).toBeLessThanOrEqual(latencyMs * 1.001);
        // As large as that allows, but for what growing by one and halving leave open.
        const fits = Math.min(maxAutoSize, Math.max(1, Math.floor(latencyMs / gapMs)));
        expect(filling.size).toBeGreaterThanOrEqual(Math.min(fits, 20) / 2 - 1);
      }),
    );
  });

  test('latencyMs bounds how long a value waits', () => {
    const filling = new Filling({ ...auto, latencyMs: 2 });
    publish(filling, 3);
    filling.add(10);
    expect(filling.deadlineMs).toBe(12);
  });
});

describe('a size of the user', () => {
  test('law: full exactly at its size; the deadline is that of the oldest value (C-180)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(fc.nat(5), { maxLength: 40 }), (size, gaps) => {
        const filling = new Filling({ ...defaultBatch, size, flushMs: 7 });
        let nowMs = 0;
        const waiting: number[] = [];
        for (const gap of gaps) {
          nowMs += gap;
          waiting.push(nowMs);
          expect(filling.add(nowMs)).toBe(waiting.length === size);
          expect(filling.deadlineMs).toBe(waiting[0]! + 7);
          if (waiting.length < size) continue;
          filling.left('size');
          waiting.length = 0;
          expect([filling.count, filling.size, filling.deadlineMs]).toEqual([0, size, Number.POSITIVE_INFINITY]);
        }
      }),
    );
  });
});
