/**
 * The options of a run: types, checks at the door, defaults.
 * Owns the table of defaults. Everything behind trusts what comes out of here.
 */

import { isObservable } from 'rxjs';
import { type Batch, checkBatch } from '../runtime/batch.js';
import { MillraceError } from '../runtime/errors.js';
import { checkKeys, isOptions, nearest, show } from '../runtime/option.js';
import { checkOverflow, type Overflow, type OverflowOptions, type OverflowRule } from '../runtime/overflow.js';
import { checkArgs } from './args.js';
import type { Run } from './run.js';
import { isRuntime, type Runtime } from './runtime.js';

export interface RunOptions<Out = unknown> {
  /** Where the threads come from; default: one runtime shared by all, made when first needed. */
  readonly runtime?: Runtime;
  /** At most so many threads for this run; 0 runs its executors on the calling thread. Default: as many as it has executors. */
  readonly threads?: number;
  /** Batches by the names of exchanges and outputs; `default` for all others. They beat the exchange's own. */
  readonly batches?: Readonly<Record<string, Batch>>;
  /** What becomes of values of an input that knows no demand while there is no room; default `auto`. */
  readonly overflow?: Overflow | OverflowOptions;
  /** Of a record, the outputs that are wanted; the others are discarded and counted. */
  readonly outputs?: Out extends { subscribe: unknown } ? never : readonly (keyof Out & string)[];
  /** Bytes an executor may hold back when a step that cannot be suspended emits without room; default 64 MiB. */
  readonly maxParkedBytes?: number;
  /**
   * After so long without any movement though there is work, the run is reported on the diagnostics channel `millrace:stall`; a
   * caller that is held errors. Default 10,000 ms.
   */
  readonly stallMs?: number;
  /** A thread that is so long in one value is ended, and counts as lost; default Infinity. */
  readonly hangMs?: number;
  /** Grace for a thread to come back when the run stops, then it is terminated; default 1,000 ms. */
  readonly stopMs?: number;
  /** For loading the module on a thread, and for all outputs to be subscribed; default 10,000 ms. */
  readonly startTimeoutMs?: number;
  /** Evaluate key selectors again at the receiver and compare; default false. */
  readonly strict?: boolean;
  /** Ends the run; its outputs error with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called inside subscribe(), before the first value. */
  readonly onRun?: (run: Run) => void;
}

export const runDefaults: Pick<
  CheckedOptions,
  'maxParkedBytes' | 'stallMs' | 'hangMs' | 'stopMs' | 'startTimeoutMs' | 'strict'
> = {
  maxParkedBytes: 64 * 1024 * 1024,
  stallMs: 10_000,
  hangMs: Number.POSITIVE_INFINITY,
  stopMs: 1_000,
  startTimeoutMs: 10_000,
  strict: false,
};

/** Checked options, with defaults. */
export interface CheckedOptions {
  readonly args: readonly unknown[];
  readonly runtime: Runtime | undefined;
  readonly threads: number | undefined;
  readonly batches: Readonly<Record<string, Batch>>;
  readonly overflow: OverflowRule;
  readonly outputs: readonly string[] | undefined;
  readonly maxParkedBytes: number;
  readonly stallMs: number;
  readonly hangMs: number;
  readonly stopMs: number;
  readonly startTimeoutMs: number;
  readonly strict: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onRun: ((run: Run) => void) | undefined;
}

const known = [
  'args',
  'runtime',
  'threads',
  'batches',
  'overflow',
  'outputs',
  'maxParkedBytes',
  'stallMs',
  'hangMs',
  'stopMs',
  'startTimeoutMs',
  'strict',
  'signal',
  'onRun',
] as const;

const maxTimerMs = 2 ** 31 - 1;

export function checkOptions(options: unknown = {}, topology: string): CheckedOptions {
  if (!isOptions(options)) {
    throw refused(`the options of ${topology} must be an object, got ${show(options)}`);
  }
  if (isObservable(options)) {
    throw refused(
      `${topology} got an Observable: it takes options and gives an operator, so .pipe(${topology}()) it is`,
    );
  }
  checkKeys(options, known, `topology ${JSON.stringify(topology)}`, '; what build shall get goes into args');
  const given = options as Partial<Record<(typeof known)[number], unknown>>;
  const { runtime, outputs, strict, signal, onRun } = given;
  check(runtime === undefined || isRuntime(runtime), 'runtime', 'what createRuntime() returned', runtime);
  check(strict === undefined || typeof strict === 'boolean', 'strict', 'true or false', strict);
  check(signal === undefined || signal instanceof AbortSignal, 'signal', 'an AbortSignal', signal);
  check(onRun === undefined || typeof onRun === 'function', 'onRun', 'a function', onRun);
  const names = Array.isArray(outputs) && outputs.every((name) => typeof name === 'string');
  check(outputs === undefined || names, 'outputs', 'a list of names', outputs);
  return {
    args: checkArgs(given.args, 'args' in given),
    runtime: runtime as Runtime | undefined,
    threads: whole(given.threads, 'threads', 0, 1024),
    batches: checkBatches(given.batches),
    overflow: checkOverflow(given.overflow),
    outputs: outputs as readonly string[] | undefined,
    maxParkedBytes:
      whole(given.maxParkedBytes, 'maxParkedBytes', 1, Number.MAX_SAFE_INTEGER) ?? runDefaults.maxParkedBytes,
    stallMs: whole(given.stallMs, 'stallMs', 1, maxTimerMs) ?? runDefaults.stallMs,
    hangMs: whole(given.hangMs, 'hangMs', 1, maxTimerMs) ?? runDefaults.hangMs,
    stopMs: whole(given.stopMs, 'stopMs', 1, maxTimerMs) ?? runDefaults.stopMs,
    startTimeoutMs: whole(given.startTimeoutMs, 'startTimeoutMs', 1, maxTimerMs) ?? runDefaults.startTimeoutMs,
    strict: (strict as boolean | undefined) ?? runDefaults.strict,
    signal: signal as AbortSignal | undefined,
    onRun: onRun as ((run: Run) => void) | undefined,
  };
}

/** Names that batches or outputs speak of must exist in the plan. */
export function checkNames(names: readonly string[], existing: readonly string[], where: string): void {
  for (const name of names) {
    if (existing.includes(name)) continue;
    const near = nearest(name, existing);
    const hint = near === undefined ? `there are ${existing.join(', ')}` : `did you mean ${near}?`;
    throw refused(`${where} names ${JSON.stringify(name)}, which this plan does not have: ${hint}`);
  }
}

function checkBatches(batches: unknown): Readonly<Record<string, Batch>> {
  if (batches === undefined) return {};
  check(
    typeof batches === 'object' && batches !== null && !Array.isArray(batches),
    'batches',
    'an object of batches by name',
    batches,
  );
  for (const [name, batch] of Object.entries(batches as object)) checkBatch(batch, `batches.${name}`);
  return batches as Readonly<Record<string, Batch>>;
}

/** Whole numbers; Infinity passes where a bound is meant to be open. */
function whole(value: unknown, name: string, from: number, to: number): number | undefined {
  if (value === undefined) return undefined;
  const right = typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;
  check(
    right || (value === Number.POSITIVE_INFINITY && (name === 'maxParkedBytes' || name === 'hangMs')),
    name,
    `a whole number from ${from} to ${to}`,
    value,
  );
  return value as number;
}

function check(right: boolean, name: string, expected: string, got: unknown): void {
  if (!right) throw refused(`${name} must be ${expected}, got ${show(got)}`);
}

function refused(message: string): MillraceError {
  return new MillraceError('ERR_OPTION', message);
}
