/**
 * reduceByKey: one result per key when the stream has ended.
 * Owns its plain form and its kernel, which hands the results over one by one, so that room is awaited between them.
 */

import { Observable, type OperatorFunction } from 'rxjs';
import { savedKey, setKey } from './key.js';
import type { KeyOf } from './keyBy.js';
import { KeyedState } from './keyedState.js';
import { stepKey } from './scanByKey.js';
import type { Lower } from './step.js';
import { subscribeWithin } from './within.js';

type Accumulator = (acc: unknown, value: unknown, key: unknown) => unknown;
type Seed = (key: unknown) => unknown;

export function reduceByKeyKernel(accumulate: Accumulator, seed: Seed): Lower {
  return (out) => {
    const state = new KeyedState<unknown>();
    return {
      next(value) {
        stepKey(state, accumulate, seed, value, 'reduceByKey');
      },
      complete: () => out.iterate(results(state), () => out.sendComplete()),
    };
  };
}

/** Results in the order in which keys were first seen; each keeps its key for the steps behind. */
function* results(state: KeyedState<unknown>): Generator<readonly [unknown, unknown]> {
  for (const { key, state: acc } of state.entries()) {
    setKey(key);
    yield [key, acc];
  }
}

/** The plain form; the menu has the documentation. */
export function reduceByKey<T, A>(
  accumulator: (acc: A, value: T, key: KeyOf<T>) => A,
  seed: (key: KeyOf<T>) => A,
): OperatorFunction<T, readonly [key: KeyOf<T>, acc: A]> {
  return (source) =>
    new Observable((subscriber) => {
      const state = new KeyedState<unknown>();
      subscribeWithin(subscriber, source, {
        next(value) {
          try {
            stepKey(state, accumulator as Accumulator, seed as Seed, value, 'reduceByKey');
          } catch (reason) {
            subscriber.error(reason);
          }
        },
        error: (reason: unknown) => subscriber.error(reason),
        complete() {
          const outer = savedKey();
          for (const result of results(state)) subscriber.next(result as readonly [KeyOf<T>, A]);
          setKey(outer);
          subscriber.complete();
        },
      });
    });
}
