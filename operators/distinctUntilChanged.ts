/** distinctUntilChanged and distinctUntilKeyChanged as steps of the loop. */

import type { Lower } from './step.js';

type Comparator = (previous: unknown, current: unknown) => unknown;

const same: Comparator = (a, b) => a === b;
const itself = (value: unknown): unknown => value;

export function distinctUntilChangedKernel(
  comparator?: Comparator | null,
  keySelector: (value: unknown) => unknown = itself,
): Lower {
  const compare = comparator ?? same;
  return (out) => {
    let first = true;
    let previous: unknown;
    return {
      next(value) {
        const current = keySelector(value);
        if (!first && compare(previous, current)) return;
        first = false;
        previous = current;
        out.emit(value);
      },
    };
  };
}

export function distinctUntilKeyChangedKernel(key: PropertyKey, compare?: Comparator | null): Lower {
  const member = (value: unknown): unknown => (value as Record<PropertyKey, unknown>)[key];
  const alike = compare || same;
  // The member is read when two values are compared, as in RxJS: the first one may be none that has members.
  return distinctUntilChangedKernel((a, b) => alike(member(a), member(b)));
}
