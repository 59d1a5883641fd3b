/** Predicates to which RxJS hands the source as a third argument: the loop has none to give, so those that ask stay opaque. */

export type Predicate = (value: unknown, index: number) => unknown;

export function asksForSource(predicate: unknown): boolean {
  return typeof predicate === 'function' && predicate.length >= 3;
}
