/** last as a step of the loop: one value when the stream has ended. */

import { EmptyError } from 'rxjs';
import { asksForSource, type Predicate } from './predicate.js';
import type { Lower } from './step.js';

/** A default of `undefined` is a default: the number of arguments decides. */
export function lastLowering(
  ...args: readonly [predicate?: Predicate | null, defaultValue?: unknown]
): Lower | undefined {
  const [predicate, defaultValue] = args;
  if (asksForSource(predicate)) return undefined;
  return (out) => {
    let index = 0;
    let found = args.length >= 2;
    let latest = defaultValue;
    return {
      next(value) {
        if (predicate && !predicate(value, index++)) return;
        found = true;
        latest = value;
      },
      complete() {
        if (!found) throw new EmptyError();
        out.emit(latest);
        out.sendComplete();
      },
    };
  };
}
