/**
 * The four interfaces of Reactive Streams (JVM specification 1.0.4), as JavaScript says them.
 * Owns the types, and the check of who subscribes. No behaviour.
 */

import { MillraceError } from '../../runtime/errors.js';
import { show } from '../../runtime/option.js';

/** What gives values to those who subscribe, to each as many as it asked for (Reactive Streams §1). */
export interface Publisher<T> {
  /** Calls `onSubscribe` before anything else; throws only where it is given no subscriber (§1.9). */
  subscribe(subscriber: Subscriber<T>): void;
}

/**
 * Who takes values: hears `onSubscribe` once, then `onNext` for as many values as it asked for, then at most one of `onError`
 * and `onComplete`, which need no demand (Reactive Streams §2). None of the four may throw.
 */
export interface Subscriber<T> {
  /** By `subscription` it asks for values, at once or later. */
  onSubscribe(subscription: Subscription): void;
  /** One of the values it asked for, never null or undefined. */
  onNext(value: T): void;
  /** The end, by a failure; never null or undefined. */
  onError(reason: unknown): void;
  /** The end: there are no more values. */
  onComplete(): void;
}

/** What ties one subscriber to one publisher (Reactive Streams §3). */
export interface Subscription {
  /** So many more values: a whole number above 0, or Infinity; from `Number.MAX_SAFE_INTEGER` on it means all there are. */
  request(n: number): void;
  /** No values are wanted any more. May be called again. */
  cancel(): void;
}

/** A stage between a publisher and a subscriber, to each of which it is the other (Reactive Streams §4). */
export interface Processor<In, Out> extends Subscriber<In>, Publisher<Out> {}

const signals = ['onSubscribe', 'onNext', 'onError', 'onComplete'] as const;

/** The only refusal that is thrown (§1.9): there is nobody to tell otherwise. */
export function checkSubscriber(subscriber: unknown, who: string): void {
  const candidate = subscriber as Readonly<Record<string, unknown>> | null | undefined;
  const missing = signals.find((signal) => typeof candidate?.[signal] !== 'function');
  if (missing === undefined) return;
  const lack = candidate === null || candidate === undefined ? '' : `, which has no ${missing}()`;
  throw new MillraceError(
    'ERR_OPTION',
    `subscribe() of ${who} takes a Subscriber of Reactive Streams (§1.9), with ${signals.join(', ')}, got ${show(subscriber)}${lack}`,
  );
}
