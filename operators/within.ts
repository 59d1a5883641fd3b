/**
 * Subscribes to a stream so that it can be let go of while it still emits inside `subscribe`: an endless synchronous
 * source behind which `take` has ended would else never come back.
 */

import { Observable, type Observer, type Subscription } from 'rxjs';

export function subscribeWithin<T>(parent: Subscription, source: Observable<T>, observer: Observer<T>): Subscription {
  return new Observable<T>((subscriber) => {
    parent.add(subscriber);
    // Another RxJS may not take this subscriber as it is: it is left by the subscription that it returns.
    return source.subscribe(subscriber);
  }).subscribe(observer);
}
