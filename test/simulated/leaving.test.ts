/** Leaving, in whatever world, at any value or time: nothing follows, all is let go once, and the threads serve the next run. */
import fc from 'fast-check';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { chain, type Deed, drawn, fork, type Item, type Stage } from './fixtures/chain.js';
import { isTimed, items, loads, often, stages, worlds } from './fixtures/draws.js';
import { by, type Played, play } from './fixtures/play.js';

const numbers = (list: readonly Item[]): number[] => list.map(({ n }) => n);
const ascending = (ns: readonly number[]): number[] => [...ns].sort((a, b) => a - b);

const finalize: Deed = { do: 'finalize' };
/** Stages whose values nobody changes, with clean-ups. */
const plans: fc.Arbitrary<readonly Stage[]> = fc
  .array(stages('keyBy', 'shuffle', 'gather'), { minLength: 1, maxLength: 3 })
  .map((list) => list.map((stage) => ({ ...stage, deed: finalize })));

/** The run was left at `atMs`: nothing follows, and everybody has let go. */
function left(played: Played, plan: readonly Stage[]): void {
  expect(played.end).toBe('unsubscribed');
  const lines = played.trace.split('\n');
  const at = lines.findIndex((line) => line.endsWith('unsubscribes'));
  expect(lines.slice(at).filter((line) => line.includes('◀'))).toEqual([]);
  for (const { ends } of Object.values(played.heard)) expect(ends).toEqual([]);
  if (played.input.subscribed > 0) expect(played.input).toMatchObject({ subscribed: 1, left: 1 });
  // Those that were started; a run may have been left before all of them were.
  const executors = plan.reduce((sum, { parallelism }) => sum + parallelism, 0);
  expect(played.openings.length).toBeLessThanOrEqual(executors);
  if (Object.values(played.heard).some(({ values }) => values.length > 0)) expect(played.openings).not.toEqual([]);
  expect(played.openings.filter(({ closed }) => closed !== 1)).toEqual([]);
}

/** Keyed values are delivered in their order, whatever comes of the rest. */
function inOrder(got: readonly Item[], list: readonly Item[], plan: readonly Stage[]): void {
  expect(new Set(numbers(got)).size).toBe(got.length);
  expect(numbers(list)).toEqual(expect.arrayContaining(numbers(got)));
  if (plan.every(({ parallelism }) => parallelism === 1))
    expect(numbers(got)).toEqual(numbers(list.slice(0, got.length)));
  if (plan.some(({ cut }) => cut !== 'keyBy')) return;
  const all = by(list, ({ key }) => key);
  for (const [key, own] of by(got, (item) => item.key)) expect(own).toEqual(all.get(key)!.slice(0, own.length));
}

