import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { place, threadsFor } from '../../runtime/placement.js';

describe('placement', () => {
  test('law: threads never differ by more than one executor, and a thread without one is never counted on', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 64 }), (executors, threads) => {
        const placed = place(executors, threads);
        expect(placed).toHaveLength(executors);
        const load = Array.from({ length: threads }, (_, thread) => placed.filter((other) => other === thread).length);
        expect(Math.max(...load) - Math.min(...load)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('law: each executor goes to the thread with the fewest, the first on a tie', () => {
    expect(place(5, 2)).toEqual([0, 1, 0, 1, 0]);
    expect(place(3, 1)).toEqual([0, 0, 0]);
    expect(place(2, 3)).toEqual([0, 1]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 16 }), (executors, threads) => {
        expect(place(executors, threads)).toEqual(Array.from({ length: executors }, (_, i) => i % threads));
      }),
    );
  });

  test('law: a run takes as many threads as it has executors, bounded by the runtime and by what was asked', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 64 }),
        fc.option(fc.nat(100), { nil: undefined }),
        (executors, available, wanted) => {
          const threads = threadsFor(executors, available, wanted);
          if (wanted === 0) expect(threads).toBe(0);
          else expect(threads).toBe(Math.min(executors, available, wanted ?? Number.POSITIVE_INFINITY));
        },
      ),
    );
  });
});
