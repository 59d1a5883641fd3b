/**
 * batch: values as arrays, by the same rule by which exchanges batch.
 * Owns the values of the open batch and one timer. A batch is let go of before it is handed over, so whatever comes meanwhile
 * belongs to the next one; RxJS's time buffers lose or repeat it (ReactiveX/rxjs#3001).
 */

import {
  asapScheduler,
  asyncScheduler,
  ignoreElements,
  Observable,
  type OperatorFunction,
  type SchedulerLike,
  Subscription,
  timer,
} from 'rxjs';
import { type Batch, type BatchRule, checkBatch, resolveBatch } from '../runtime/batch.js';
import { MillraceError } from '../runtime/errors.js';
import { Filling } from '../runtime/filling.js';
import { isOptions, show } from '../runtime/option.js';
import type { Lower } from './step.js';
import { subscribeWithin } from './within.js';

export function batch<T>(shape: Batch, scheduler?: SchedulerLike): OperatorFunction<T, readonly T[]> {
  const rule = ruleOf(shape, scheduler);
  return (source) =>
    new Observable((subscriber) => {
      const batcher = new Batcher(rule, {
        emit: (values) => subscriber.next(values as readonly T[]),
        nowMs: () => (scheduler ?? asyncScheduler).now(),
        later(ms, task) {
          const waiting = new Subscription();
          subscriber.add(waiting);
          const due = (): void => {
            subscriber.remove(waiting);
            task();
          };
          waiting.add((scheduler ?? (ms === 0 ? asapScheduler : asyncScheduler)).schedule(due, ms));
        },
      });
      subscribeWithin(subscriber, source, {
        next: (value) => batcher.next(value),
        error(reason: unknown) {
          batcher.flush('error');
          subscriber.error(reason);
        },
        complete() {
          batcher.flush('end');
          subscriber.complete();
        },
      });
    });
}

/** A step given a scheduler runs by that one, outside the loop. */
export function batchLowering(shape: Batch, scheduler?: SchedulerLike): Lower | undefined {
  if (scheduler !== undefined) return undefined;
  const rule = ruleOf(shape, undefined);
  return (out) => {
    const batcher = new Batcher(rule, {
      emit: (values) => out.emit(values),
      nowMs: () => asyncScheduler.now(),
      later(ms, task) {
        out.observe((ms === 0 ? timer(0, asapScheduler) : timer(ms)).pipe(ignoreElements()), task);
      },
    });
    return {
      next: (value) => batcher.next(value),
      error: () => batcher.flush('error'),
      complete() {
        batcher.flush('end');
        out.sendComplete();
      },
    };
  };
}

function ruleOf(shape: Batch, scheduler: unknown): BatchRule {
  checkBatch(shape, 'the argument of batch()');
  if (isOptions(shape) && 'bytes' in shape) {
    const message = 'batch() counts values, not bytes, which it does not know: leave `bytes` out, or use size';
    throw new MillraceError('ERR_OPTION', message);
  }
  if (scheduler !== undefined && typeof (scheduler as Partial<SchedulerLike> | null)?.schedule !== 'function') {
    throw new MillraceError('ERR_OPTION', `the scheduler of batch() must be one of RxJS, got ${show(scheduler)}`);
  }
  // Whoever sees the arrays wants them full.
  return resolveBatch(shape, { idle: false });
}

/** What a batcher stands in. */
interface Seat {
  emit(values: readonly unknown[]): void;
  nowMs(): number;
  /** Calls back in so many milliseconds; 0: when what is under way has come to its end. */
  later(ms: number, task: () => void): void;
}

class Batcher {
  readonly #seat: Seat;
  readonly #idle: boolean;
  readonly #filling: Filling;
  #values: unknown[] = [];
  /** When the timer goes off; it is never cancelled, only found to be early. */
  #timerMs = Number.POSITIVE_INFINITY;

  constructor(rule: BatchRule, seat: Seat) {
    this.#seat = seat;
    this.#idle = rule.idle;
    this.#filling = new Filling(rule);
  }

  next(value: unknown): void {
    this.#values.push(value);
    if (this.#filling.add(this.#seat.nowMs())) this.flush('size');
    else if (this.#values.length === 1) this.#arm();
  }

  /** Hands over what waits; an empty batch is none. */
  flush(reason: 'size' | 'age' | 'idle' | 'end' | 'error'): void {
    if (this.#values.length === 0) return;
    const values = this.#values;
    this.#values = [];
    this.#filling.left(reason);
    this.#seat.emit(values);
  }

  #arm(): void {
    const nowMs = this.#seat.nowMs();
    if (this.#idle) this.#seat.later(0, () => this.flush('idle'));
    const dueMs = this.#filling.deadlineMs;
    if (this.#idle || dueMs === Number.POSITIVE_INFINITY || this.#timerMs <= dueMs) return;
    this.#timerMs = dueMs;
    this.#seat.later(Math.max(0, dueMs - nowMs), this.#goesOff);
  }

  readonly #goesOff = (): void => {
    this.#timerMs = Number.POSITIVE_INFINITY;
    if (this.#seat.nowMs() >= this.#filling.deadlineMs) this.flush('age');
    else if (this.#filling.count > 0) this.#arm();
  };
}
