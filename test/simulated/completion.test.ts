/** How runs complete, in whatever world: every output once, behind all its values, and nothing after it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chain, drawn, fork, type Item, join, type Stage } from './fixtures/chain.js';
import { isTimed, items, type Load, loads, often, stages, worlds } from './fixtures/draws.js';
import { type Played, play } from './fixtures/play.js';

const some = (most: number): fc.Arbitrary<readonly Stage[]> =>
  fc.array(stages('keyBy', 'shuffle', 'broadcast', 'gather', 'spreadKey', 'route'), { maxLength: most });

/** How often each value comes out of stages. */
function through(list: readonly Item[], plan: readonly Stage[]): number[] {
  return plan
    .reduce<readonly Item[]>((left, { cut, parallelism }) => {
      if (cut === 'broadcast') return left.flatMap((item) => new Array<Item>(parallelism).fill(item));
      return cut === 'route' ? left.flatMap((item) => item.to.map(() => item)) : left;
    }, list)
    .map(({ n }) => n)
    .sort((a, b) => a - b);
}

function completes(played: Played, expected: Readonly<Record<string, readonly number[]>>): void {
  expect(played.end).toBe('complete');
  expect(Object.keys(played.heard).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, ns] of Object.entries(expected)) {
    const { values, ends } = played.heard[name]!;
    expect([name, ends]).toEqual([name, ['complete']]);
    expect([name, values.map(({ n }) => n).sort((a, b) => a - b)]).toEqual([name, ns]);
    // Behind its end nothing is delivered.
    const lines = played.trace.split('\n').map((line) => line.slice(14));
    const end = lines.findIndex((line) => line.trim().endsWith(`${name} completes`));
    expect(end).toBeGreaterThan(-1);
    expect(
      lines.slice(end).filter((line) => line.includes(`${name} ◀`) || line.endsWith(`${name} completes`)),
    ).toHaveLength(1);
  }
}

/** No value comes out before it went in, nor the end before the end. */
function inTime({ outputs, endMs }: Played, { input }: Load): void {
  if (!isTimed(input)) return;
  for (const values of Object.values(outputs))
    for (const [atMs, { n }] of values) expect(atMs).toBeGreaterThanOrEqual(input.values[n]![0]);
  expect(endMs).toBeGreaterThanOrEqual(input.endMs);
}

describe('completion, simulated', { timeout: 300_000 }, () => {
  test('law: an output completes once, behind all its values, when the input has completed', () => {
    fc.assert(
      fc.property(loads(20), some(3), worlds, (load, plan, seed) => {
        const played = play(chain, plan, { input: load.input, seed });
        completes(played, { output: through(load.list, plan) });
        inTime(played, load);
      }),
      often(150),
    );
  });

  test('law: without any value it completes as well, at once where nothing is late', () => {
    const inputs = fc.constantFrom([], { values: [], endMs: 0 }, { values: [], endMs: 25 });
    fc.assert(
      fc.property(inputs, some(4), worlds, (input, plan, seed) => {
        const played = play(chain, plan, { input, seed });
        completes(played, { output: [] });
        if (seed === 0) expect(played.endMs).toBe('endMs' in input ? input.endMs : 0);
      }),
      often(60),
    );
  });

  test('law: several outputs complete each for itself, with what is theirs', () => {
    fc.assert(
      fc.property(loads(15), some(1), some(2), some(2), worlds, (load, trunk, left, right, seed) => {
        const played = play(fork, { trunk, left, right }, { input: load.input, seed });
        const sides = {
          left: through(load.list, [...trunk, ...left]),
          right: through(load.list, [...trunk, ...right]),
        };
        completes(played, sides);
        inTime(played, load);
      }),
      often(100),
    );
  });

  test('law: outputs that are not wanted change nothing for the others', () => {
    fc.assert(
      fc.property(loads(15), some(2), some(2), worlds, (load, left, right, seed) => {
        const played = play(
          fork,
          { trunk: [], left, right },
          { input: load.input, seed, run: { outputs: ['left'] as never } },
        );
        const { right: unwanted, ...heard } = played.heard;
        expect(unwanted).toBe(undefined);
        completes({ ...played, trace: played.trace, heard }, { left: through(load.list, left) });
      }),
      often(60),
    );
  });

  test('law: a union completes when all its inputs have, with the values of all', () => {
    fc.assert(
      fc.property(loads(15), some(1), some(2), some(2), some(1), worlds, (load, trunk, left, right, behind, seed) => {
        const played = play(join, { trunk, left, right, behind }, { input: load.input, seed });
        const both = [left, right].flatMap((side) => through(load.list, [...trunk, ...side, ...behind]));
        completes(played, { output: both.sort((a, b) => a - b) });
        inTime(played, load);
      }),
      often(100),
    );
  });

  test('law: pulls complete when all are read, and each is made and closed once', () => {
    fc.assert(
      fc.property(fc.array(items(12), { minLength: 1, maxLength: 3 }), some(2), worlds, (pulls, plan, seed) => {
        const played = play(drawn, { pulls, endless: false, stages: plan }, { seed });
        const all = pulls.flatMap((list) => through(list, plan));
        completes(played, { output: all.sort((a, b) => a - b) });
        const asked = pulls.reduce((sum, { length }) => sum + length, 0);
        expect(played.wells).toEqual({ made: pulls.length, asked, closed: pulls.length });
        expect(played.metrics.in).toBe(asked);
      }),
      often(100),
    );
  });

  test('law: the input is subscribed once, and let go once', () => {
    fc.assert(
      fc.property(loads(15), some(2), worlds, ({ list, input }, plan, seed) => {
        const { input: seen, end, metrics } = play(chain, plan, { input, seed, watched: true });
        expect([seen, end, metrics.in]).toEqual([
          { subscribed: 1, left: 1, gave: list.length },
          'complete',
          list.length,
        ]);
      }),
      often(60),
    );
  });
});
