/** first and elementAt as steps of the loop: one value, then completion from inside. */

import { ArgumentOutOfRangeError, EmptyError } from 'rxjs';
import { asksForSource, type Predicate } from './predicate.js';
import type { Lower } from './step.js';

/** A default of `undefined` is a default: the number of arguments decides. */
export function firstLowering(
  ...args: readonly [predicate?: Predicate | null, defaultValue?: unknown]
): Lower | undefined {
  const [predicate, defaultValue] = args;
  if (asksForSource(predicate)) return undefined;
  return oneOf(predicate, args.length >= 2, defaultValue, () => new EmptyError());
}

export function elementAtKernel(...args: readonly [index: number, defaultValue?: unknown]): Lower {
  const [at, defaultValue] = args;
  return oneOf(
    (_, index) => index === at,
    args.length >= 2,
    defaultValue,
    () => new ArgumentOutOfRangeError(),
  );
}

function oneOf(
  predicate: Predicate | null | undefined,
  hasDefault: boolean,
  defaultValue: unknown,
  missing: () => unknown,
): Lower {
  return (out) => {
    let index = 0;
    let found = false;
    return {
      next(value) {
        if (predicate && !predicate(value, index++)) return;
        // What re-enters while the value is handed over is asked about, and no more.
        if (found) return;
        found = true;
        out.emit(value);
        out.sendComplete();
      },
      complete() {
        if (!found) {
          if (!hasDefault) throw missing();
          out.emit(defaultValue);
        }
        out.sendComplete();
      },
    };
  };
}
