/**
 * Values as an async iterator: each `next()` asks for one.
 * Owns the calls that wait for an answer, which come in their order. Never reads ahead.
 */

import type { Observable } from 'rxjs';
import type { Ask, DemandSubscription } from '../../runtime/demand.js';
import { none } from '../../runtime/input.js';
import { Queue } from '../../runtime/queue.js';
import { askable, checkEdge, type EdgeOptions } from './edge.js';

/**
 * Subscribes at the first `next()` and asks for one value per `next()`. `break`, `return()` and `throw()` unsubscribe at once: a
 * topology or a pull has then taken at most what was asked for, and what lay in its channels. An error rejects the call that waits
 * for a value, once; afterwards the iterator is done.
 *
 * ```ts
 * for await (const [word, count] of toAsyncIterable(lines.pipe(wordCount()))) {
 *   await db.write(word, count); // the threads wait meanwhile
 * }
 * ```
 *
 * Wrong options throw `ERR_OPTION`. A source that emits without a pause errors with `ERR_HELD`, one that emits faster than it is
 * read with `ERR_OVERFLOW`; see `overflow`.
 */
export function toAsyncIterable<T>(values: Observable<T>, options: EdgeOptions = {}): AsyncIterableIterator<T> {
  return new Pulled(askable<T>(values, checkEdge(options, 'toAsyncIterable()'), 'toAsyncIterable()'));
}

interface Call<T> {
  resolve(result: IteratorResult<T>): void;
  reject(reason: unknown): void;
}

class Pulled<T> implements AsyncIterableIterator<T> {
  readonly #ask: Ask<T>;
  readonly #calls = new Queue<Call<T>>();
  #asked: DemandSubscription | undefined;
  /** Subscribing, or requesting, for a call that is not among `calls`: it is older than all of them. */
  #asking = false;
  /** The value that came within that request. */
  #came: unknown = none;
  #over = false;
  /** An error nobody has been told. */
  #failed: { readonly reason: unknown } | undefined;

  constructor(ask: Ask<T>) {
    this.#ask = ask;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#over) return this.#ended();
    // Called while it is being subscribed: asked for when that has returned.
    if (this.#asking || this.#calls.length > 0) return this.#wait(this.#asked);
    // What comes within the request needs no promise that waits; most values do.
    this.#asking = true;
    const asked = this.#asked ?? this.#begin();
    if (!this.#over) asked.request(1 + this.#calls.length);
    this.#asking = false;
    const value = this.#came;
    this.#came = none;
    if (value !== none) return Promise.resolve({ done: false, value: value as T });
    return this.#over ? this.#ended() : this.#first();
  }

  return(value?: unknown): Promise<IteratorResult<T>> {
    this.#leave();
    return Promise.resolve(value).then((returned) => ({ done: true, value: returned }));
  }

  throw(reason?: unknown): Promise<IteratorResult<T>> {
    this.#leave();
    return Promise.reject(reason);
  }

  #begin(): DemandSubscription {
    const asked = this.#ask({
      next: (value) => this.#next(value),
      error: (reason) => this.#fail(reason),
      complete: () => this.#finish(),
    });
    this.#asked = asked;
    if (this.#over) asked.unsubscribe();
    return asked;
  }

  #wait(asked: DemandSubscription | undefined): Promise<IteratorResult<T>> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ resolve, reject });
      asked?.request(1);
    });
  }

  /** For the call that asked; those made within its request come behind it. */
  #first(): Promise<IteratorResult<T>> {
    const younger = this.#calls.length;
    return new Promise((resolve, reject) => {
      this.#calls.push({ resolve, reject });
      for (let n = 0; n < younger; n++) this.#calls.push(this.#calls.shift() as Call<T>);
    });
  }

  #next(value: T): void {
    if (this.#asking && this.#came === none) this.#came = value;
    else this.#calls.shift()?.resolve({ done: false, value });
  }

  #fail(reason: unknown): void {
    // The call inside whose request it comes hears it, unless it has its value.
    const call = this.#asking && this.#came === none ? undefined : this.#calls.shift();
    if (call === undefined) this.#failed = { reason };
    else call.reject(reason);
    this.#finish();
  }

  #leave(): void {
    this.#failed = undefined;
    this.#finish();
    this.#asked?.unsubscribe();
  }

  #finish(): void {
    this.#over = true;
    for (let call = this.#calls.shift(); call !== undefined; call = this.#calls.shift())
      call.resolve({ done: true, value: undefined });
  }

  #ended(): Promise<IteratorResult<T>> {
    const failed = this.#failed;
    this.#failed = undefined;
    return failed === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(failed.reason);
  }
}
