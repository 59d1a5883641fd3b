/**
 * fromRequest: any source that can be asked for so many values, as an Observable with demand.
 * Owns the count between such a source and who asks it. Never asks for more than was asked for, never leaves a source twice.
 */

import type { Observable } from 'rxjs';
import { added, type DemandObserver, type DemandSubscription } from '../../runtime/demand.js';
import { MillraceError } from '../../runtime/errors.js';
import { said } from '../../runtime/fault.js';
import { show } from '../../runtime/option.js';
import { Queue } from '../../runtime/queue.js';
import { unheard } from '../../runtime/unheard.js';
import { Asked } from '../demand.js';

/** Where a source puts its values. Nothing it is given after `error`, `complete` or `cancel()` arrives. */
export interface RequestSink<T> {
  /** One of the values that were requested. */
  next(value: T): void;
  /** The end, by a failure; needs no request. */
  error(reason: unknown): void;
  /** The end; needs no request. */
  complete(): void;
}

/** What a source is asked by. */
export interface Requests {
  request(n: number): void;
  cancel(): void;
}

/**
 * An Observable with demand, of a source that gives values when it is asked: a cursor, a broker with credits, a callback API.
 * `start` is called for each subscription; what it returns is asked by `request(n)`, n a whole number above 0 or Infinity, which
 * adds up, and closed by `cancel()` when the subscriber has left: once, and not after `error` or `complete`.
 * Values may be put into the sink within `request` or at any time later, never within `start`.
 *
 * By the error channel: `ERR_SOURCE` if more values come than were requested, or if `start` or `request` throws (`cause` is what
 * was thrown); `ERR_OPTION` if `start` returns something else; what the sink is given by `error`, as it is. What `cancel` throws
 * is a warning of the process.
 *
 * ```ts
 * const ticks$ = fromRequest<number>((sink) => {
 *   let tick = 0;
 *   return {
 *     request: (n) => {
 *       for (let left = Math.min(n, 3 - tick); left > 0; left--) sink.next(tick++);
 *       if (tick === 3) sink.complete();
 *     },
 *     cancel: () => {},
 *   };
 * });
 * ticks$.subscribe(console.log); // 0, 1, 2
 * ```
 */
export function fromRequest<T>(
  start: (sink: RequestSink<T>) => { request(n: number): void; cancel(): void },
): Observable<T> {
  if (typeof start !== 'function')
    throw new MillraceError(
      'ERR_OPTION',
      `fromRequest() takes a function (sink) => { request, cancel }, got ${show(start)}`,
    );
  return new Asked<T>((observer) => {
    const intake = new Intake(
      observer,
      'fromRequest()',
      'give sink.next() no more than request() asked for, and keep the rest',
    );
    const sink: RequestSink<T> = {
      next: (value) => intake.next(value),
      error: (reason) => intake.error(reason),
      complete: () => intake.complete(),
    };
    try {
      const source: unknown = start(sink);
      if (isRequests(source)) intake.bind(source);
      else
        intake.fail(
          new MillraceError(
            'ERR_OPTION',
            `start of fromRequest() must return { request(n), cancel() }, got ${show(source)}`,
          ),
        );
    } catch (cause) {
      intake.fail(new MillraceError('ERR_SOURCE', `start of fromRequest() threw: ${said(cause)}`, { cause }));
    }
    return intake;
  });
}

export function isRequests(value: unknown): value is Requests {
  const candidate = value as Partial<Requests> | null | undefined;
  return typeof candidate?.request === 'function' && typeof candidate.cancel === 'function';
}

/** Between a source that is asked by `request(n)`, which may misbehave, and an observer, which must not notice. */
export class Intake<T> implements DemandSubscription {
  readonly #observer: DemandObserver<T>;
  readonly #who: string;
  readonly #cure: string;
  #source: Requests | undefined;
  /** Asked for and not passed on. */
  #owed = 0;
  /** Passed on and not given. */
  #due = 0;
  /** Given while the observer is inside `next`. */
  readonly #waiting = new Queue<T>();
  #giving = false;
  #asking = false;
  #over = false;
  /** The source has ended by itself: it is not cancelled. */
  #sourceOver = false;
  /** The end, which comes when `next` has returned. */
  #end: (() => void) | undefined;

  /** `cure` says what a source that gives too much should do. */
  constructor(observer: DemandObserver<T>, who: string, cure: string) {
    this.#observer = observer;
    this.#who = who;
    this.#cure = cure;
  }

  /** The source can be asked from now on. */
  bind(source: Requests): void {
    if (this.#sourceOver) return;
    if (this.#closed) this.#cancel(source);
    else {
      this.#source = source;
      this.#pass();
    }
  }

  // Of the source.

  next(value: T): void {
    if (this.#closed) return;
    if (this.#due === 0) {
      const message = `the source of ${this.#who} gave more values than it was asked for: ${this.#cure}`;
      this.fail(new MillraceError('ERR_SOURCE', message));
      return;
    }
    this.#due--;
    if (this.#giving) this.#waiting.push(value);
    else this.#give(value);
  }

  error(reason: unknown): void {
    this.#ended(() => this.#observer.error(reason));
  }

  complete(): void {
    this.#ended(() => this.#observer.complete());
  }

  /** The source has broken its contract: it is left. */
  fail(reason: unknown): void {
    if (this.#closed) return;
    this.#end = () => this.#observer.error(reason);
    this.#leave();
    this.#finish();
  }

  // Of who asks.

  request(n: number): void {
    if (this.#closed) return;
    this.#owed = added(this.#owed, n);
    this.#pass();
  }

  unsubscribe(): void {
    this.#over = true;
    while (this.#waiting.length > 0) this.#waiting.shift();
    this.#leave();
  }

  get #closed(): boolean {
    return this.#over || this.#end !== undefined;
  }

  // Order: what is asked for within `next` is passed on when it has returned, and within `request` by the loop that is
  // there already: no depth of calls grows with the number of values, whatever the source does.
  #pass(): void {
    if (this.#giving || this.#asking) return;
    this.#asking = true;
    try {
      while (this.#owed > 0 && this.#source !== undefined) {
        const n = this.#owed;
        this.#owed = 0;
        if (this.#due === Number.POSITIVE_INFINITY) break;
        this.#due = added(this.#due, n);
        this.#source.request(n);
      }
    } catch (cause) {
      this.fail(
        new MillraceError('ERR_SOURCE', `request() of the source of ${this.#who} threw: ${said(cause)}`, { cause }),
      );
    }
    this.#asking = false;
  }

  #give(value: T): void {
    this.#giving = true;
    try {
      this.#observer.next(value);
      while (this.#waiting.length > 0) this.#observer.next(this.#waiting.shift() as T);
    } finally {
      this.#giving = false;
    }
    if (this.#end === undefined) this.#pass();
    else this.#finish();
  }

  #ended(end: () => void): void {
    this.#sourceOver = true;
    this.#source = undefined;
    if (this.#closed) return;
    this.#end = end;
    this.#finish();
  }

  #finish(): void {
    if (this.#over || this.#giving) return;
    this.#over = true;
    this.#end?.();
  }

  #leave(): void {
    const source = this.#source;
    this.#source = undefined;
    if (source !== undefined) this.#cancel(source);
  }

  #cancel(source: Requests): void {
    try {
      source.cancel();
    } catch (reason) {
      unheard(`the source of ${this.#who}`, reason);
    }
  }
}
