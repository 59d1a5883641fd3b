/**
 * No schedule deadlocks: nets of all shapes on few threads, with rings that are often full, fed and read in all manners. Every run
 * ends with the right values; where a held caller keeps a reader from asking, it is given up by name.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Mail, World } from '../../runtime/simulated/world.js';
import type { Net, Step } from './fixtures/nets.js';
import { judge, play, type Voyage } from './fixtures/voyage.js';
import { fleets } from './fixtures/voyages.js';

const long = process.env['MILLRACE_LONG'] === '1';
const seeds = long ? 20_000 : 250;
const schedules = long ? 300 : 100;
const seed = Number(process.env['MILLRACE_SEED'] ?? 20_262);

describe('no schedule deadlocks', { timeout: 600_000 }, () => {
  test(`law: no schedule deadlocks: under ${seeds} seeds every run ends, with the right values`, () => {
    fc.assert(
      fc.property(fleets, fc.noShrink(fc.integer({ min: 0, max: 2 ** 32 - 1 })), (fleet, world) => {
        const { logs } = play(fleet, world);
        for (const [i, voyage] of fleet.entries()) judge(voyage, logs[i]!);
      }),
      { numRuns: seeds, ...(long ? {} : { seed }) },
    );
  });

  const step = (many = 1, opaque = false): Step => ({ cut: 'shuffle', wide: 1, batch: 1, many, opaque });
  const line = (...trunk: Step[]): Net => ({ shape: 'line', trunk, left: [], right: [] });
  const plain = { kind: 'plain' } as const;
  const voyage: Voyage = {
    feed: { kind: 'sync' },
    count: 3,
    // Small rings hold four of them.
    pad: 60,
    overflow: {},
    nets: [line(step())],
    operator: false,
    readers: [plain, plain],
    threads: 2,
  };

  const ends = (given: Voyage, seed: number): void => {
    const { logs } = play([given], seed);
    judge(given, logs[0]!);
    expect(logs[0]!.heard.map(({ end }) => end)).toEqual(logs[0]!.heard.map(() => 'complete'));
  };

  // Executors are dealt to threads in turn: X, of which little comes, leads B and C to where they are wanted.
  test.each([
    ['A, C | B', [line(step(20), step(), step())]],
    ['A, B | X, C', [{ shape: 'record', trunk: [step(20)], left: [step()], right: [step(), step()] }]],
    ['A, C | B, D', [line(step(20), step(), step(), step())]],
  ] as const)('one value, 20 outputs, rings of four, %s: every schedule', (_, nets) => {
    for (let seed = 1; seed <= schedules; seed++) {
      const [{ trunk, ...net }] = nets as unknown as readonly [Net];
      const opaque = seed % 3 === 0;
      const feed = { kind: seed % 2 === 0 ? 'pull' : 'sync' } as const;
      ends({ ...voyage, feed, nets: [{ ...net, trunk: trunk.map((each) => ({ ...each, opaque })) }] }, seed);
    }
  });

  test('a source that emits without a pause, two topologies, a reader without bounds: the first asks the second again', () => {
    const nets = [line(step(), step(), step()), line(step(), step(), step())] as const;
    for (let seed = 0; seed < 60; seed++) ends({ ...voyage, count: 700, pad: 0, nets, threads: 1 + (seed % 2) }, seed);
  });

  test('without threads, a ring that is said to be full is full for a held caller only if it is', () => {
    const asks = { kind: 'asks', sizes: [2, 1, 1], again: 'inside' } as const;
    const nets = [{ shape: 'diamond', trunk: [step()], left: [step(), step()], right: [step(), step()] }] as const;
    for (let seed = 0; seed < 60; seed++)
      ends({ ...voyage, count: 60, nets, readers: [asks, plain], threads: 0 }, seed);
  });

  test('what is posted arrives in the order of posting, however times are rounded', () => {
    for (let seed = 1; seed < 200; seed++) {
      const world = new World(seed, () => {});
      const mail = new Mail(world, world.lane('to'));
      const posted: number[] = [];
      const arrived: number[] = [];
      for (let n = 0; n < 30; n++) {
        world.lane('from').in(n * 0.1 + world.random.next(), 'post', () => {
          posted.push(n);
          mail.post('letter', () => arrived.push(n));
        });
      }
      while (world.step(1_000));
      expect(arrived).toEqual(posted);
    }
  });
});
