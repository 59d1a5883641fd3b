/**
 * distinctByKey: the first value of each key.
 * Owns which keys have come, in one KeyedState per executor.
 */

import { defer, filter, type MonoTypeOperatorFunction } from 'rxjs';
import { currentKey } from './key.js';
import { KeyedState } from './keyedState.js';
import type { Lower } from './step.js';

export function distinctByKeyKernel(): Lower {
  return (out) => {
    const seen = new KeyedState<true>();
    return {
      next(value) {
        if (isFirst(seen)) out.emit(value);
      },
    };
  };
}

/** The current key comes for the first time; from now on it has come. */
function isFirst(seen: KeyedState<true>): boolean {
  const key = currentKey('distinctByKey');
  if (seen.get(key) !== undefined) return false;
  seen.add(key, true);
  return true;
}

/** The plain form; the menu has the documentation. */
export function distinctByKey<T>(): MonoTypeOperatorFunction<T> {
  return (source) =>
    defer(() => {
      const seen = new KeyedState<true>();
      return source.pipe(filter(() => isFirst(seen)));
    });
}
