/**
 * Random words for tokens: fast, seeded, and not linear in XOR, by which tokens are put together.
 * Owns 128 bits of state; the generator is sfc32 (C. Doty-Humphrey, PractRand). Never for secrets.
 */

const warmUp = 12;

export class Draws {
  #a: number;
  #b: number;
  #c = 0;
  #count = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = Math.imul(seed, 0x9e37_79b1) | 0;
    for (let i = 0; i < warmUp; i++) this.next();
  }

  /** 32 bits, signed. */
  next(): number {
    const word = (((this.#a + this.#b) | 0) + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + word;
    this.#c |= 0;
    return word;
  }
}
