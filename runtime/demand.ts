/**
 * Demand: values are handed over only as far as they were asked for.
 * Owns the protocol between a consumer and what it asks, and the count of what may still be handed over. Knows no Rx.
 * Never reads ahead, never waits.
 */

import { MillraceError } from './errors.js';
import { type Input, none } from './input.js';
import { show } from './option.js';

/**
 * Who asks. It hears as many values as it asked for, one at a time, then at most one of `error` and `complete`,
 * which need no demand and may come before `Ask` has returned.
 */
export interface DemandObserver<T> {
  next(value: T): void;
  error(reason: unknown): void;
  complete(): void;
  /**
   * Of one that asks again by itself, without the event loop of this thread: whether it cannot any more. None: while this thread is
   * held it asks for nothing.
   */
  readonly stuck?: (() => boolean) | undefined;
}

/** What was asked. */
export interface DemandSubscription {
  /**
   * So many more values: a whole number above 0, or Infinity. Adds up. They may come before the call returns; asked within
   * `next`, they come after it has returned (Reactive Streams §3.3). After the end, or after `unsubscribe`, it does nothing.
   */
  request(n: number): void;
  /** Nothing is delivered afterwards. May be called again. */
  unsubscribe(): void;
}

/** Begins with a demand of nothing. */
export type Ask<T> = (observer: DemandObserver<T>) => DemandSubscription;

/** Counts above this are as good as without end (Reactive Streams §3.17). */
const endless = Number.MAX_SAFE_INTEGER;

/** What may still be handed over. */
export class Demand {
  #left = 0;
  readonly #stuck: () => boolean;
  /** Called after each request: who hands over may go on. */
  onMore: () => void = () => {};
  /** Whether there was ever a request. */
  asked = false;
  /** Called after a request, for what is put off until there is any demand. */
  onFirst: () => void = () => {};

  /** `stuck`: that of the observer. */
  constructor(stuck: () => boolean = () => true) {
    this.#stuck = stuck;
  }

  /** Nothing may be handed over before the event loop of this thread turns. */
  get withheld(): boolean {
    return this.#left === 0 && this.#stuck();
  }

  get left(): number {
    return this.#left;
  }

  request(n: number): void {
    this.#left = added(this.#left, n);
    this.asked = true;
    this.onMore();
    this.onFirst();
  }

  /** One value less; only while there is demand. */
  spend(): void {
    this.#left--;
  }
}

/** What is left when `n` more are asked for. Throws ERR_OPTION. */
export function added(left: number, n: number): number {
  if (n !== 1) checkRequest(n);
  const sum = left + n;
  return sum >= endless ? Number.POSITIVE_INFINITY : sum;
}

export function checkRequest(n: number): void {
  if ((Number.isInteger(n) && n > 0) || n === Number.POSITIVE_INFINITY) return;
  throw new MillraceError('ERR_OPTION', `request() takes a whole number above 0 or Infinity, got ${show(n)}`);
}

/** An input of which no more is taken than there is demand for. What ends it needs none, so it looks that far. */
export class OnDemand implements Input {
  readonly #input: Input & { look(): void };
  readonly #demand: Demand;

  constructor(input: Input & { look(): void }, demand: Demand) {
    this.#input = input;
    this.#demand = demand;
  }

  take(): unknown {
    if (this.#demand.left === 0) {
      this.#input.look();
      return none;
    }
    const value = this.#input.take();
    if (value !== none) this.#demand.spend();
    return value;
  }

  get ended(): boolean {
    return this.#input.ended;
  }

  finish(): void {
    this.#input.finish();
  }

  drain(): void {
    this.#input.drain();
  }

  discard(): number {
    return this.#input.discard();
  }
}
