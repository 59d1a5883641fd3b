/**
 * Runtimes as the app sees them: a pool of threads and the runs that are alive on it.
 * Owns the lazy shared runtime. Never keeps the process alive.
 */

import { availableParallelism } from 'node:os';
import { isMainThread, workerData } from 'node:worker_threads';
import { MillraceError } from '../runtime/errors.js';
import type { Host } from '../runtime/host.js';
import { checkKeys, show } from '../runtime/option.js';
import { Pool, type WorkerOptions } from '../runtime/pool.js';
import type { Run } from './run.js';

export type { WorkerOptions } from '../runtime/pool.js';

export interface RuntimeOptions {
  /** Threads of the pool, started when first needed; default: `availableParallelism()`. */
  readonly threads?: number;
  /** Passed to every thread: memory limits, environment, flags. */
  readonly workerOptions?: WorkerOptions;
  /** The file threads start from; default: `millrace/worker`. For bundlers. */
  readonly entry?: URL;
}

/** A pool of warm threads. Idle threads never keep the process alive. */
export interface Runtime extends AsyncDisposable {
  readonly threads: number;
  /** The runs that are alive. */
  readonly runs: readonly Run[];
  /** Ends all runs with `ERR_CLOSED` and all threads; resolves when they are gone. */
  close(): Promise<void>;
}

const runtimes = new WeakMap<Runtime, RuntimeState>();

/** What the library knows of a runtime. */
export interface RuntimeState {
  readonly host: Host;
  readonly runs: Map<Run, (reason: MillraceError) => void>;
}

/**
 * Makes a runtime of its own: its own threads, memory limits, environment.
 *
 * ```ts
 * await using runtime = createRuntime({ threads: 4, workerOptions: { resourceLimits: { maxOldGenerationSizeMb: 512 } } });
 * lines$.pipe(wordCount({ runtime })).subscribe(show);
 * ```
 */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  checkObject(options, 'the options of createRuntime()');
  checkKeys(options, ['threads', 'workerOptions', 'entry'], 'createRuntime()');
  const { threads = availableParallelism(), workerOptions = {}, entry = defaultEntry() } = options;
  if (!(Number.isInteger(threads) && threads >= 1 && threads <= 1024)) {
    throw new MillraceError(
      'ERR_OPTION',
      `threads of createRuntime() must be a whole number from 1 to 1024, got ${show(threads)}`,
    );
  }
  if (!(entry instanceof URL))
    throw new MillraceError(
      'ERR_OPTION',
      `entry of createRuntime() must be a URL, such as new URL('./worker.js', import.meta.url), got ${show(entry)}`,
    );
  checkWorkerOptions(workerOptions);
  const pool = new Pool(threads, entry, workerOptions);
  return runtimeOn(() => pool);
}

/** A runtime whose runs stand on the host there is when they begin. */
export function runtimeOn(hostNow: () => Host): Runtime {
  const state: RuntimeState = {
    get host() {
      return hostNow();
    },
    runs: new Map(),
  };
  const close = async (): Promise<void> => {
    const closed = state.host.close();
    for (const end of [...state.runs.values()]) end(new MillraceError('ERR_CLOSED', 'the runtime was closed'));
    await closed;
  };
  const runtime: Runtime = {
    threads: state.host.size,
    get runs() {
      return [...state.runs.keys()];
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  runtimes.set(runtime, state);
  return runtime;
}

const limits = ['maxYoungGenerationSizeMb', 'maxOldGenerationSizeMb', 'codeRangeSizeMb', 'stackSizeMb'] as const;

function checkWorkerOptions(options: WorkerOptions): void {
  const where = 'workerOptions of createRuntime()';
  checkObject(options, where);
  checkKeys(options, ['resourceLimits', 'env', 'execArgv'], where);
  const { resourceLimits = {}, env = {}, execArgv = [] } = options;
  checkObject(resourceLimits, `resourceLimits of ${where}`);
  checkKeys(resourceLimits, limits, `resourceLimits of ${where}`);
  for (const name of limits) {
    const limit: unknown = resourceLimits[name];
    if (limit === undefined || (typeof limit === 'number' && limit > 0)) continue;
    throw new MillraceError('ERR_OPTION', `${name} of ${where} must be a number of MiB above 0, got ${show(limit)}`);
  }
  checkObject(env, `env of ${where}`);
  if (!(Array.isArray(execArgv) && execArgv.every((flag) => typeof flag === 'string')))
    throw new MillraceError('ERR_OPTION', `execArgv of ${where} must be a list of flags, got ${show(execArgv)}`);
}

function checkObject(value: unknown, what: string): void {
  if (typeof value !== 'object' || value === null) {
    throw new MillraceError('ERR_OPTION', `${what} must be an object, got ${show(value)}`);
  }
}

export function isRuntime(value: unknown): value is Runtime {
  return typeof value === 'object' && value !== null && runtimes.has(value as Runtime);
}

let shared: RuntimeState | undefined;

/** The state of a runtime, or of the shared one. */
export function stateOf(runtime: Runtime | undefined): RuntimeState {
  if (runtime !== undefined) return runtimes.get(runtime) as RuntimeState;
  shared ??= { host: new Pool(availableParallelism(), defaultEntry(), {}), runs: new Map() };
  return shared;
}

/** The entry beside this file in the built package. */
function defaultEntry(): URL {
  const { url } = import.meta as { readonly url?: string };
  if (url !== undefined) return new URL('./worker.js', url);
  const message =
    'in a bundle of CommonJS, make millrace/worker an entry of its own, and pass its file: createRuntime({ entry: pathToFileURL(…) })';
  throw new MillraceError('ERR_OPTION', message);
}

/** Only threads we started count: a test runner's own worker is an ordinary caller. */
export function isMillraceThread(): boolean {
  return !isMainThread && typeof workerData === 'object' && workerData !== null && 'millrace' in workerData;
}
