import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Watchdog } from '../../runtime/watchdog.js';

/** What is found at one look. */
interface Look {
  readonly laterMs: number;
  readonly moved: boolean;
  readonly work: boolean;
  /** Per thread: its beat has gone on; undefined: it sleeps, or loads its module. */
  readonly beats: readonly (boolean | undefined)[];
}

const threads = 2;
const look: fc.Arbitrary<Look> = fc.record({
  laterMs: fc.integer({ min: 1, max: 60 }),
  moved: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  work: fc.integer({ min: 0, max: 5 }).map((n) => n > 0),
  beats: fc.array(fc.constantFrom(undefined, true, false, false, false, false), {
    minLength: threads,
    maxLength: threads,
  }),
});

function watch(stallMs: number, hangMs: number, looks: readonly Look[]): unknown[] {
  const log: unknown[] = [];
  let at = 0;
  let nowMs = 500;
  let moved = 0;
  const beats = [0, 0];
  const now = (): Look => looks[at]!;
  const watchdog = new Watchdog(
    {
      stallMs,
      hangMs,
      threads: beats.map((_, i) => ({
        beats: () => (now().beats[i] === undefined ? undefined : beats[i]),
        hangs: () => log.push([at, `hangs ${i}`]),
      })),
      moved: () => moved,
      work: () => now().work,
      stalls: () => log.push([at, 'stalls']),
    },
    nowMs,
  );
  for (; at < looks.length; at++) {
    nowMs += now().laterMs;
    if (now().moved) moved++;
    now().beats.forEach((beat, i) => {
      if (beat === true) beats[i]!++;
    });
    watchdog.look(nowMs);
  }
  return log;
}

/** For each look, how long it has been since the last one at which `lives` held: what is first seen there begins there. */
function ages(looks: readonly Look[], lives: (look: Look, index: number) => boolean): number[] {
  let age = 0;
  return looks.map((each, index) => {
    age = index === 0 || lives(each, index) ? 0 : age + each.laterMs;
    return age;
  });
}

/** The first look of each stretch without life at which its age has reached `ms`. */
function crossings(found: readonly number[], ms: number): number[] {
  let said = false;
  return found.flatMap((age, index) => {
    if (age === 0) said = false;
    if (said || age < ms) return [];
    said = true;
    return [index];
  });
}

/** Whoever was asleep at the look before has begun since. */
const inOne = (before: boolean | undefined): boolean => before !== undefined;

describe('watchdog', () => {
  test('law: a standstill is told once, after stallMs without movement though there is work, or a thread is in one value; never while idle', () => {
    let told = 0;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.array(look, { maxLength: 40 }), (stallMs, looks) => {
        // Who is awake, and was so at the look before, is in one value since.
        const stuck = ({ beats }: Look, at: number): boolean =>
          beats.some((beat, thread) => beat === false && inOne(looks[at - 1]?.beats[thread]));
        const expected = crossings(
          ages(looks, (each, at) => each.moved || !(each.work || stuck(each, at))),
          stallMs,
        );
        const stalls = watch(stallMs, Number.POSITIVE_INFINITY, looks);
        expect(stalls).toEqual(expected.map((at) => [at, 'stalls']));
        told += stalls.length;
      }),
    );
    expect(told).toBeGreaterThan(20);
  });

  test('law: a thread hangs when its beat stands still for hangMs while it is awake and has started, and that is said once', () => {
    let hung = 0;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 150 }), fc.array(look, { maxLength: 40 }), (hangMs, looks) => {
        const expected = [0, 1].flatMap((thread) => {
          const lives = ({ beats }: Look, at: number): boolean =>
            beats[thread] !== false || !inOne(looks[at - 1]?.beats[thread]);
          return crossings(ages(looks, lives), hangMs).map((at) => [at, `hangs ${thread}`]);
        });
        const hangs = watch(2 ** 31, hangMs, looks);
        expect(hangs).toEqual(expected.sort((a, b) => Number(a[0]) - Number(b[0])));
        hung += hangs.length;
      }),
    );
    expect(hung).toBeGreaterThan(20);
  });

  test('it looks twice in the shorter of stallMs and hangMs', () => {
    const run = { threads: [], moved: () => 0, work: () => false, stalls() {} };
    expect(new Watchdog({ ...run, stallMs: 10_000, hangMs: Number.POSITIVE_INFINITY }, 0).periodMs).toBe(5_000);
    expect(new Watchdog({ ...run, stallMs: 10_000, hangMs: 300 }, 0).periodMs).toBe(150);
    expect(new Watchdog({ ...run, stallMs: 1, hangMs: 300 }, 0).periodMs).toBe(1);
  });
});
