/**
 * One inline run in virtual time: a source that is watched, what is tried, and a subscriber that may leave, throw or feed.
 * Owns the run and the notes of it. Judges nothing.
 */

import { config, isObservable, type Observable, type Observer, Subscriber, type Subscription } from 'rxjs';
import type { Schedule } from './input.js';
import { Intake } from './intake.js';
import { testClock } from './testClock.js';

export type Outputs = Readonly<Record<string, Observable<unknown>>>;
/** What is tried, applied to a source: a fresh instance each time. A single output is named 'output'. */
export type Apply = (source: Observable<unknown>) => Outputs;

export interface Note {
  readonly output: string;
  readonly atMs: number;
  readonly kind: 'next' | 'error' | 'complete';
  readonly value?: unknown;
}

export interface Manner {
  /** Hot: it starts when all outputs are subscribed. Cold: each subscription starts one, inside subscribe(). */
  readonly source: 'cold' | 'hot';
  /**
   * `guarded`: a subscriber of RxJS. `raw`: one that also hears what its guard drops, except from an operator that RxJS makes:
   * those leave it to the guard. `observer`: a plain one.
   */
  readonly seat: 'raw' | 'guarded' | 'observer';
  /** All outputs are unsubscribed inside that delivery; 0: once they are subscribed. */
  readonly leaveAfter?: number;
  /** The subscriber throws this at every value. */
  readonly throws?: Error;
  /** The subscriber feeds the next value from inside that delivery, or all. Of a hot source. */
  readonly feedInside?: number | 'all';
  /** Streams that come as values are subscribed, and stand in the notes as what they give. */
  readonly open?: boolean;
}

export interface Seen {
  readonly notes: readonly Note[];
  /** What came out of pipe(), subscribe() and so on, instead of the error channel. */
  readonly thrown: readonly { readonly where: string; readonly reason: unknown }[];
  /** Errors that met no handler, which RxJS throws later. */
  readonly unheard: readonly unknown[];
  /** Whether the source failed while somebody was subscribed to it. */
  readonly failed: boolean;
  /** Subscriptions of the source that nobody has ended. */
  readonly open: number;
  /** Once the subscriber has left: how many notes there were, and the subscriptions of the source. */
  readonly left: { readonly notes: number; readonly open: number } | undefined;
  /** It said so much that it was not heard to its end. */
  readonly cut: boolean;
}

/** Virtual time goes on for so long after the input. */
const afterMs = 60_000;
/** Notes after which a run is cut short. */
const maxNotes = 1_000;

/** A stream that came as a value. */
class Inner {
  readonly notes: Omit<Note, 'output'>[] = [];
}

export function horizonMs({ values, endMs }: Schedule<unknown>): number {
  return (endMs ?? values.at(-1)?.[0] ?? 0) + afterMs;
}

/** All at once, and completed if it had no end. */
export function untimed({ values, failure }: Schedule<unknown>): Schedule<unknown> {
  return { values: values.map(([, value]) => [0, value]), endMs: 0, failure };
}

export function trial(apply: Apply, schedule: Schedule<unknown>, manner: Manner): Seen {
  const clock = testClock();
  const unheard: unknown[] = [];
  const { onUnhandledError } = config;
  config.onUnhandledError = (reason) => unheard.push(reason);
  const run = new Trial(apply, schedule, manner, () => clock.nowMs);
  try {
    run.start();
    run.attempt('a timer', () => clock.advance(horizonMs(schedule)));
    const seen = run.seen(unheard);
    run.attempt('unsubscribe()', () => run.leave());
    return seen;
  } finally {
    clock[Symbol.dispose]();
    config.onUnhandledError = onUnhandledError;
  }
}

class Trial {
  readonly #apply: Apply;
  readonly #manner: Manner;
  readonly #nowMs: () => number;
  readonly #source: Intake;
  readonly #notes: Note[] = [];
  readonly #thrown: { readonly where: string; readonly reason: unknown }[] = [];
  readonly #subscriptions: Subscription[] = [];
  readonly #inners: Subscription[] = [];
  #delivered = 0;
  #subscribing = false;
  #left = false;
  #leftNotes: number | undefined;
  #leftOpen: number | undefined;
  #cut = false;

  constructor(apply: Apply, schedule: Schedule<unknown>, manner: Manner, nowMs: () => number) {
    this.#apply = apply;
    this.#manner = manner;
    this.#nowMs = nowMs;
    this.#source = new Intake(schedule, manner.source, nowMs);
  }

