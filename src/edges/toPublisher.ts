/**
 * toPublisher: an Observable as a Publisher of Reactive Streams.
 * Owns what is between one subscriber and what it asks. Never signals while another signal runs, never more than was asked for.
 */

import { type Observable, throwError } from 'rxjs';
import type { Ask, DemandSubscription } from '../../runtime/demand.js';
import { MillraceError } from '../../runtime/errors.js';
import { show } from '../../runtime/option.js';
import { unheard } from '../../runtime/unheard.js';
import { askable, checkEdge, type EdgeOptions } from './edge.js';
import { checkSubscriber, type Publisher, type Subscriber } from './publisher.js';

const who = 'toPublisher()';

/**
 * A Publisher of `values` (Reactive Streams §1, §3). Each `subscribe()` is a subscription of its own: `values` is subscribed when
 * `onSubscribe` has returned, and asked for as much as the subscriber requests. What a topology, `pull` or a `from…` adapter
 * returned is asked itself; values of any other Observable wait, as `overflow` says, until they are requested.
 *
 * Signals never overlap: what is requested inside `onNext` comes when it has returned, however often (§3.3). From
 * `Number.MAX_SAFE_INTEGER` on, and by Infinity, a request is for all there are (§3.17). After `cancel()` nothing comes and
 * nothing holds on to the subscriber (§3.13).
 *
 * By `onError`: what the source errors with; `ERR_OPTION` for a request that is not a whole number above 0 (§3.9); `ERR_VALUE`
 * for a value that is null or undefined, which Reactive Streams has no place for (§2.13); the signal's reason. Thrown, by
 * `subscribe()` and only there: `ERR_OPTION`, if it is not given a subscriber (§1.9). What a subscriber throws ends its own
 * subscription and is reported as RxJS reports what `next` throws.
 *
 * ```ts
 * toPublisher(pull(() => [1, 2, 3])).subscribe({
 *   onSubscribe: (subscription) => subscription.request(2),
 *   onNext: (value) => console.log(value), // 1, 2
 *   onError: console.error,
 *   onComplete: () => console.log('done'),
 * });
 * ```
 */
export function toPublisher<T>(values: Observable<T>, options: EdgeOptions = {}): Publisher<T> {
  const ask = askable<T>(values, checkEdge(options, who), who);
  return {
    subscribe(subscriber) {
      checkSubscriber(subscriber, who);
      publish(ask, subscriber, who);
    },
  };
}

/** Subscribes a checked subscriber; `onOver` is called when it takes no more, for whatever reason. */
export function publish<T>(ask: Ask<T>, subscriber: Subscriber<T>, name: string, onOver: () => void = () => {}): void {
  new Publication(subscriber, name, onOver).start(ask);
}

/** One subscriber and what it asks. */
class Publication<T> {
  #subscriber: Subscriber<T> | undefined;
  readonly #who: string;
  readonly #onOver: () => void;
  #asked: DemandSubscription | undefined;
  /** Requested before the source could be asked. */
  #early = 0;
  /** A signal is running. */
  #signalling = false;
  #over = false;
  /** The last signal, which waits until the one before has returned. */
  #end: ((subscriber: Subscriber<T>) => void) | undefined;

  constructor(subscriber: Subscriber<T>, name: string, onOver: () => void) {
    this.#subscriber = subscriber;
    this.#who = name;
    this.#onOver = onOver;
  }

  // Order: the source is subscribed when onSubscribe has returned, so that nothing it does comes before (§1.9).
  start(ask: Ask<T>): void {
    const subscription = { request: (n: number) => this.#request(n), cancel: () => this.#cancel() };
    this.#signalling = true;
    try {
      this.#subscriber?.onSubscribe(subscription);
    } catch (reason) {
      this.#threw(reason);
    }
    this.#signalled();
    if (this.#over) return;
    try {
      const asked = ask({
        next: (value) => this.#next(value),
        error: (reason) => this.#ended((subscriber) => subscriber.onError(errorOf(reason, this.#who))),
        complete: () => this.#ended((subscriber) => subscriber.onComplete()),
      });
      if (this.#over) this.#release(asked);
      else this.#asked = asked;
      const early = this.#early;
      if (early > 0) this.#asked?.request(early);
    } catch (reason) {
      this.#fail(reason);
    }
  }

  #request(n: number): void {
    if (this.#over) return;
    if (!((Number.isInteger(n) && n > 0) || n === Number.POSITIVE_INFINITY)) {
      const message = `request() of ${this.#who} takes a whole number above 0 or Infinity (Reactive Streams §3.9), got ${show(n)}`;
      this.#fail(new MillraceError('ERR_OPTION', message));
    } else if (this.#asked === undefined) this.#early += n;
    else {
      try {
        this.#asked.request(n);
      } catch (reason) {
        this.#fail(reason);
      }
    }
  }

  #cancel(): void {
    this.#subscriber = undefined;
    this.#end = undefined;
    this.#leave();
  }

  #next(value: T): void {
    if (this.#over) return;
    if (value === null || value === undefined) {
      const message = `a value of ${this.#who} is ${value}, which Reactive Streams does not let through (§2.13): filter it out, or map it to a value that stands for it`;
      this.#fail(new MillraceError('ERR_VALUE', message));
      return;
    }
    this.#signalling = true;
    try {
      this.#subscriber?.onNext(value);
    } catch (reason) {
      this.#threw(reason);
    }
    this.#signalled();
  }

  #threw(reason: unknown): void {
    this.#cancel();
    report(reason);
  }

  #signalled(): void {
    this.#signalling = false;
    this.#finish();
  }

  #fail(reason: unknown): void {
    if (this.#over) return;
    this.#leave();
    this.#end = (subscriber) => subscriber.onError(errorOf(reason, this.#who));
    this.#finish();
  }

  #ended(end: (subscriber: Subscriber<T>) => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#asked = undefined;
    this.#end = end;
    this.#onOver();
    this.#finish();
  }

  #finish(): void {
    const [end, subscriber] = [this.#end, this.#subscriber];
    if (this.#signalling || end === undefined || subscriber === undefined) return;
    this.#subscriber = undefined;
    this.#end = undefined;
    try {
      end(subscriber);
    } catch (reason) {
      report(reason);
    }
  }

  #leave(): void {
    if (this.#over) return;
    this.#over = true;
    const asked = this.#asked;
    this.#asked = undefined;
    if (asked !== undefined) this.#release(asked);
    this.#onOver();
  }

  // cancel() returns normally (§3.15).
  #release(asked: DemandSubscription): void {
    try {
      asked.unsubscribe();
    } catch (reason) {
      unheard(`the source of ${this.#who}`, reason);
    }
  }
}

/** A subscriber may rely on it that there is a reason (§2.13). */
function errorOf(reason: unknown, name: string): unknown {
  if (reason !== null && reason !== undefined) return reason;
  return new MillraceError('ERR_SOURCE', `the source of ${name} errored with ${reason}`, { cause: reason });
}

/** RxJS's own way to tell of an error nobody handles. */
function report(reason: unknown): void {
  throwError(() => reason).subscribe();
}
