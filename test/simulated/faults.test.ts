/** What may go wrong, at any place and value: a death is an error and never an end; all else changes no result and no order. */
import fc from 'fast-check';
import type { MillraceError } from 'millrace';
import type { Fault } from 'millrace/testing';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { chain, type Item, type Stage } from './fixtures/chain.js';
import { isTimed, items, loads, often, stages, worlds } from './fixtures/draws.js';
import { by, type Played, play } from './fixtures/play.js';

const numbers = (list: readonly Item[]): number[] => list.map(({ n }) => n);
const ascending = (ns: readonly number[]): number[] => [...ns].sort((a, b) => a - b);

/** Along these the order of each key holds. */
const keyed: fc.Arbitrary<readonly Stage[]> = fc.array(stages('keyBy', 'keyBy', 'gather'), {
  minLength: 1,
  maxLength: 3,
});
const orders = (plan: readonly Stage[]): boolean =>
  plan.every((stage, i) => stage.cut === 'keyBy' || i === 0 || stage.parallelism === 1);

/** Any executor of the plan, or none in particular. */
function executors(plan: readonly Stage[]): fc.Arbitrary<string | undefined> {
  const ids = plan.flatMap(({ parallelism }, i) => Array.from({ length: parallelism }, (_, index) => `s${i}/${index}`));
  return fc.constantFrom(undefined, ...ids);
}

const lengths = fc.oneof(fc.double({ min: 0, max: 20, noNaN: true }), fc.constantFrom(0, 1, 500, 30_000));

/** What delays and does no harm. */
function delays(plan: readonly Stage[]): fc.Arbitrary<Fault> {
  const at = { executor: executors(plan), atValue: fc.nat(20) };
  const own = fc.oneof(
    fc.record({ kind: fc.constantFrom('pause', 'full', 'lateDoorbell'), ...at, forMs: lengths }),
    // All threads stand still while one is at work: together that must be less than a start may take.
    fc.record({ kind: fc.constant('slow' as const), ...at, forMs: fc.constantFrom(0.3, 8, 900) }),
  );
  const source = fc.record({ kind: fc.constant('sourceStall' as const), atValue: fc.nat(20), forMs: lengths });
  return fc
    .oneof({ weight: 5, arbitrary: own }, { weight: 1, arbitrary: source })
    .map((fault) => ('executor' in fault && fault.executor === undefined ? without(fault) : fault) as Fault);
}

function without({ kind, atValue, forMs }: Omit<Fault, 'executor'>): Fault {
  return { kind, ...(atValue !== undefined && { atValue }), ...(forMs !== undefined && { forMs }) };
}

const troubled = (most: number) => (plan: readonly Stage[]) =>
  fc.record({ plan: fc.constant(plan), faults: fc.array(delays(plan), { minLength: 1, maxLength: most }) });

/** Of each key what came first, in its order. */
function prefixes(got: readonly Item[], list: readonly Item[], plan: readonly Stage[]): void {
  expect(new Set(numbers(got)).size).toBe(got.length);
  const all = by(list, ({ key }) => key);
  if (orders(plan))
    for (const [key, own] of by(got, (item) => item.key)) expect(own).toEqual(all.get(key)!.slice(0, own.length));
}

/** Everything came. */
function whole({ heard, end }: Played, list: readonly Item[], plan: readonly Stage[]): void {
  const { values, ends } = heard['output']!;
  expect([end, ends]).toEqual(['complete', ['complete']]);
  expect(ascending(numbers(values))).toEqual(numbers(list));
  prefixes(values, list, plan);
}

/** It was lost: before it had started, or later. */
function lost(reason: unknown): void {
  const { code, cause, topology } = reason as MillraceError;
  expect(topology).toBe('chain');
  if (code === 'ERR_START') expect(cause).toMatchObject({ code: 'ERR_THREAD_LOST' });
  else expect(code).toBe('ERR_THREAD_LOST');
}

