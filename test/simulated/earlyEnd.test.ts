/** Steps that want no more, in whatever world: the values they wanted come, the source is left, and nobody is held back. */
import fc from 'fast-check';
import type { Batch } from 'millrace';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { chain, type Deed, drawn, fork, type Item, type Stage } from './fixtures/chain.js';
import { batches, isTimed, items, loads, narrow, often, stages, widths, worlds } from './fixtures/draws.js';
import { by, play } from './fixtures/play.js';

const deeds: fc.Arbitrary<Deed> = fc.record({
  do: fc.constantFrom('take', 'takeWhile', 'first', 'elementAt'),
  count: fc.integer({ min: 1, max: 6 }),
});

/** What a step lets pass of `ns`, and whether it is done with them. */
function passed(deed: Deed, ns: readonly number[]): { readonly out: readonly number[]; readonly done: boolean } {
  if (!('count' in deed)) throw new Error('no early end');
  const { count } = deed;
  const found = ns.findIndex((n) => n >= count);
  if (deed.do === 'take') return { out: ns.slice(0, count), done: ns.length >= count };
  if (deed.do === 'elementAt') return { out: ns.slice(count - 1, count), done: ns.length >= count };
  if (deed.do === 'takeWhile') return { out: found < 0 ? ns : ns.slice(0, found), done: found >= 0 };
  return { out: found < 0 ? [] : [ns[found]!], done: found >= 0 };
}

/** Whether batches wait for no company. */
const prompt = (batch: Batch): boolean => typeof batch !== 'object' || batch.idle !== false;

const numbers = (list: readonly Item[]): number[] => list.map(({ n }) => n);

/** An input that never ends. */
const endless = (list: readonly Item[], everyMs: number) => ({
  values: list.map((item, i) => [i * everyMs, item] as const),
  endMs: Number.POSITIVE_INFINITY,
});

