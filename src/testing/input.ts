/**
 * What goes into a pipeline under test: values at times, and an end.
 * Owns the checks at the door and the plain form that the rest trusts. Never emits.
 */

import { MillraceError } from '../../runtime/errors.js';
import { checkKeys, isOptions, show } from '../../runtime/option.js';

/** A value and its time, in milliseconds from the subscription on; fractions count. */
export type Timed<T> = readonly [atMs: number, value: T];

/**
 * An array: its values at 0 ms, then completion.
 *
 * Otherwise `values` at their times, not below 0, in ascending order; of equal times one after the other. The input ends at
 * `endMs`, not before the last value; default: with the last value, at 0 ms if there is none; Infinity: never. It ends by
 * `error`, where there is one, undefined among them, else by completion.
 */
export type Input<T> =
  | readonly T[]
  | { readonly values: readonly Timed<T>[]; readonly endMs?: number; readonly error?: unknown };

/** An input with everything decided. */
export interface Schedule<T> {
  readonly values: readonly Timed<T>[];
  /** None: it never ends. */
  readonly endMs: number | undefined;
  /** How it ends, if not by completion. */
  readonly failure: { readonly error: unknown } | undefined;
}

/** Checks an input given by the user; `where` is its name. */
export function scheduleOf<T>(input: Input<T>, where = 'input'): Schedule<T> {
  const given: unknown = input;
  if (Array.isArray(given)) {
    return { values: Array.from(given as readonly T[], (value) => [0, value] as const), endMs: 0, failure: undefined };
  }
  if (!isOptions(given)) {
    throw refused(`${where} must be an array of values or { values, endMs, error }, got ${show(given)}`);
  }
  checkKeys(given, ['values', 'endMs', 'error'], where);
  const { values, endMs } = given as { readonly values?: unknown; readonly endMs?: unknown };
  if (!Array.isArray(values)) throw refused(`${where}.values must be an array of [atMs, value], got ${show(values)}`);
  const timed = checkTimes<T>(values, where);
  const lastMs = timed.at(-1)?.[0] ?? 0;
  const failure = 'error' in given ? { error: given.error } : undefined;
  if (endMs === undefined) return { values: timed, endMs: lastMs, failure };
  if (typeof endMs !== 'number' || !(endMs >= lastMs)) {
    throw refused(
      `${where}.endMs must be milliseconds, not before the last value at ${lastMs}, or Infinity for no end, got ${show(endMs)}`,
    );
  }
  if (endMs !== Number.POSITIVE_INFINITY) return { values: timed, endMs, failure };
  if (failure !== undefined)
    throw refused(`${where}.error never comes when endMs is Infinity; say when, or leave one out`);
  return { values: timed, endMs: undefined, failure };
}

function checkTimes<T>(values: readonly unknown[], where: string): readonly Timed<T>[] {
  let lastMs = 0;
  return Array.from(values, (timed, index) => {
    const at = `${where}.values[${index}]`;
    if (!Array.isArray(timed) || timed.length !== 2) {
      throw refused(`${at} must be [atMs, value], got ${show(timed)}; plain values go into an array: ${where}: [1, 2]`);
    }
    const [atMs, value] = timed as [unknown, T];
    if (typeof atMs !== 'number' || !Number.isFinite(atMs) || atMs < 0) {
      throw refused(`${at} must have a time in milliseconds from 0 on, got ${show(atMs)}`);
    }
    if (atMs < lastMs) {
      throw refused(`${at} is at ${show(atMs)} ms, before the value at ${lastMs} ms; put the values in order of time`);
    }
    lastMs = atMs;
    return [atMs, value] as const;
  });
}

function refused(message: string): MillraceError {
  return new MillraceError('ERR_OPTION', message);
}
