/**
 * How rough a simulated world is: delays, costs, pauses, the size of rings. Drawn from the seed; seed 0 is calm.
 * Owns the choice. Whatever it is, results must be the same.
 */

import type { Random } from './random.js';

export interface Weather {
  /** Nothing is late and nothing takes time. */
  readonly calm: boolean;
  /** A message or a doorbell is late with this chance, by up to so long. */
  readonly lateChance: number;
  readonly lateMs: number;
  /** To work until the next look at the clock takes up to so long, with this chance. */
  readonly costChance: number;
  readonly costMs: number;
  /** After what it did, a thread stands still with this chance, for up to so long. */
  readonly pauseChance: number;
  readonly pauseMs: number;
  /** A ring with room is said to be full with this chance; the writer is told to look again later. */
  readonly fullChance: number;
  /** After a value no further one can come before what waits in batches has left, with this chance. */
  readonly starvedChance: number;
  readonly ringBytes: number;
  /** Where the counts of rings begin; they wrap soon. */
  readonly ringStart: number;
  /** Threads that can work at once: with fewer of them than threads nobody looks twice before it sleeps. */
  readonly cores: number;
}

const calm: Weather = {
  calm: true,
  lateChance: 0,
  lateMs: 0,
  costChance: 0,
  costMs: 0,
  pauseChance: 0,
  pauseMs: 0,
  fullChance: 0,
  starvedChance: 0,
  ringBytes: 64 * 1024,
  ringStart: 0,
  cores: 1,
};

export function weatherOf(seed: number, random: Random): Weather {
  if (seed === 0) return calm;
  return {
    calm: false,
    lateChance: random.of([0, 0.2, 0.8]),
    lateMs: random.of([0.1, 2, 20]),
    costChance: random.of([0, 0.1, 0.5]),
    costMs: random.of([0.1, 0.5, 2]),
    pauseChance: random.of([0, 0, 0.05, 0.2]),
    pauseMs: random.of([1, 10, 50]),
    fullChance: random.of([0, 0, 0.1, 0.5]),
    starvedChance: random.of([0, 0, 0.05]),
    ringBytes: random.of([512, 512, 1024, 4096, 64 * 1024]),
    ringStart: 2 ** 32 - 16 * random.below(64),
    cores: random.of([1, 64]),
  };
}
