/**
 * What a cut records: its kind and its checked options.
 * Owns the options of an exchange and how a cut behaves on a plain Observable.
 * Never routes: `runtime/router.ts` does.
 */

import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { type Batch, checkBatch } from '../runtime/batch.js';
import { type Codec, checkCodec } from '../runtime/codec.js';
import { MillraceError } from '../runtime/errors.js';
import { checkKeys, isOptions, show } from '../runtime/option.js';
import type { ExchangeKind } from '../runtime/plan.js';
import { Flow, flowLost, nodeNow } from './flow.js';
import { type CutNode, recordingNow } from './recording.js';

export type CutKind = Exclude<ExchangeKind, 'input' | 'output'>;

export interface ExchangeOptions<T = unknown> {
  /** Executors of the segment it opens; default 1, never taken from the machine. */
  readonly parallelism?: number;
  /** When a batch leaves; default 100 values, 32 KiB, 5 ms, or nothing more to do. */
  readonly batch?: Batch;
  /** Name of the exchange and of the segment it opens; default `shuffle-1`, `keyBy-2` in order of recording. */
  readonly name?: string;
  /** How values are carried; default 'auto'. */
  readonly codec?: Codec<T>;
}

export interface CutOptions extends ExchangeOptions {
  readonly local?: boolean;
}

const common = ['parallelism', 'batch', 'name', 'codec'] as const;
export const maxParallelism = 1024;

/** Checks the options of a cut once; `known` are those it takes beside the common ones. */
export function checkCut(kind: CutKind, options: unknown, known: readonly string[] = []): CutOptions {
  if (options === undefined) return {};
  if (!isOptions(options)) {
    throw new MillraceError('ERR_OPTION', `the options of ${kind}() must be an object, got ${show(options)}`);
  }
  const names = kind === 'gather' ? common.filter((name) => name !== 'parallelism') : common;
  checkKeys(options, [...names, ...known], `${kind}()`);
  const { parallelism, batch, name, codec, local } = options as CutOptions;
  const whole = typeof parallelism === 'number' && Number.isInteger(parallelism);
  if (parallelism !== undefined && !(whole && parallelism >= 1 && parallelism <= maxParallelism)) {
    const got = show(parallelism);
    throw new MillraceError(
      'ERR_OPTION',
      `parallelism of ${kind}() must be a whole number from 1 to ${maxParallelism}, got ${got}`,
    );
  }
  if (batch !== undefined) checkBatch(batch, `batch of ${kind}()`);
  if (codec !== undefined) checkCodec(codec, `codec of ${kind}()`);
  if (local !== undefined && typeof local !== 'boolean') {
    throw new MillraceError('ERR_OPTION', `local of ${kind}() must be true or false, got ${show(local)}`);
  }
  if (name !== undefined) checkStreamName(name, `name of ${kind}()`);
  return options as CutOptions;
}

export function checkName(name: unknown, where: string): void {
  if (typeof name !== 'string' || name === '')
    throw new MillraceError('ERR_NAME', `${where} must be a text that is not empty, got ${show(name)}`);
  if (name.startsWith('@'))
    throw new MillraceError(
      'ERR_NAME',
      `${where}: ${show(name)} starts with @, which is for the system. Choose another`,
    );
}

/** What `batches` and plans say of no exchange or output in particular. */
const reserved: ReadonlyMap<unknown, string> = new Map([
  ['default', 'means all streams without a batch of their own'],
  ['caller', 'is the thread that subscribes'],
]);

/** Exchanges, the segments they open and outputs share one name space. */
export function checkStreamName(name: unknown, where: string): void {
  checkName(name, where);
  const meaning = reserved.get(name);
  if (meaning !== undefined) throw new MillraceError('ERR_NAME', `${where}: ${show(name)} ${meaning}. Choose another`);
}

export function checkFunction(fn: unknown, what: string): void {
  if (typeof fn !== 'function') throw new MillraceError('ERR_OPTION', `${what} must be a function, got ${show(fn)}`);
}

/** The operator of a cut: recorded while planning, `inline` on a plain Observable outside. */
export function cut<T>(
  kind: CutKind,
  options: CutOptions,
  fn?: (value: never, executors: number) => unknown,
  inline: MonoTypeOperatorFunction<T> = passOn,
): MonoTypeOperatorFunction<T> {
  return (source) => {
    const node = nodeNow(source);
    if (node !== undefined) {
      return new Flow<T>(
        node.recording.add<CutNode>({ kind: 'cut', cut: kind, parents: [node], options, fn: fn as never }),
      );
    }
    const recording = recordingNow();
    if (recording !== undefined) throw flowLost(recording, `${kind}()`, source);
    return inline(source);
  };
}

/** Inline, a cut is transparent. */
function passOn<T>(source: Observable<T>): Observable<T> {
  return new Observable((subscriber) => source.subscribe(subscriber));
}
