/** startWith and endWith as steps of the loop: their values can be suspended one by one. */

import type { Lower } from './step.js';

export function startWithLowering(...values: readonly unknown[]): Lower | undefined {
  if (endsWithScheduler(values)) return undefined;
  return (out) => ({
    start: () => values.values(),
    next: (value) => out.emit(value),
  });
}

export function endWithLowering(...values: readonly unknown[]): Lower | undefined {
  if (endsWithScheduler(values)) return undefined;
  return (out) => ({
    next: (value) => out.emit(value),
    complete: () => out.iterate(values.values(), () => out.sendComplete()),
  });
}

/** The deprecated form, by RxJS's test: such a use runs by that scheduler, outside the loop. */
function endsWithScheduler(values: readonly unknown[]): boolean {
  const last = values.at(-1) as { readonly schedule?: unknown } | null | undefined;
  return Boolean(last) && typeof last?.schedule === 'function';
}
