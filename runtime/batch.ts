/**
 * The one shape in which batching is said, everywhere.
 * Owns the defaults, the checks at the door and the resolution of names to sizes.
 * Never decides when a batch leaves: that is the outbox.
 */

import { MillraceError } from './errors.js';
import { checkKeys, isOptions, show } from './option.js';

export interface BatchOptions {
  /** Values in a batch; default 100. 'auto': as many as come in time, one more whenever a batch is full, half when it was not. */
  readonly size?: number | 'auto';
  /** Encoded bytes in a batch; default 32 KiB. A single larger value travels alone. */
  readonly bytes?: number;
  /** How long a value may wait for others, in milliseconds; default 5. 0: until the end of the slice. Infinity: never by age. */
  readonly flushMs?: number;
  /** With size 'auto', how old a value may become in a batch, in milliseconds; default Infinity: `flushMs` alone bounds it. */
  readonly latencyMs?: number;
  /** Send what there is when the executor has nothing more to do, or the reader sleeps; default true. */
  readonly idle?: boolean;
}

/** `100`, `'auto'`, or the single parts. */
export type Batch = number | 'auto' | BatchOptions;

/** A batch shape with every part decided. */
export interface BatchRule {
  readonly size: number | 'auto';
  readonly bytes: number;
  readonly flushMs: number;
  readonly latencyMs: number;
  readonly idle: boolean;
}

export const defaultBatch: BatchRule & { readonly size: number } = {
  size: 100,
  bytes: 32 * 1024,
  flushMs: 5,
  latencyMs: Number.POSITIVE_INFINITY,
  idle: true,
};

const maxBytes = 1024 * 1024;
/** The longest time a timer holds; longer ones would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** Checks a batch given by the user; `where` names the option. */
export function checkBatch(batch: unknown, where: string): Batch {
  if (batch === 'auto') return batch;
  if (typeof batch === 'number') return checkSize(batch, where);
  if (!isOptions(batch)) {
    throw new MillraceError(
      'ERR_OPTION',
      `${where} must be a number of values, 'auto' or { size, bytes, flushMs, latencyMs, idle }, got ${show(batch)}`,
    );
  }
  const given = batch as Record<keyof BatchOptions, unknown>;
  checkKeys(given, Object.keys(defaultBatch), where);
  if (given.size !== undefined && given.size !== 'auto') checkSize(given.size, `${where}.size`, ", or 'auto'");
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
  if (given.latencyMs !== undefined) checkLatency(given.latencyMs, given.size, where);
  if (given.idle !== undefined && typeof given.idle !== 'boolean') {
    throw new MillraceError('ERR_OPTION', `${where}.idle must be true or false, got ${show(given.idle)}`);
  }
  return batch as BatchOptions;
}

/** The first shape says most; what it leaves open comes from the next one. */
export function resolveBatch(...shapes: readonly (Batch | undefined)[]): BatchRule {
  let rule: BatchRule = defaultBatch;
  for (const shape of [...shapes].reverse()) {
    if (shape === undefined) continue;
    rule = typeof shape === 'object' ? { ...rule, ...defined(shape) } : { ...rule, size: shape };
  }
  return rule;
}

function defined(shape: BatchOptions): BatchOptions {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
}

function checkSize(size: unknown, where: string, or = ''): number {
  if (isWhole(size, 1, 2 ** 31 - 1)) return size;
  const message = `${where} must be a whole number of values, at least 1${or}, got ${show(size)}`;
  throw new MillraceError('ERR_OPTION', message);
}

function checkLatency(latencyMs: unknown, size: unknown, where: string): void {
  if (!isTime(latencyMs) || latencyMs === 0) {
    const message = `${where}.latencyMs must be milliseconds above 0, up to ${maxTimerMs}, or Infinity, got ${show(latencyMs)}`;
    throw new MillraceError('ERR_OPTION', message);
  }
  if (size === 'auto') return;
  const message = `${where}.latencyMs goes with size: 'auto', which it bounds; with a size of your own, flushMs says how long a value may wait`;
  throw new MillraceError('ERR_OPTION', message);
}

function isWhole(value: unknown, from: number, to: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && (value === Number.POSITIVE_INFINITY || (value >= 0 && value <= maxTimerMs));
}
