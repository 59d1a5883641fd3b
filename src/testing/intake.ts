/**
 * The source of a trial: an input at its times, hot or cold.
 * Owns the list of who is subscribed to it. Judges nothing.
 */

import { asyncScheduler, Observable, type Observer, Subject, type Subscriber, type Subscription } from 'rxjs';
import type { Schedule } from './input.js';

/** Subscriptions of it in one run, after which it is silent: an endless retry. */
const maxSubscriptions = 100;

export class Intake {
  readonly values: Observable<unknown>;
  readonly open: Set<Subscriber<unknown>> = new Set();
  failed = false;
  readonly #schedule: Schedule<unknown>;
  readonly #nowMs: () => number;
  readonly #hot = new Subject<unknown>();
  readonly #drive: Drive;
  #opened = 0;

  constructor(schedule: Schedule<unknown>, manner: 'cold' | 'hot', nowMs: () => number) {
    this.#schedule = schedule;
    this.#nowMs = nowMs;
    const fail = (reason: unknown): void => {
      this.failed ||= this.open.size > 0;
      this.#hot.error(reason);
    };
    const hot = { next: (value: unknown) => this.#hot.next(value), error: fail, complete: () => this.#hot.complete() };
    this.#drive = new Drive(schedule, hot, nowMs);
    this.values = new Observable((subscriber) => {
      if (++this.#opened > maxSubscriptions) return;
      this.open.add(subscriber);
      subscriber.add(() => this.open.delete(subscriber));
      if (manner === 'hot') this.#hot.subscribe(subscriber);
      else this.#cold(subscriber);
    });
  }

  start(): void {
    this.#drive.go();
  }

  feed(): void {
    this.#drive.feed();
  }

  #cold(subscriber: Subscriber<unknown>): void {
    const error = (reason: unknown): void => {
      this.failed ||= !subscriber.closed;
      subscriber.error(reason);
    };
    const sink = {
      next: (value: unknown) => subscriber.next(value),
      error,
      complete: () => subscriber.complete(),
      get closed() {
        return subscriber.closed;
      },
    };
    const drive = new Drive(this.#schedule, sink, this.#nowMs);
    subscriber.add(() => drive.stop());
    drive.go();
  }
}

class Drive {
  readonly #schedule: Schedule<unknown>;
  readonly #sink: Observer<unknown> & { readonly closed?: boolean };
  readonly #startMs: number;
  #lastMs = 0;
  #next = 0;
  #ended = false;
  #waiting: Subscription | undefined;

  constructor(
    schedule: Schedule<unknown>,
    sink: Observer<unknown> & { readonly closed?: boolean },
    nowMs: () => number,
  ) {
    this.#schedule = schedule;
    this.#sink = sink;
    this.#startMs = nowMs();
    this.#lastMs = this.#startMs;
  }

  go(): void {
    const { values, endMs = Number.POSITIVE_INFINITY } = this.#schedule;
    while (this.#sink.closed !== true && !this.#ended) {
      const dueMs = this.#startMs + (values[this.#next]?.[0] ?? endMs);
      if (dueMs === Number.POSITIVE_INFINITY) return;
      if (dueMs > this.#lastMs) {
        this.#waiting = asyncScheduler.schedule(() => {
          this.#lastMs = dueMs;
          this.go();
        }, dueMs - this.#lastMs);
        return;
      }
      if (!this.feed()) this.#end();
    }
  }

  /** The next value, whatever its time; false if there is none. */
  feed(): boolean {
    const next = this.#schedule.values[this.#next];
    if (next === undefined) return false;
    this.#next++;
    this.#sink.next(next[1]);
    return true;
  }

  stop(): void {
    this.#waiting?.unsubscribe();
  }

  #end(): void {
    this.#ended = true;
    const { failure } = this.#schedule;
    if (failure === undefined) this.#sink.complete();
    else this.#sink.error(failure.error);
  }
}
