/**
 * What a stream has given so far.
 * Owns one subscription. Never raises the stream's error.
 */

import { isObservable, type Observable } from 'rxjs';
import { MillraceError } from '../../runtime/errors.js';
import { show } from '../../runtime/option.js';

/**
 * Subscribes at once and holds what arrives, live: `values` is one list that grows, `end` is 'open' until the stream ends. An
 * error is in `end` and nowhere else. The subscription lasts as long as the stream. `ERR_OPTION`: `values` is no Observable.
 *
 * ```ts
 * const seen = captured(of(1, 2));
 * expect(seen).toEqual({ values: [1, 2], end: 'complete' });
 * ```
 */
export function captured<T>(values: Observable<T>): {
  readonly values: readonly T[];
  readonly end: 'complete' | 'open' | { readonly error: unknown };
} {
  if (!isObservable(values)) {
    throw new MillraceError('ERR_OPTION', `captured() takes an Observable, got ${show(values)}; from() makes one`);
  }
  const seen: T[] = [];
  let end: 'complete' | 'open' | { readonly error: unknown } = 'open';
  values.subscribe({
    next: (value) => {
      seen.push(value);
    },
    error: (error: unknown) => {
      end = { error };
    },
    complete: () => {
      end = 'complete';
    },
  });
  return {
    values: seen,
    get end() {
      return end;
    },
  };
}
