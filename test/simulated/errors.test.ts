/** Errors, in whatever world: what was emitted before arrives, then the first error, once, at every output. */
import fc from 'fast-check';
import type { MillraceError } from 'millrace';
import { describe, expect, test } from 'vitest';
import { Broken, chain, fork, type Item, type Stage } from './fixtures/chain.js';
import { items, loads, narrow, often, stages, widths, worlds } from './fixtures/draws.js';
import { by, type Played, play } from './fixtures/play.js';

const numbers = (list: readonly Item[]): number[] => list.map(({ n }) => n);

/** Stages behind, of one executor each. */
const one: fc.Arbitrary<readonly Stage[]> = fc.array(stages('gather'), { maxLength: 2 });

/** The only end of the output, which is the only one of the run. */
function errorOf({ heard, end, input }: Played, name = 'output'): MillraceError {
  const { ends } = heard[name]!;
  expect(ends).toHaveLength(1);
  expect(ends[0]).toBe(end);
  expect([input.subscribed, input.left]).toEqual([1, 1]);
  return end as MillraceError;
}

/** What the executor that failed by `n` let pass before. */
function passedBy({ meetings }: Played, segment: string, n: number): number[] {
  const homes = [
    ...by(
      meetings.filter((met) => met.segment === segment),
      ({ executor }) => executor,
    ).values(),
  ];
  const home = homes.map((met) => numbersOf(met)).find((ns) => ns.at(-1) === n)!;
  return home.slice(0, -1);
}

const numbersOf = (met: readonly { readonly n: number }[]): number[] => met.map(({ n }) => n);