  start(): void {
    this.#subscribing = true;
    const outputs = this.attempt('pipe()', () => this.#apply(this.#source.values)) ?? {};
    for (const [name, output] of Object.entries(outputs)) {
      if (this.#left) continue;
      const seat = this.#seat(name, isOfRxJS(output));
      if (seat instanceof Subscriber) this.#subscriptions.push(seat);
      const subscription = this.attempt('subscribe()', () => output.subscribe(seat));
      if (subscription !== undefined) this.#subscriptions.push(subscription);
    }
    this.#subscribing = false;
    if (this.#left || this.#manner.leaveAfter === 0) this.leave();
    if (this.#manner.source === 'hot') this.attempt('next() of the source', () => this.#source.start());
  }

  attempt<T>(where: string, work: () => T): T | undefined {
    try {
      return work();
    } catch (reason) {
      this.#thrown.push({ where, reason });
      return undefined;
    }
  }

  leave(): void {
    this.#left = true;
    // Inside subscribe() an observer has no subscription to end yet, and an operator may not have handed over that of its source.
    if (!this.#subscribing || this.#manner.seat !== 'observer') this.#leftNotes ??= this.#notes.length;
    for (const subscription of [...this.#subscriptions, ...this.#inners]) subscription.unsubscribe();
    if (!this.#subscribing) this.#leftOpen ??= this.#source.open.size;
  }

  seen(unheard: readonly unknown[]): Seen {
    const { open, failed } = this.#source;
    const [notes, atLeft] = [this.#leftNotes, this.#leftOpen];
    return {
      notes: [...this.#notes],
      thrown: [...this.#thrown],
      unheard: [...unheard],
      failed,
      open: open.size,
      left: notes === undefined || atLeft === undefined ? undefined : { notes, open: atLeft },
      cut: this.#cut,
    };
  }

  #seat(output: string, ofRxJS: boolean): Observer<unknown> {
    const hear: Observer<unknown> = {
      next: (value) => this.#next(output, value),
      error: (value) => this.#note({ output, atMs: this.#nowMs(), kind: 'error', value }),
      complete: () => this.#note({ output, atMs: this.#nowMs(), kind: 'complete' }),
    };
    const { seat } = this.#manner;
    if (seat === 'observer') return hear;
    return seat === 'guarded' || ofRxJS ? new Subscriber(hear) : new RawSeat(hear);
  }

  #next(output: string, given: unknown): void {
    const { leaveAfter, throws, feedInside } = this.#manner;
    this.#note({ output, atMs: this.#nowMs(), kind: 'next', value: this.#valueOf(given) });
    this.#delivered++;
    if (this.#delivered === leaveAfter) this.leave();
    if (!this.#subscribing && (feedInside === 'all' || feedInside === this.#delivered))
      this.attempt('next() of the source, inside next() of the subscriber', () => this.#source.feed());
    if (throws !== undefined) throw throws;
  }

  #note(note: Note): void {
    if (this.#cut) return;
    this.#notes.push(note);
    if (this.#notes.length < maxNotes) return;
    this.#cut = true;
    this.leave();
  }

  #valueOf(given: unknown): unknown {
    if (this.#manner.open !== true || !isObservable(given)) return given;
    const inner = new Inner();
    const note = (kind: Note['kind'], ...value: [] | [unknown]): void => {
      const said = { atMs: this.#nowMs(), kind };
      inner.notes.push(value.length === 0 ? said : { ...said, value: value[0] });
      if (inner.notes.length >= maxNotes) this.leave();
    };
    this.#inners.push(
      given.subscribe({
        next: (value) => note('next', this.#valueOf(value)),
        error: (value: unknown) => note('error', value),
        complete: () => note('complete'),
      }),
    );
    return inner;
  }
}

/** Whether the last operator was made by RxJS's own means, which make it a function, and not by `new Observable`. */
function isOfRxJS(output: { readonly operator?: unknown }): boolean {
  return typeof output.operator === 'function';
}

/** Hears what a subscriber is told before it decides whether it still listens. */
class RawSeat extends Subscriber<unknown> {
  readonly #hear: Observer<unknown>;

  constructor(hear: Observer<unknown>) {
    super({ next: () => {}, error: () => {}, complete: () => {} });
    this.#hear = hear;
  }

  override next(value?: unknown): void {
    this.#hear.next(value);
    super.next(value);
  }

  override error(reason?: unknown): void {
    this.#hear.error(reason);
    super.error(reason);
  }

  override complete(): void {
    this.#hear.complete();
    super.complete();
  }
}
