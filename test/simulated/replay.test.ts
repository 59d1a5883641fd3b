/** A seed is a run: it comes out the same, to the last line of its trace, whatever ran in between; another seed is another run. */
import fc from 'fast-check';
import type { Fault } from 'millrace/testing';
import { describe, expect, test } from 'vitest';
import { chain, fork, type Stage } from './fixtures/chain.js';
import { loads, often, stages, worlds } from './fixtures/draws.js';
import { type Options, type Played, play } from './fixtures/play.js';

const plans: fc.Arbitrary<readonly Stage[]> = fc.array(stages('keyBy', 'shuffle', 'broadcast', 'gather'), {
  minLength: 1,
  maxLength: 2,
});

const faults: fc.Arbitrary<Fault[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Fault['kind'][]>(
      'die',
      'pause',
      'slow',
      'full',
      'lateDoorbell',
      'sourceStall',
      'subscriberThrows',
      'unsubscribe',
    ),
    atValue: fc.nat(15),
    forMs: fc.double({ min: 0, max: 30, noNaN: true }),
  }),
  { maxLength: 2 },
);

/** All that a simulation tells. */
function told({ seed, outputs, end, endMs, flushes, trace }: Played): string {
  const how = typeof end === 'string' ? end : { code: end.code, message: end.message, segment: end.segment };
  return JSON.stringify({ seed, outputs, end: how, endMs, flushes, trace }, null, 1);
}

describe('replay', { timeout: 300_000 }, () => {
  test('law: the same seed gives the same run, whatever ran in between', () => {
    fc.assert(
      fc.property(loads(20), plans, faults, worlds, worlds, ({ input }, plan, faults, seed, other) => {
        const options: Options = { input, seed, faults };
        const first = told(play(chain, plan, options));
        play(fork, { trunk: plan, left: [], right: plan }, { input, seed: other });
        expect(told(play(chain, plan, options))).toBe(first);
      }),
      often(150),
    );
  });

  test('law: another seed gives another run: of two, the times and turns differ, nearly always', () => {
    let pairs = 0;
    let alike = 0;
    fc.assert(
      fc.property(loads(20, 3), plans, worlds, worlds, ({ input }, plan, one, other) => {
        fc.pre(one !== other);
        const [a, b] = [one, other].map((seed) => play(chain, plan, { input, seed }).trace);
        pairs++;
        if (a === b) alike++;
      }),
      { ...often(100), numRuns: 100 },
    );
    expect(pairs).toBeGreaterThan(80);
    // Of small loads in calm worlds.
    expect(alike / pairs).toBeLessThan(0.1);
  });
});