describe('faults, simulated', { timeout: 300_000 }, () => {
  test('law: pauses, slow values, full rings, late doorbells and a source that stalls change no result and no order', () => {
    fc.assert(
      fc.property(loads(25), keyed.chain(troubled(3)), worlds, ({ list, input }, { plan, faults }, seed) => {
        whole(play(chain, plan, { input, seed, faults }), list, plan);
      }),
      often(200),
    );
  });

  test('law: a source that stalls delivers nothing earlier, and ends later by as much', () => {
    fc.assert(
      fc.property(
        loads(15, 1),
        stages('keyBy'),
        fc.nat(15),
        lengths,
        worlds,
        ({ list, input }, stage, atValue, forMs, seed) => {
          const faults: Fault[] = [{ kind: 'sourceStall', atValue, forMs }];
          const played = play(chain, [stage], { input, seed, faults });
          whole(played, list, [stage]);
          const late = atValue <= list.length ? forMs : 0;
          expect(played.endMs).toBeGreaterThanOrEqual((isTimed(input) ? input.endMs : 0) + late);
          for (const [atMs, { n }] of played.outputs['output']!)
            expect(atMs).toBeGreaterThanOrEqual((isTimed(input) ? input.values[n]![0] : 0) + (n >= atValue ? late : 0));
        },
      ),
      often(100),
    );
  });

  test('law: a thread that dies is an error, never an end, and what came before is the first of each key', () => {
    const dying = keyed.chain((plan) => executors(plan).map((executor) => ({ plan, executor })));
    fc.assert(
      fc.property(loads(25), dying, fc.nat(25), worlds, ({ list, input }, { plan, executor }, atValue, seed) => {
        const fault: Fault = { kind: 'die', atValue, ...(executor !== undefined && { executor }) };
        const played = play(chain, plan, { input, seed, watched: true, faults: [fault] });
        const { values, ends } = played.heard['output']!;
        const died = /die befalls/.test(played.trace);
        if (played.end === 'complete') whole(played, list, plan);
        else {
          expect(died).toBe(true);
          expect(ends).toEqual([played.end]);
          lost(played.end);
          prefixes(values, list, plan);
        }
        // Without a death nothing is lost, and whoever still had something to do is missed.
        if (!died) expect(played.end).toBe('complete');
        if (died && values.length < list.length) expect(played.end).not.toBe('complete');
        expect([played.input.subscribed, played.input.left]).toEqual(
          [1, 1].map((n) => Math.min(n, played.input.subscribed)),
        );
      }),
      often(200),
    );
  });

  test('law: deaths among delays: whatever comes together, it is all or an error', () => {
    const both = keyed.chain((plan) =>
      fc.tuple(troubled(2)(plan), executors(plan), fc.nat(12)).map(([{ faults }, executor, atValue]) => ({
        plan,
        faults: [...faults, { kind: 'die', atValue, ...(executor !== undefined && { executor }) } satisfies Fault],
      })),
    );
    fc.assert(
      fc.property(loads(20), both, worlds, ({ list, input }, { plan, faults }, seed) => {
        const played = play(chain, plan, { input, seed, faults });
        if (played.end === 'complete') {
          whole(played, list, plan);
          return;
        }
        lost(played.end);
        prefixes(played.heard['output']!.values, list, plan);
      }),
      often(150),
    );
  });

  test('law: retry() around the topology makes a death good: a new thread, and the whole result', () => {
    fc.assert(
      fc.property(items(15), keyed, fc.nat(10), worlds, (list, plan, atValue, seed) => {
        const faults: Fault[] = [{ kind: 'die', atValue }];
        const played = play(chain, plan, { input: list, seed, watched: true, faults, around: rx.retry(1) });
        expect(played.end).toBe('complete');
        const got = played.heard['output']!.values;
        const last = got.slice(got.length - list.length);
        expect(ascending(numbers(last))).toEqual(numbers(list));
        prefixes(last, list, plan);
        prefixes(got.slice(0, got.length - list.length), list, plan);
      }),
      often(100),
    );
  });

  test('law: a subscriber that throws changes nothing for its run', () => {
    fc.assert(
      fc.property(
        loads(20),
        keyed,
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 3 }),
        worlds,
        ({ list, input }, plan, at, seed) => {
          const faults = at.map((atValue): Fault => ({ kind: 'subscriberThrows', atValue }));
          const played = play(chain, plan, { input, seed, faults });
          whole(played, list, plan);
          const reported = played.trace.match(/was made to throw at value \d+/g) ?? [];
          expect(new Set(reported).size).toBe(new Set(at.filter((n) => n <= list.length)).size);
        },
      ),
      often(100),
    );
  });
});
