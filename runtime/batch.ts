/**
 * The one shape in which batching is said, everywhere.
 * Owns the defaults, the checks at the door and the resolution of names to sizes.
 * Never decides when a batch leaves: that is the outbox.
 */

import { MillraceError } from './errors.js';
import { checkKeys, isOptions, show } from './option.js';

export interface BatchOptions {
  /** Values in a batch; default 100. */
  readonly size?: number;
  /** Encoded bytes in a batch; default 32 KiB. A single larger value travels alone. */
  readonly bytes?: number;
  /** How long a value may wait for others, in milliseconds; default 5. 0: until the end of the slice. Infinity: never by age. */
  readonly flushMs?: number;
  /** Send what there is when the executor has nothing more to do, or the reader sleeps; default true. */
  readonly idle?: boolean;
}

/** `100`, or the single parts. */
export type Batch = number | BatchOptions;

/** A batch shape with every part decided. */
export interface BatchRule {
  readonly size: number;
  readonly bytes: number;
  readonly flushMs: number;
  readonly idle: boolean;
}

export const defaultBatch: BatchRule = { size: 100, bytes: 32 * 1024, flushMs: 5, idle: true };

const maxBytes = 1024 * 1024;
/** The longest time a timer holds; longer ones would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** Checks a batch given by the user; `where` names the option. */
export function checkBatch(batch: unknown, where: string): Batch {
  if (typeof batch === 'number') return { size: checkSize(batch, where) }.size;
  if (!isOptions(batch)) {
    throw new MillraceError(
      'ERR_OPTION',
      `${where} must be a number of values or { size, bytes, flushMs, idle }, got ${show(batch)}`,
    );
  }
  const given = batch as Record<keyof BatchOptions, unknown>;
  checkKeys(given, Object.keys(defaultBatch), where);
  if (given.size !== undefined) checkSize(given.size, `${where}.size`);
  if (given.bytes !== undefined && !isWhole(given.bytes, 1, maxBytes)) {
    throw new MillraceError(
      'ERR_OPTION',
      `${where}.bytes must be a whole number from 1 to ${maxBytes}, got ${show(given.bytes)}`,
    );
  }
  if (given.flushMs !== undefined && !isTime(given.flushMs)) {
    throw new MillraceError(
      'ERR_OPTION',
      `${where}.flushMs must be milliseconds from 0 to ${maxTimerMs}, or Infinity, got ${show(given.flushMs)}`,
    );
  }
  if (given.idle !== undefined && typeof given.idle !== 'boolean') {
    throw new MillraceError('ERR_OPTION', `${where}.idle must be true or false, got ${show(given.idle)}`);
  }
  return batch as BatchOptions;
}

/** The first shape says most; what it leaves open comes from the next one. */
export function resolveBatch(...shapes: readonly (Batch | undefined)[]): BatchRule {
  let rule = defaultBatch;
  for (const shape of [...shapes].reverse()) {
    if (shape === undefined) continue;
    rule = typeof shape === 'number' ? { ...rule, size: shape } : { ...rule, ...defined(shape) };
  }
  return rule;
}

function defined(shape: BatchOptions): BatchOptions {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
}

function checkSize(size: unknown, where: string): number {
  if (isWhole(size, 1, 2 ** 31 - 1)) return size;
  throw new MillraceError('ERR_OPTION', `${where} must be a whole number of values, at least 1, got ${show(size)}`);
}

function isWhole(value: unknown, from: number, to: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && (value === Number.POSITIVE_INFINITY || (value >= 0 && value <= maxTimerMs));
}
