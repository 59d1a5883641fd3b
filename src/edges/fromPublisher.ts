/**
 * fromPublisher: a Publisher of Reactive Streams as an Observable with demand.
 * Owns the Subscriber it subscribes. Never calls its Subscription after the end, and never believes a Publisher.
 */

import type { Observable } from 'rxjs';
import { MillraceError } from '../../runtime/errors.js';
import { said } from '../../runtime/fault.js';
import { show } from '../../runtime/option.js';
import { unheard } from '../../runtime/unheard.js';
import { Asked } from '../demand.js';
import { Intake, isRequests } from './fromRequest.js';
import type { Publisher, Subscriber, Subscription } from './publisher.js';

const who = 'fromPublisher()';
/** What a publisher that gives too much should do. */
export const tooMuch = "Reactive Streams §1.1 allows no more than the sum of its Subscription's requests";

/**
 * An Observable with demand, of a Publisher (Reactive Streams §2). Each subscription subscribes it anew, and requests as many values as
 * are asked for: a topology, `toReadable` and the like ask for what they have room for, a plain `subscribe()` for all there
 * are, as `Number.MAX_SAFE_INTEGER`. Unsubscribing cancels its Subscription.
 *
 * A Publisher that breaks the rules does not break its subscriber: a second Subscription is cancelled (§2.5), what comes after
 * the end is ignored, what it signals inside another signal comes after it. By the error channel: `ERR_SOURCE` if it gives more than
 * was requested (§1.1; the surplus is not delivered), gives null or undefined (§2.13, and it is thrown to the publisher), signals a
 * value before `onSubscribe` (§1.9) or throws (§1.9, §3.16); what it signals by `onError`, as it is. `ERR_OPTION`, thrown: not a Publisher.
 *
 * ```ts
 * fromPublisher(toPublisher(of(1, 2, 3))).subscribe(console.log); // 1, 2, 3
 * ```
 */
export function fromPublisher<T>(publisher: Publisher<T>): Observable<T> {
  const candidate = publisher as Partial<Publisher<T>> | null | undefined;
  if (typeof candidate?.subscribe !== 'function')
    throw new MillraceError(
      'ERR_OPTION',
      `${who} takes a Publisher of Reactive Streams, with subscribe(subscriber), got ${show(publisher)}`,
    );
  return new Asked<T>((observer) => {
    const intake = new Intake(observer, who, tooMuch);
    try {
      publisher.subscribe(new Receiver(intake, who));
    } catch (cause) {
      const message = `subscribe() of the publisher given to ${who} threw (Reactive Streams §1.9): ${said(cause)}`;
      intake.fail(new MillraceError('ERR_SOURCE', message, { cause }));
    }
    return intake;
  });
}

/** What is subscribed to a publisher. */
export class Receiver<T> implements Subscriber<T> {
  readonly #intake: Intake<T>;
  readonly #who: string;
  #subscribed = false;
  #ended = false;

  constructor(intake: Intake<T>, name: string) {
    this.#intake = intake;
    this.#who = name;
  }

  onSubscribe(subscription: Subscription): void {
    if (!isRequests(subscription)) throw this.#refusal('onSubscribe() takes a Subscription', subscription);
    if (this.#subscribed || this.#ended) {
      this.#cancel(subscription);
      return;
    }
    this.#subscribed = true;
    this.#intake.bind({
      // A whole number, which every publisher can count with (§3.17).
      request: (n) => subscription.request(Math.min(n, Number.MAX_SAFE_INTEGER)),
      cancel: () => subscription.cancel(),
    });
  }

  onNext(value: T): void {
    if (value === null || value === undefined) throw this.#refusal('onNext() takes a value', value);
    if (this.#subscribed) this.#intake.next(value);
    else {
      const message = `the publisher of ${this.#who} gave a value before a Subscription (Reactive Streams §1.9)`;
      this.#intake.fail(new MillraceError('ERR_SOURCE', message));
    }
  }

  onError(reason: unknown): void {
    if (reason === null || reason === undefined) throw this.#refusal('onError() takes a reason', reason);
    this.#ended = true;
    this.#intake.error(reason);
  }

  onComplete(): void {
    this.#ended = true;
    this.#intake.complete();
  }

  /** Who asks hears of it as well: a publisher that throws away what it is thrown would leave it waiting. */
  #refusal(what: string, given: unknown): MillraceError {
    const reason = new MillraceError(
      'ERR_SOURCE',
      `${what} (Reactive Streams §2.13), and ${this.#who} got ${show(given)}`,
    );
    this.#intake.fail(reason);
    return reason;
  }

  #cancel(subscription: Subscription): void {
    try {
      subscription.cancel();
    } catch (reason) {
      unheard(`a second Subscription of ${this.#who}`, reason);
    }
  }
}
