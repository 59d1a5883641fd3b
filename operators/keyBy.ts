/**
 * keyBy: a cut after which a key always meets the same executor.
 * Owns the types that remember the key, and the inline form, which sets the key register around `next`.
 */

import { Observable, type OperatorFunction } from 'rxjs';
import { checkCut, checkFunction, cut, type ExchangeOptions } from './cut.js';
import { savedKey, setKey } from './key.js';
import { subscribeWithin } from './within.js';

declare const key: unique symbol;
/** T, remembering for the types only that it was keyed by K. */
export type Keyed<T, K> = T & { readonly [key]?: K };
/** The key a type was keyed by; unknown behind `map`. */
export type KeyOf<T> = T extends { readonly [key]?: infer K } ? Exclude<K, undefined> : unknown;

/**
 * Cuts the pipeline: a value goes to the executor its key belongs to, the same in every process and version (C-111, C-112).
 * `selector` must depend on the value alone: the receiver evaluates it again. Keys are strings, numbers, bigints, booleans,
 * null, undefined, dates, bytes, and arrays and plain objects of these; another one ends the run with `ERR_KEY`.
 *
 * ```text
 * source       --a1--b1--a2--b2--|
 *              keyBy((v) => v[0], { parallelism: 2 })
 * executor 0   --a1------a2------|
 * executor 1   ------b1------b2--|
 * ```
 */
export function keyBy<T, K>(
  selector: (value: T) => K,
  options?: ExchangeOptions<NoInfer<T>>,
): OperatorFunction<T, Keyed<T, K>> {
  checkFunction(selector, 'the first argument of keyBy()');
  const inline = (source: Observable<T>): Observable<T> => keyInline(source, selector);
  return cut<T>('keyBy', checkCut('keyBy', options), selector as (value: never) => unknown, inline) as OperatorFunction<
    T,
    Keyed<T, K>
  >;
}

function keyInline<T>(source: Observable<T>, selector: (value: T) => unknown): Observable<T> {
  return new Observable((subscriber) => {
    subscribeWithin(subscriber, source, {
      next(value) {
        let key: unknown;
        try {
          key = selector(value);
        } catch (reason) {
          subscriber.error(reason);
          return;
        }
        const outer = savedKey();
        setKey(key);
        subscriber.next(value);
        setKey(outer);
      },
      error: (reason: unknown) => subscriber.error(reason),
      complete: () => subscriber.complete(),
    });
  });
}
