/**
 * Demand through Observables: those that can be asked carry `Symbol.for('millrace.demand/1')`.
 * Owns the symbol and the Observable that carries it. An RxJS operator behind one drops it: its result is an ordinary push source.
 * Never asks by itself, except that a plain `subscribe()` asks without end.
 */

import { isObservable, Observable, type Subscribable, type Subscriber, type TeardownLogic } from 'rxjs';
import type { Ask } from '../runtime/demand.js';
import { MillraceError } from '../runtime/errors.js';
import { show } from '../runtime/option.js';

/** The method by which an Observable is asked for values; the same in all copies of the package. */
export const demand: unique symbol = Symbol.for('millrace.demand/1');

/** An Observable that can be asked. */
export class Asked<T> extends Observable<T> {
  /** `subscribe`: what a subscription without end does, where there is a shorter way than to ask for Infinity. */
  constructor(ask: Ask<T>, subscribe: (subscriber: Subscriber<T>) => TeardownLogic = endlessly(ask)) {
    super(subscribe);
    Object.defineProperty(this, demand, { value: ask });
  }
}

function endlessly<T>(ask: Ask<T>): (subscriber: Subscriber<T>) => TeardownLogic {
  return (subscriber) => {
    const asked = ask(subscriber);
    subscriber.add(() => asked.unsubscribe());
    if (!subscriber.closed) asked.request(Number.POSITIVE_INFINITY);
  };
}

/** The way to ask `values`, if it can be asked. */
export function askOf<T>(values: Observable<T>): Ask<T> | undefined {
  const candidate = values as { readonly [demand]?: Ask<T> };
  return typeof candidate[demand] === 'function' ? (observer) => (candidate[demand] as Ask<T>)(observer) : undefined;
}

/** `values` as an Observable of this RxJS, whatever implements `Symbol.observable`; `who` is the function it was given to. */
export function observableOf<T>(values: unknown, who: string): Observable<T> {
  if (isObservable(values)) return values as Observable<T>;
  const candidate = values as Readonly<Record<PropertyKey, unknown>> | null | undefined;
  // RxJS knows the one that was there when it was loaded, a library loaded later may know the other.
  for (const name of [(Symbol as { readonly observable?: symbol }).observable, '@@observable']) {
    const interop = name === undefined ? undefined : candidate?.[name];
    if (typeof interop === 'function')
      return new Observable((subscriber) => (interop.call(values) as Subscribable<T>).subscribe(subscriber));
  }
  throw new MillraceError('ERR_OPTION', `${who} takes an Observable, got ${show(values)}: from() of rxjs makes one`);
}