describe('leaving, simulated', { timeout: 300_000 }, () => {
  test('law: at any value: it is the last one, the source is left, every clean-up is run once', () => {
    fc.assert(
      fc.property(
        loads(25, 1),
        plans,
        fc.integer({ min: 1, max: 25 }),
        worlds,
        ({ list, input }, plan, atValue, seed) => {
          const played = play(chain, plan, { input, seed, watched: true, faults: [{ kind: 'unsubscribe', atValue }] });
          const got = played.heard['output']!.values;
          inOrder(got, list, plan);
          if (atValue > list.length) {
            expect([played.end, got.length]).toEqual(['complete', list.length]);
            return;
          }
          expect(got).toHaveLength(atValue);
          left(played, plan);
        },
      ),
      often(200),
    );
  });

  test('law: at any time: what was delivered until then is all that is delivered', () => {
    fc.assert(
      fc.property(
        loads(25),
        plans,
        fc.double({ min: 0, max: 60, noNaN: true }),
        worlds,
        ({ list, input }, plan, forMs, seed) => {
          const endless = isTimed(input) ? input : { values: list.map((item) => [0, item] as const) };
          const played = play(chain, plan, {
            input: { values: endless.values, endMs: Number.POSITIVE_INFINITY },
            seed,
            watched: true,
            faults: [{ kind: 'unsubscribe', forMs }],
          });
          left(played, plan);
          inOrder(played.heard['output']!.values, list, plan);
          expect(played.endMs).toBeGreaterThanOrEqual(forMs);
          // A pushing source is left at once.
          expect(played.input.gave).toBeLessThanOrEqual(endless.values.filter(([atMs]) => atMs <= played.endMs).length);
        },
      ),
      often(200),
    );
  });

  test('law: a pull without end is closed wherever it is left', () => {
    fc.assert(
      fc.property(
        plans,
        fc.nat(20),
        fc.double({ min: 0, max: 5, noNaN: true }),
        fc.integer({ min: 1, max: 3 }),
        worlds,
        (plan, atValue, forMs, pulls, seed) => {
          const item: Item = { n: 0, key: 'a', to: [], pad: 'x'.repeat(1000) };
          const args = { pulls: new Array<Item[]>(pulls).fill([item]), endless: true, stages: plan };
          const played = play(drawn, args, { seed, faults: [{ kind: 'unsubscribe', atValue, forMs }], untilMs: 200 });
          left(played, plan);
          expect(played.wells.closed).toBe(played.wells.made);
          expect(played.wells.made).toBeLessThanOrEqual(pulls);
        },
      ),
      often(60),
    );
  });

  test('where nothing takes time, a source without end does not stop it: what is to come in an instant comes', () => {
    const item: Item = { n: 0, key: 'a', to: [] };
    const args = { pulls: [[item]], endless: true, stages: [{ cut: 'gather' as const, parallelism: 1, batch: 5 }] };
    const { end, endMs, wells } = play(drawn, args, { faults: [{ kind: 'unsubscribe', forMs: 1e-9 }] });
    expect([end, wells.made, wells.closed]).toEqual(['unsubscribed', 1, 1]);
    expect(endMs).toBeLessThan(1);
  });

  test('law: one output that leaves changes nothing for the other one; the source is left with the last', () => {
    const counts = fc.integer({ min: 1, max: 12 });
    fc.assert(
      fc.property(loads(20, 1), plans, plans, counts, worlds, ({ list, input }, one, other, count, seed) => {
        const args = { trunk: [], left: one, right: other };
        const few = (output: rx.Observable<Item>, name: string): rx.Observable<Item> =>
          name === 'left' ? output.pipe(rx.take(count)) : output;
        const played = play(fork, args, { input, seed, watched: true, around: few });
        const { left, right } = played.heard;
        expect([left!.values.length, left!.ends, right!.ends]).toEqual([
          Math.min(count, list.length),
          ['complete'],
          ['complete'],
        ]);
        expect(ascending(numbers(right!.values))).toEqual(numbers(list));
        inOrder(right!.values, list, other);
        inOrder(left!.values, list, one);
        expect(played.input).toEqual({ subscribed: 1, left: 1, gave: list.length });
        expect(played.openings.filter(({ closed }) => closed !== 1)).toEqual([]);
      }),
      often(100),
    );
  });

  test('law: outputs may leave each other from inside next', () => {
    fc.assert(
      fc.property(
        loads(20, 1),
        plans,
        plans,
        fc.integer({ min: 1, max: 12 }),
        worlds,
        ({ list, input }, one, other, count, seed) => {
          // The right one leaves when the left one has got so many, inside that value.
          const stop = new rx.Subject<void>();
          let got = 0;
          const around = (output: rx.Observable<Item>, name: string): rx.Observable<Item> =>
            name === 'left'
              ? output.pipe(rx.tap(() => void (++got === count && stop.next())))
              : output.pipe(rx.takeUntil(stop));
          const args = { trunk: [], left: one, right: other };
          const played = play(fork, args, { input, seed, watched: true, around });
          const { left, right } = played.heard;
          expect([played.end, left!.ends, right!.ends]).toEqual(['complete', ['complete'], ['complete']]);
          expect(ascending(numbers(left!.values))).toEqual(numbers(list));
          inOrder(right!.values, list, other);
          expect(played.input).toEqual({ subscribed: 1, left: 1, gave: list.length });
        },
      ),
      often(100),
    );
  });

  test('law: threads come back: runs that are left, inside a value, are followed by others on the same threads', () => {
    fc.assert(
      fc.property(
        items(15, 1),
        plans,
        fc.integer({ min: 1, max: 15 }),
        fc.integer({ min: 1, max: 4 }),
        worlds,
        (list, plan, count, rounds, seed) => {
          const wanted = Math.min(count, list.length);
          const played = play(chain, plan, {
            input: list,
            seed,
            watched: true,
            around: (output) => rx.concat(output.pipe(rx.take(wanted), rx.repeat(rounds)), output),
          });
          const got = played.heard['output']!.values;
          expect([played.end, got.length]).toEqual(['complete', rounds * wanted + list.length]);
          for (let round = 0; round < rounds; round++)
            inOrder(got.slice(round * wanted, (round + 1) * wanted), list, plan);
          const last = got.slice(rounds * wanted);
          inOrder(last, list, plan);
          expect(ascending(numbers(last))).toEqual(numbers(list));
          expect(played.input.left).toBe(played.input.subscribed);
          expect(played.openings.filter(({ closed }) => closed !== 1)).toEqual([]);
        },
      ),
      often(100),
    );
  });
});
