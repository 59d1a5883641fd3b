/**
 * Random numbers from a seed, the same everywhere: what decides in a simulated world.
 * Owns its state of 32 bits. Not for anything that must be hard to guess.
 */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, below 1. A Weyl sequence through a 32-bit finaliser. */
  next(): number {
    this.#state = (this.#state + 0x9e37_79b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  /** A whole number, at least 0, below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  of<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] as T;
  }
}