describe('an early end, simulated', { timeout: 300_000 }, () => {
  test('law: in any segment of one executor the values are those of a list, and the run ends though its input does not', () => {
    const behind = fc.array(stages('gather'), { maxLength: 2 });
    fc.assert(
      fc.property(
        items(20, 12),
        narrow,
        behind,
        deeds,
        fc.constantFrom(0, 1, 10),
        worlds,
        (list, before, after, deed, everyMs, seed) => {
          const plan = [...before, { cut: 'gather' as const, parallelism: 1, batch: 3, deed }, ...after];
          const { heard, end, input, metrics, endMs } = play(chain, plan, {
            input: endless(list, everyMs),
            seed,
            watched: true,
          });
          const { out, done } = passed(deed, numbers(list));
          expect(done).toBe(true);
          expect([numbers(heard['output']!.values), heard['output']!.ends, end]).toEqual([
            out,
            ['complete'],
            'complete',
          ]);
          // The source is left at the end of the run at the latest.
          expect([input.subscribed, input.left]).toEqual([1, 1]);
          const given = list.filter((_, i) => i * everyMs <= endMs).length;
          expect(input.gave).toBeLessThanOrEqual(given);
          // What is held, or waits for room, when the run ends was never taken.
          expect(metrics.in).toBeLessThanOrEqual(input.gave);
          expect(metrics.in).toBeGreaterThan(out.at(-1) ?? -1);
          // Where nothing is late, a timed source gives no value more than was wanted.
          const wanted = out.at(-1)! + (deed.do === 'takeWhile' ? 2 : 1);
          if (seed === 0 && everyMs > 0 && plan.every(({ batch = 1 }) => prompt(batch)))
            expect(input.gave).toBe(wanted);
        },
      ),
      often(200),
    );
  });

  test('law: before the first cut as well; where nothing is late, the source is left inside the last value that is wanted', () => {
    fc.assert(
      fc.property(loads(20), deeds, stages('shuffle', 'keyBy'), worlds, ({ list, input }, deed, behind, seed) => {
        const played = play(chain, [{ parallelism: 1, deed }, behind], { input, seed, watched: true });
        const { out, done } = passed(deed, numbers(list));
        if (!done && (deed.do === 'first' || deed.do === 'elementAt')) {
          expect(played.end).toMatchObject({ code: 'ERR_OPERATOR' });
          return;
        }
        const got = numbers(played.heard['output']!.values);
        expect([got.sort((a, b) => a - b), played.end]).toEqual([out, 'complete']);
        const last = deed.do === 'takeWhile' ? list.findIndex(({ n }) => n >= deed.count) : out.at(-1)!;
        const { subscribed, left, gave } = played.input;
        expect([subscribed, left]).toEqual([1, 1]);
        expect(gave).toBeGreaterThanOrEqual(done ? last + 1 : list.length);
        const after =
          isTimed(input) && done ? input.values.filter(([atMs]) => atMs <= input.values[last]![0]).length : gave;
        if (seed === 0) expect(gave).toBeLessThanOrEqual(after);
      }),
      often(150),
    );
  });

  test('law: on several executors each takes its own, of the values that reach it', () => {
    fc.assert(
      fc.property(
        loads(40),
        stages('keyBy', 'shuffle', 'broadcast'),
        fc.nat(6),
        worlds,
        ({ list, input }, stage, count, seed) => {
          const plan: readonly Stage[] = [
            { ...stage, deed: { do: 'take', count } },
            { cut: 'gather', parallelism: 1 },
          ];
          const { meetings, heard, end } = play(chain, plan, { input, seed });
          expect(end).toBe('complete');
          const homes = [
            ...by(
              meetings.filter(({ segment }) => segment === 's0'),
              ({ executor }) => executor,
            ).values(),
          ];
          const expected = homes.flatMap((met) => met.slice(0, count).map(({ n }) => n));
          const got = numbers(heard['output']!.values);
          expect(got.sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b));
          // None took less than there was for it: those of a broadcast meet the first values, those of a shuffle a fair share.
          if (stage.cut === 'broadcast') expect(got).toHaveLength(stage.parallelism * Math.min(count, list.length));
          if (stage.cut === 'shuffle')
            expect(got.length).toBeGreaterThanOrEqual(
              stage.parallelism * Math.min(count, Math.floor(list.length / stage.parallelism)),
            );
        },
      ),
      often(150),
    );
  });

  test('law: of a broadcast, those that are finished never hold back the others', () => {
    const counts = fc.array(fc.constantFrom(0, 1, 3, 7, 1000), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(loads(40), narrow, counts, batches, worlds, ({ list, input }, before, counts, batch, seed) => {
        const deed: Deed = { do: 'share', counts };
        const plan: readonly Stage[] = [...before, { cut: 'broadcast', parallelism: counts.length, batch, deed }];
        const { heard, end } = play(chain, plan, { input, seed });
        expect(end).toBe('complete');
        const expected = list.length === 0 ? [] : counts.flatMap((count) => numbers(list.slice(0, count)));
        expect(numbers(heard['output']!.values).sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b));
      }),
      often(150),
    );
  });

  test('law: a branch that is finished never holds back another one, and the source is left when the last one is', () => {
    fc.assert(
      fc.property(items(30, 14), narrow, widths, deeds, deeds, worlds, (list, trunk, parallelism, one, other, seed) => {
        const side = (deed: Deed): readonly Stage[] => [
          { cut: 'gather', parallelism: 1, batch: 2, deed },
          { cut: 'keyBy', parallelism },
        ];
        const args = { trunk, left: side(one), right: side(other) };
        const { heard, end, input } = play(fork, args, { input: endless(list, 1), seed, watched: true });
        expect(end).toBe('complete');
        for (const [name, deed] of [
          ['left', one],
          ['right', other],
        ] as const) {
          const got = numbers(heard[name]!.values).sort((a, b) => a - b);
          expect([name, got, heard[name]!.ends]).toEqual([name, passed(deed, numbers(list)).out, ['complete']]);
        }
        expect(input.left).toBe(1);
        // The other way round: without an end on one side the other one has all.
        const rest = play(fork, { trunk, left: side(one), right: [] }, { input: list, seed });
        expect([rest.end, numbers(rest.heard['right']!.values)]).toEqual(['complete', numbers(list)]);
      }),
      often(100),
    );
  });

  test('law: a pull without end is closed, having been asked for no more than rings and batches hold', () => {
    const pad = 'x'.repeat(1000);
    fc.assert(
      fc.property(
        fc.array(stages('gather'), { maxLength: 2 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 3 }),
        worlds,
        (between, count, pulls, seed) => {
          const item: Item = { n: 0, key: 'a', to: [], pad };
          const plan: readonly Stage[] = [
            ...between.map((stage) => ({ ...stage, batch: 5 })),
            { cut: 'gather', parallelism: 1, batch: 5, deed: { do: 'take', count } },
          ];
          const args = { pulls: new Array<Item[]>(pulls).fill([item]), endless: true, stages: plan };
          const { wells, heard, end } = play(drawn, args, { seed });
          expect(end).toBe('complete');
          expect(heard['output']!.values).toHaveLength(count);
          if (pulls === 1) expect(numbers(heard['output']!.values)).toEqual(Array.from({ length: count }, (_, n) => n));
          // A source that was never begun need not be closed.
          expect(wells.closed).toBe(wells.made);
          // 64 KiB of ring a hop, and the batches that are read, parked and open at its ends.
          const hop = 65 + 3 * 5;
          expect(wells.asked).toBeLessThanOrEqual(count + (between.length + 1) * hop * pulls);
        },
      ),
      often(100),
    );
  });

  test('law: take() behind the topology is an early end like any other', () => {
    fc.assert(
      fc.property(
        items(30, 10),
        stages('keyBy', 'shuffle'),
        fc.integer({ min: 1, max: 10 }),
        worlds,
        (list, stage, count, seed) => {
          const { heard, end, input } = play(chain, [{ ...stage, batch: 3 }], {
            input: endless(list, 2),
            seed,
            watched: true,
            around: rx.take(count),
          });
          expect([end, heard['output']!.ends, input.left]).toEqual(['complete', ['complete'], 1]);
          const got = numbers(heard['output']!.values);
          expect(new Set(got).size).toBe(count);
          if (stage.parallelism === 1) expect(got).toEqual(numbers(list.slice(0, count)));
        },
      ),
      often(100),
    );
  });
});