describe('errors, simulated', { timeout: 300_000 }, () => {
  test('law: a step that throws at any value: what came before is delivered, then the error with its place and cause', () => {
    fc.assert(
      fc.property(
        loads(20, 1),
        narrow,
        one,
        fc.nat(25),
        fc.boolean(),
        worlds,
        ({ list, input }, before, behind, at, opaque, seed) => {
          const deed = { do: 'throw', at: [at], opaque } as const;
          const plan: readonly Stage[] = [...before, { cut: 'gather', parallelism: 1, deed }, ...behind];
          const played = play(chain, plan, { input, seed, watched: true });
          expect(numbers(played.heard['output']!.values)).toEqual(numbers(list.slice(0, at)));
          if (at >= list.length) {
            expect(played.heard['output']!.ends).toEqual(['complete']);
            return;
          }
          const error = errorOf(played);
          expect(error).toMatchObject({
            code: 'ERR_OPERATOR',
            topology: 'chain',
            segment: `s${before.length}`,
            executor: 0,
            operator: opaque ? expect.stringMatching(/^step \d+$/) : 'map',
            cause: { name: 'Broken', n: at, message: `valve ${at} is broken` },
          });
        },
      ),
      often(200),
    );
  });

  test('law: in the first segment as well', () => {
    fc.assert(
      fc.property(
        loads(15, 1),
        stages('keyBy', 'shuffle'),
        fc.nat(14),
        fc.boolean(),
        worlds,
        ({ list, input }, behind, at, opaque, seed) => {
          const plan: readonly Stage[] = [
            { parallelism: 1, deed: { do: 'throw', at: [at % list.length], opaque } },
            behind,
          ];
          const played = play(chain, plan, { input, seed, watched: true });
          expect(errorOf(played)).toMatchObject({
            code: 'ERR_OPERATOR',
            segment: 'input',
            cause: { n: at % list.length },
          });
          const expected = numbers(list.slice(0, at % list.length));
          const got = numbers(played.heard['output']!.values);
          if (behind.parallelism === 1) expect(got).toEqual(expected);
          else expect(expected).toEqual(expect.arrayContaining(got));
        },
      ),
      often(100),
    );
  });

  test('law: of several executors that fail, the first error wins, and all that its executor emitted before is delivered', () => {
    const wide = stages('keyBy', 'shuffle', 'broadcast');
    fc.assert(
      fc.property(
        loads(30, 1),
        wide,
        one,
        fc.uniqueArray(fc.nat(29), { minLength: 1, maxLength: 5 }),
        worlds,
        ({ list, input }, stage, behind, at, seed) => {
          const plan: readonly Stage[] = [{ ...stage, deed: { do: 'throw', at, opaque: false } }, ...behind];
          const played = play(chain, plan, { input, seed, watched: true });
          const got = numbers(played.heard['output']!.values);
          if (!at.some((n) => n < list.length)) {
            expect(played.end).toBe('complete');
            return;
          }
          const { code, segment, cause } = errorOf(played);
          expect([code, segment]).toEqual(['ERR_OPERATOR', 's0']);
          const { n } = cause as Broken;
          expect(at).toContain(n);
          const before = passedBy(played, 's0', n);
          expect(got).toEqual(expect.arrayContaining(before));
          // Nothing else than what the executors let pass, each in its order.
          const homes = by(
            played.meetings.filter((met) => met.segment === 's0'),
            ({ executor }) => executor,
          );
          const passed = [...homes.values()].flatMap((met) => numbersOf(met).filter((n) => !at.includes(n)));
          for (const n of new Set(got))
            expect(got.filter((other) => other === n).length).toBeLessThanOrEqual(
              passed.filter((other) => other === n).length,
            );
        },
      ),
      often(200),
    );
  });

  test('law: an error of the input comes behind its values, and is the cause as it is', () => {
    fc.assert(
      fc.property(
        items(20),
        fc.array(fc.constantFrom(0, 0, 1, 8), { minLength: 20, maxLength: 20 }),
        fc.constantFrom(0, 3),
        narrow,
        one,
        worlds,
        (list, gaps, afterMs, before, behind, seed) => {
          let atMs = 0;
          const values = list.map((item, i) => {
            atMs += gaps[i]!;
            return [atMs, item] as const;
          });
          const reason = new Broken(7);
          const played = play(chain, [...before, ...behind, { cut: 'gather', parallelism: 1 }], {
            input: { values, endMs: atMs + afterMs, error: reason },
            seed,
            watched: true,
          });
          const error = errorOf(played);
          expect(error).toMatchObject({ code: 'ERR_SOURCE', segment: 'input', operator: 'the input' });
          expect(error.cause).toBe(reason);
          expect(numbers(played.heard['output']!.values)).toEqual(numbers(list));
          expect(played.endMs).toBeGreaterThanOrEqual(atMs + afterMs);
        },
      ),
      often(150),
    );
  });

  test('law: an error of one side reaches all outputs, as one and the same', () => {
    fc.assert(
      fc.property(
        loads(20, 1),
        narrow,
        one,
        widths,
        fc.nat(19),
        worlds,
        ({ list, input }, trunk, behind, parallelism, at, seed) => {
          const failing = at % list.length;
          const [before, after] = [trunk, behind].map((list) => list.map((stage) => ({ ...stage, batch: 3 })));
          const left: readonly Stage[] = [
            { cut: 'gather', parallelism: 1, deed: { do: 'throw', at: [failing], opaque: false } },
            ...after!,
          ];
          // The other side does not end before it: its input goes on.
          const endless = Array.isArray(input)
            ? { values: list.map((item) => [0, item] as const), endMs: Number.POSITIVE_INFINITY }
            : { ...input, endMs: Number.POSITIVE_INFINITY };
          const played = play(
            fork,
            { trunk: before!, left, right: [{ cut: 'keyBy', parallelism }] },
            {
              input: endless,
              seed,
              watched: true,
            },
          );
          const error = errorOf(played, 'left');
          expect(errorOf(played, 'right')).toBe(error);
          expect(error).toMatchObject({ code: 'ERR_OPERATOR', segment: 'l0', cause: { n: failing } });
          expect(numbers(played.heard['left']!.values)).toEqual(numbers(list.slice(0, failing)));
          const right = numbers(played.heard['right']!.values);
          expect(numbers(list)).toEqual(expect.arrayContaining(right));
          expect(new Set(right).size).toBe(right.length);
        },
      ),
      often(150),
    );
  });

  test('law: behind it several executors: the error comes by one of them, and overtakes only what goes by others', () => {
    fc.assert(
      fc.property(loads(20, 1), stages('shuffle'), fc.nat(19), worlds, ({ list, input }, behind, at, seed) => {
        const failing = at % list.length;
        const plan: readonly Stage[] = [
          { parallelism: 1, deed: { do: 'throw', at: [failing], opaque: false } },
          behind,
        ];
        const played = play(chain, plan, { input, seed, watched: true });
        expect(errorOf(played)).toMatchObject({ code: 'ERR_OPERATOR', segment: 'input', cause: { n: failing } });
        // A shuffle deals the values out in turn.
        const { parallelism } = behind;
        const ways = Array.from({ length: parallelism }, (_, way) => {
          const sent = numbers(list.slice(0, failing)).filter((n) => n % parallelism === way);
          const got = numbers(played.heard['output']!.values).filter((n) => n % parallelism === way);
          expect(got).toEqual(sent.slice(0, got.length));
          return sent.length - got.length;
        });
        expect(Math.min(...ways)).toBe(0);
      }),
      often(150),
    );
  });

  test('law: an executor behind that takes no input any more holds an error back until nothing has moved for stopMs', () => {
    fc.assert(
      fc.property(
        items(3, 2),
        fc.integer({ min: 1, max: 2 }),
        one,
        fc.constantFrom(500, 1000, 4000),
        worlds,
        (list, at, behind, stopMs, seed) => {
          // So few that all find room, or the step that fails would never meet its value.
          const failing = Math.min(at, list.length - 1);
          const plan: readonly Stage[] = [
            { cut: 'gather', parallelism: 1, batch: 1, deed: { do: 'throw', at: [failing], opaque: false } },
            { cut: 'gather', parallelism: 1, batch: 1, deed: { do: 'stick' } },
            ...behind.map((stage) => ({ ...stage, batch: 1 })),
          ];
          const values = list.map((item, i) => [10 * i, item] as const);
          const played = play(chain, plan, { input: { values }, seed, watched: true, run: { stopMs } });
          expect(errorOf(played)).toMatchObject({ code: 'ERR_OPERATOR', segment: 's0', cause: { n: failing } });
          expect(numbers(played.heard['output']!.values)).toEqual([0]);
          expect(played.endMs).toBeGreaterThanOrEqual(10 * failing + stopMs);
          if (seed === 0) expect(played.endMs).toBe(10 * failing + stopMs);
        },
      ),
      often(100),
    );
  });
});
