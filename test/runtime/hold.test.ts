import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MillraceError } from '../../runtime/errors.js';
import { type Held, hold } from '../../runtime/hold.js';

/** What is found in one round of the loop. */
interface Round {
  readonly until: boolean;
  readonly over: boolean;
  readonly work: boolean;
  /** What that work, or a rest, takes: a part of what it may. */
  readonly part: number;
  readonly moved: boolean;
  readonly starting: boolean;
  readonly hopeless: boolean;
  readonly still: boolean;
}

const rarely = fc.integer({ min: 0, max: 29 }).map((n) => n === 0);
const round: fc.Arbitrary<Round> = fc.record({
  until: rarely,
  over: rarely,
  work: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  part: fc.constantFrom(0.1, 0.5, 1, 1, 1, 1),
  moved: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
  starting: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  hopeless: rarely,
  still: rarely,
});
const quiet: Round = {
  until: false,
  over: false,
  work: false,
  part: 1,
  moved: false,
  starting: false,
  hopeless: false,
  still: false,
};

const hopelessError = new MillraceError('ERR_HELD', 'hopeless');
const stalledError = new MillraceError('ERR_STALLED', 'stalled');

interface Trace {
  readonly found: MillraceError | undefined;
  readonly rests: readonly number[];
  /** When something was last seen to move, and when it came back. */
  readonly movedMs: number;
  readonly nowMs: number;
  /** Time without movement at each look before the last. */
  readonly waited: readonly number[];
  readonly rounds: readonly Round[];
}

/** Goes through the rounds and then without end through quiet ones; time passes by work and rests alone. */
function play(stallMs: number, rounds: readonly Round[]): Trace {
  let nowMs = 1_000;
  let movedMs = nowMs;
  let moved = 0;
  let at = -1;
  const rests: number[] = [];
  const waited: number[] = [];
  const now = (): Round => rounds[at] ?? quiet;
  const held: Held = {
    stallMs,
    over: () => {
      at++;
      return now().over;
    },
    nowMs: () => nowMs,
    work() {
      if (!now().work) return false;
      nowMs += now().part * 10;
      if (now().moved) moved++;
      if (now().moved || now().starting) movedMs = nowMs;
      waited.push(nowMs - movedMs);
      return true;
    },
    rest(ms) {
      if (now().still) return false;
      rests.push(ms);
      nowMs += ms * now().part;
      if (now().moved) moved++;
      if (now().moved || now().starting) movedMs = nowMs;
      waited.push(nowMs - movedMs);
      return true;
    },
    moved: () => moved,
    starting: () => now().starting,
    hopeless: () => (now().hopeless ? hopelessError : undefined),
    stalled: () => stalledError,
  };
  const found = hold(held, () => now().until);
  return { found, rests, movedMs, nowMs, waited, rounds: Array.from({ length: at + 1 }, (_, i) => rounds[i] ?? quiet) };
}

const stalls = fc.constantFrom(1, 30, 100, 1_000, 10_000);

describe('a caller that is held', () => {
  test('law: it goes on exactly when it may, when its run is over, when it is hopeless, or after stallMs without movement', () => {
    const seen = new Set<unknown>();
    fc.assert(
      fc.property(stalls, fc.array(round, { maxLength: 60 }), (stallMs, rounds) => {
        const { found, waited, movedMs, nowMs, rounds: made } = play(stallMs, rounds);
        const last = made.at(-1)!;
        for (const { until, over } of made.slice(0, -1)) expect(until || over).toBe(false);
        for (const each of made.slice(0, -1)) expect(!each.work && each.hopeless).toBe(false);
        for (const ms of waited.slice(0, -1)) expect(ms).toBeLessThan(stallMs);
        const free = last.until || last.over;
        if (free) expect(found).toBeUndefined();
        else if (last.hopeless && !last.work) expect(found).toBe(hopelessError);
        else expect(found).toBe(stalledError);
        if (!free && found === stalledError && (last.work || !last.still))
          expect(nowMs - movedMs).toBeGreaterThanOrEqual(stallMs);
        seen.add(found?.code);
      }),
      { numRuns: 300 },
    );
    expect([...seen].sort()).toEqual(['ERR_HELD', 'ERR_STALLED', undefined]);
  });

  test('law: it rests 50 ms at most, longer each time, and briefly again after a movement', () => {
    fc.assert(
      fc.property(fc.array(round, { maxLength: 60 }), (rounds) => {
        const { rests } = play(1_000, rounds);
        for (const ms of rests) expect(ms > 0 && ms <= 50).toBe(true);
      }),
    );
    expect(play(300, []).rests).toEqual([1, 2, 4, 8, 16, 32, 50, 50, 50, 50, 50]);
    expect(play(1_000, [quiet, quiet, { ...quiet, moved: true }, quiet, { ...quiet, until: true }]).rests).toEqual([
      1, 2, 4, 1,
    ]);
    expect(play(1_000, [quiet, quiet, { ...quiet, work: true }, quiet, { ...quiet, until: true }]).rests).toEqual([
      1, 2, 1,
    ]);
  });

  test('what is hopeless is so at once, however long stallMs is, but not while there is work', () => {
    const hopeless = { ...quiet, hopeless: true };
    expect(play(2 ** 31, [hopeless])).toMatchObject({ found: hopelessError, rests: [] });
    expect(play(2 ** 31, [{ ...hopeless, work: true }, hopeless]).rounds).toHaveLength(2);
  });

  test('what others do on this thread is no movement of this run: it is given up though they never stop', () => {
    const busy = Array.from({ length: 1_000 }, () => ({ ...quiet, work: true }));
    const { found, rests, nowMs, movedMs } = play(1_000, busy);
    expect([found, rests]).toEqual([stalledError, []]);
    expect(nowMs - movedMs).toBe(1_000);
  });

  test('threads that start count as movement: stallMs begins when they have', () => {
    const starting = Array.from({ length: 100 }, () => ({ ...quiet, starting: true }));
    const { found, nowMs, movedMs } = play(200, starting);
    expect(found).toBe(stalledError);
    expect(movedMs).toBe(1_000 + 100);
    expect(nowMs - movedMs).toBeGreaterThanOrEqual(200);
  });

  test('where time itself stands still, nothing is waited for', () => {
    expect(play(10_000, [{ ...quiet, still: true }])).toMatchObject({ found: stalledError, rests: [], nowMs: 1_000 });
  });
});
