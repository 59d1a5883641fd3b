/**
 * A source that a test feeds by hand.
 * Owns its subscribers. Keeps no value.
 */

import { type Observable, Subject } from 'rxjs';

/**
 * A hot source: what is fed reaches those who are subscribed at that moment, before `next` returns; without subscribers it is
 * lost, as with a Subject. After `error` or `complete`, feeding does nothing, and who subscribes gets that end.
 *
 * ```ts
 * const { source, next, complete } = feeder<number>();
 * const seen = captured(source.pipe(map((n) => n + 1)));
 * next(1);
 * complete();
 * expect(seen).toEqual({ values: [2], end: 'complete' });
 * ```
 */
export function feeder<T>(): {
  readonly source: Observable<T>;
  next(value: T): void;
  error(reason: unknown): void;
  complete(): void;
} {
  const fed = new Subject<T>();
  return {
    source: fed.asObservable(),
    next: (value) => fed.next(value),
    error: (reason) => fed.error(reason),
    complete: () => fed.complete(),
  };
}
