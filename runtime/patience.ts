/**
 * Fewer pokes from a busy thread: a consumer faster than its producer falls asleep after every frame, and to poke it for each
 * one costs more than the frame.
 * Owns the bells it has put off. Never puts one off beyond the turn of the pump: whoever holds releases.
 */

import type { Bell } from './channel.js';

/** While a turn lasts, a sleeping thread is poked at most once in this time; what it would hear more often, it reads at once. */
const restMs = 0.25;

export class Patience {
  readonly #nowMs: () => number;
  readonly #putOff: PatientBell[] = [];
  #holding = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  of(bell: Bell): Bell {
    return new PatientBell(bell, this);
  }

  /** A turn begins: there will be a `release`. */
  hold(): void {
    this.#holding = true;
  }

  /** The turn is over: every bell that was put off rings. */
  release(): void {
    this.#holding = false;
    for (let bell = this.#putOff.pop(); bell !== undefined; bell = this.#putOff.pop()) bell.ringNow();
  }

  get nowMs(): number {
    return this.#nowMs();
  }

  /** Puts the bell off to the end of the turn; false: there is none, it has to ring now. */
  putOff(bell: PatientBell): boolean {
    if (this.#holding) this.#putOff.push(bell);
    return this.#holding;
  }
}

class PatientBell implements Bell {
  readonly #bell: Bell;
  readonly #patience: Patience;
  #rangMs = Number.NEGATIVE_INFINITY;
  #waits = false;

  constructor(bell: Bell, patience: Patience) {
    this.#bell = bell;
    this.#patience = patience;
  }

  get asleep(): boolean {
    return this.#bell.asleep;
  }

  // Order: what was published before a ring that is put off was published before the ring that makes up for it.
  ring(): void {
    if (!this.#bell.asleep) return;
    const { nowMs } = this.#patience;
    if (nowMs - this.#rangMs < restMs && (this.#waits || this.#patience.putOff(this))) {
      this.#waits = true;
    } else {
      this.#rangMs = nowMs;
      this.#bell.ring();
    }
  }

  ringNow(): void {
    this.#waits = false;
    this.#bell.ring();
  }
}
