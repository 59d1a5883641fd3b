/**
 * The input of a source that can be asked: a window of values is asked for ahead, so that each costs no step of its own.
 * Owns the values that have come and were not taken. Bounded: never are more than `window` asked for and not yet taken.
 */

import type { Ask, DemandSubscription } from './demand.js';
import { type Input, none } from './input.js';
import { Queue } from './queue.js';

/** Values asked for ahead. */
const window = 256;
/** Taken before so many are asked for again: a request for each would cost more than the value (C-084). */
const refill = 192;

export class Prefetch implements Input {
  readonly #wake: () => void;
  readonly #stuck: () => boolean;
  readonly #queue = new Queue<unknown>();
  #asked: DemandSubscription | undefined;
  #taken = 0;
  #completed = false;
  #finished = false;
  #failed: { readonly reason: unknown } | undefined;

  /** `wake` is called when something has come; `stuck` says whether no more is taken before the event loop of this thread turns. */
  constructor(wake: () => void, stuck: () => boolean = () => false) {
    this.#wake = wake;
    this.#stuck = stuck;
  }

  /** Begins to ask. */
  begin(ask: Ask<unknown>): void {
    if (this.ended) return;
    const asked = ask({
      next: (value) => this.#next(value),
      error: (reason) => {
        this.#failed = { reason };
        this.#wake();
      },
      complete: () => {
        this.#completed = true;
        this.#wake();
      },
      stuck: this.#stuck,
    });
    this.#asked = asked;
    // It may have been finished or drained meanwhile.
    if (this.#finished || this.#completed) asked.unsubscribe();
    else if (this.#failed === undefined) asked.request(window);
  }

  #next(value: unknown): void {
    if (this.#finished) return;
    this.#queue.push(value);
    if (this.#queue.length === 1) this.#wake();
  }

  take(): unknown {
    if (this.#queue.length === 0) {
      if (this.#failed !== undefined && !this.#finished) {
        this.#finished = true;
        throw this.#failed.reason;
      }
      return none;
    }
    const value = this.#queue.shift();
    if (++this.#taken === refill) {
      this.#taken = 0;
      this.#asked?.request(refill);
    }
    return value;
  }

  get ended(): boolean {
    return this.#finished || (this.#completed && this.#queue.length === 0);
  }

  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#asked?.unsubscribe();
  }

  // What was asked for and has come is under way.
  drain(): void {
    this.#completed = true;
    this.#asked?.unsubscribe();
    this.#wake();
  }

  discard(): number {
    const { length } = this.#queue;
    while (this.#queue.length > 0) this.#queue.shift();
    return length;
  }
}
