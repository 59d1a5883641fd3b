/** every, find and findIndex as steps of the loop: the first value that decides completes from inside. */

import { asksForSource, type Predicate } from './predicate.js';
import type { Lower } from './step.js';

export function everyLowering(predicate: Predicate, thisArg?: unknown): Lower | undefined {
  return deciding(predicate, thisArg, false, () => false, true);
}

export function findLowering(predicate: Predicate, thisArg?: unknown): Lower | undefined {
  return deciding(predicate, thisArg, true, (value) => value, undefined);
}

export function findIndexLowering(predicate: Predicate, thisArg?: unknown): Lower | undefined {
  return deciding(predicate, thisArg, true, (_, index) => index, -1);
}

/** `answer` for the first value of which the predicate says `decisive`; `otherwise` at the end. */
function deciding(
  predicate: Predicate,
  thisArg: unknown,
  decisive: boolean,
  answer: (value: unknown, index: number) => unknown,
  otherwise: unknown,
): Lower | undefined {
  if (asksForSource(predicate)) return undefined;
  return (out) => {
    let index = 0;
    return {
      next(value) {
        const i = index++;
        if (Boolean(predicate.call(thisArg, value, i)) !== decisive) return;
        out.emit(answer(value, i));
        out.sendComplete();
      },
      complete() {
        out.emit(otherwise);
        out.sendComplete();
      },
    };
  };
}
