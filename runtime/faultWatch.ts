/**
 * A fault on its way. It travels behind the values emitted before it; where an executor on its way takes no input any more, it
 * would never arrive, and the run ends from here.
 * Owns the decision: nothing has moved for stopMs though an output is asked, nor when all threads were asked to look again and have answered.
 * Never waits for ever: a thread that does not answer within another stopMs hangs in a value.
 */

import type { Clock } from './clock.js';

export interface Watched {
  readonly stopMs: number;
  /** Changes whenever a value is taken or delivered. */
  moved(): number;
  /** All threads run. */
  started(): boolean;
  /** No output is asked for anything: what stands still waits for its readers, who shall have what came before the fault. */
  unasked(): boolean;
  /** Asks every thread to look at its channels and to answer; says how many were asked. */
  ask(): number;
  giveUp(): void;
}

export class FaultWatch {
  readonly #watched: Watched;
  readonly #clock: Clock;
  #moved = 0;
  /** Answers that are still missing; 0 while nobody was asked. */
  #missing = 0;
  #cancel: () => void = () => {};

  constructor(watched: Watched, clock: Clock) {
    this.#watched = watched;
    this.#clock = clock;
    this.#wait();
  }

  answered(): void {
    if (this.#missing > 0 && --this.#missing === 0) this.#decide();
  }

  stop(): void {
    this.#missing = 0;
    this.#cancel();
  }

  #wait(): void {
    this.#moved = this.#watched.moved();
    this.#cancel = this.#clock.later(this.#watched.stopMs, () => this.#silent());
  }

  #silent(): void {
    if (!this.#watched.started() || this.#watched.unasked() || this.#moved !== this.#watched.moved()) {
      this.#wait();
      return;
    }
    this.#missing = this.#watched.ask();
    if (this.#missing === 0) this.#decide();
    else this.#cancel = this.#clock.later(this.#watched.stopMs, () => this.#decide());
  }

  #decide(): void {
    this.stop();
    if (this.#moved === this.#watched.moved()) this.#watched.giveUp();
    else this.#wait();
  }
}
