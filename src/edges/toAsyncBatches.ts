/**
 * Values as an async iterator of arrays: one promise for many values.
 * Owns the open batch, on the same state machine as exchanges. Never asks for more than the batch that is waited for still needs.
 */

import type { Observable } from 'rxjs';
import { type Batch, type BatchRule, checkBatch, resolveBatch } from '../../runtime/batch.js';
import { clock } from '../../runtime/clock.js';
import type { Ask, DemandSubscription } from '../../runtime/demand.js';
import { MillraceError } from '../../runtime/errors.js';
import { Filling } from '../../runtime/filling.js';
import type { FlushReason } from '../../runtime/metrics.js';
import { Queue } from '../../runtime/queue.js';
import { askable, checkEdge, type EdgeOptions } from './edge.js';

/**
 * Each `next()` resolves to the values that have come: `size` of them (100), or fewer when nothing more came in this turn of the
 * event loop (`idle`), with `idle: false` when the oldest is `flushMs` old (5), or at the end. Never an empty array. The values before
 * an error, or before an abort, are handed out first, then `next()` rejects, once. `break` and `return()` unsubscribe at once and
 * throw away what was not handed out, less than one batch.
 *
 * ```ts
 * for await (const rows of toAsyncBatches(lines.pipe(parsed()), { batch: 500 })) await db.insert(rows);
 * ```
 *
 * Wrong options throw `ERR_OPTION`; `bytes` is one, for what is handed out is not encoded.
 */
export function toAsyncBatches<T>(
  values: Observable<T>,
  options: EdgeOptions & { readonly batch?: Batch } = {},
): AsyncIterableIterator<readonly T[]> {
  const edge = checkEdge(options, 'toAsyncBatches()', ['batch']);
  const batch = options.batch === undefined ? undefined : checkBatch(options.batch, 'batch of toAsyncBatches()');
  if (typeof batch === 'object' && batch.bytes !== undefined)
    throw new MillraceError(
      'ERR_OPTION',
      'batch.bytes of toAsyncBatches() has no meaning: values are not encoded here, use size',
    );
  return new Batches(askable<T>(values, edge, 'toAsyncBatches()'), resolveBatch(batch));
}

interface Call<T> {
  resolve(result: IteratorResult<readonly T[]>): void;
  reject(reason: unknown): void;
}

class Batches<T> implements AsyncIterableIterator<readonly T[]> {
  readonly #ask: Ask<T>;
  readonly #rule: BatchRule;
  readonly #filling: Filling;
  readonly #calls = new Queue<Call<T>>();
  #asked: DemandSubscription | undefined;
  /** Values asked for that have not come. */
  #coming = 0;
  #values: T[] = [];
  #over = false;
  #subscribed = false;
  #looking = false;
  #end: { readonly reason: unknown } | 'complete' | undefined;
  #cancel: (() => void) | undefined;

  constructor(ask: Ask<T>, rule: BatchRule) {
    this.#ask = ask;
    this.#rule = rule;
    this.#filling = new Filling(rule);
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<readonly T[]> {
    return this;
  }

  next(): Promise<IteratorResult<readonly T[]>> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ resolve, reject });
      if (this.#calls.length === 1) this.#wait();
    });
  }

  return(value?: unknown): Promise<IteratorResult<readonly T[]>> {
    this.#leave();
    return Promise.resolve(value).then((returned) => ({ done: true, value: returned }));
  }

  throw(reason?: unknown): Promise<IteratorResult<readonly T[]>> {
    this.#leave();
    return Promise.reject(reason);
  }

  /** For the oldest call: what is there, or what it still needs. */
  #wait(): void {
    if (this.#answerEnd()) return;
    if (!this.#subscribed) this.#begin();
    const needed = this.#filling.size - this.#values.length - this.#coming;
    // Of size 'auto', what is asked for may be more than a batch has become.
    if (this.#values.length >= this.#filling.size) this.#hand('size');
    else if (needed > 0 && this.#end === undefined) {
      this.#coming += needed;
      this.#asked?.request(needed);
    }
    if (this.#calls.length > 0) this.#schedule();
  }

  #begin(): void {
    this.#subscribed = true;
    const asked = this.#ask({
      next: (value) => this.#next(value),
      error: (reason) => this.#ended({ reason }),
      complete: () => this.#ended('complete'),
    });
    this.#asked = asked;
    if (this.#over) asked.unsubscribe();
  }

  // Time is read for the first value only: the age of a batch is that of its oldest one, and a clock costs as much as a value.
  #next(value: T): void {
    this.#coming--;
    this.#values.push(value);
    const full = this.#filling.add(this.#values.length === 1 || this.#rule.size === 'auto' ? clock.nowMs() : 0);
    if (full && this.#calls.length > 0) this.#hand('size');
    else if (this.#values.length === 1 && this.#calls.length > 0) this.#schedule();
  }

  #ended(end: { readonly reason: unknown } | 'complete'): void {
    if (this.#over) return;
    this.#end = end;
    this.#answerEnd();
  }

  /** Answers the calls that wait, once the source has ended. False: it has not. */
  #answerEnd(): boolean {
    if (this.#over || this.#end !== undefined) {
      while (this.#calls.length > 0) {
        if (this.#values.length > 0) this.#hand('end');
        else this.#tellEnd(this.#calls.shift() as Call<T>);
      }
      return true;
    }
    return false;
  }

  #tellEnd({ resolve, reject }: Call<T>): void {
    const end = this.#end;
    this.#over = true;
    this.#end = 'complete';
    if (typeof end === 'object') reject(end.reason);
    else resolve({ done: true, value: undefined });
  }

  #hand(reason: FlushReason): void {
    const values = this.#values;
    this.#values = [];
    this.#filling.left(reason);
    this.#unschedule();
    this.#calls.shift()?.resolve({ done: false, value: values });
    if (this.#calls.length > 0 && this.#end === undefined) this.#wait();
  }

  /** A look at the end of this turn of the event loop, or when the oldest value is of age. */
  #schedule(): void {
    if (this.#cancel !== undefined || this.#values.length === 0) return;
    if (this.#rule.idle) {
      this.#look();
      return;
    }
    const { deadlineMs } = this.#filling;
    if (deadlineMs === Number.POSITIVE_INFINITY) return;
    this.#cancel = clock.later(Math.max(0, deadlineMs - clock.nowMs()), () => this.#due('age'));
  }

  // One look a turn, however many batches leave in it: a reader that never comes to the end of the turn would gather them.
  #look(): void {
    if (this.#looking) return;
    this.#looking = true;
    clock.soon(() => {
      this.#looking = false;
      this.#due('idle');
    });
  }

  #due(reason: FlushReason): void {
    this.#cancel = undefined;
    if (this.#calls.length > 0 && this.#values.length > 0) this.#hand(reason);
  }

  #unschedule(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #leave(): void {
    this.#unschedule();
    this.#values = [];
    this.#end = 'complete';
    this.#over = true;
    this.#answerEnd();
    this.#asked?.unsubscribe();
  }
}
