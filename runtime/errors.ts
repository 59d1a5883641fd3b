/**
 * Every error millrace raises: one class, one registry of codes.
 * Owns the codes, and the sentences "when" and "cure" that the README table is generated from.
 * Never formats a user's values: callers say what was given.
 */

/** What went wrong, in a form that programs may compare. Codes are never renamed. */
export type ErrorCode =
  | 'ERR_OPTION'
  | 'ERR_NAME'
  | 'ERR_SCOPE'
  | 'ERR_FLOW_SUBSCRIBED'
  | 'ERR_FLOW_LOST'
  | 'ERR_ORDERED_FAN_IN'
  | 'ERR_ARGS'
  | 'ERR_START'
  | 'ERR_PLAN_MISMATCH'
  | 'ERR_LOADING'
  | 'ERR_OUTPUT_UNUSED'
  | 'ERR_OPERATOR'
  | 'ERR_SOURCE'
  | 'ERR_KEY'
  | 'ERR_KEY_LOST'
  | 'ERR_VALUE'
  | 'ERR_NOT_REPEATABLE'
  | 'ERR_OVERFLOW'
  | 'ERR_OUTPUT_BURST'
  | 'ERR_HELD'
  | 'ERR_STALLED'
  | 'ERR_THREAD_LOST'
  | 'ERR_FRAME'
  | 'ERR_CLOSED';

export interface Entry {
  /** When it is raised, as a clause. */
  readonly when: string;
  /** What the user does about it. */
  readonly cure: string;
}

/** The registry. `thrown` codes reach the caller synchronously, the others by the error channel. */
export const codes: Readonly<Record<ErrorCode, Entry>> = {
  ERR_OPTION: {
    when: 'an option is unknown, of the wrong type or out of range (thrown)',
    cure: 'the message names the option, what was given and the nearest known name',
  },
  ERR_NAME: {
    when: 'two exchanges, outputs or topologies share a name, or a name is not usable (thrown)',
    cure: 'give each its own `name`; names that start with @ belong to the system',
  },
  ERR_SCOPE: {
    when: 'a stream-scoped step would run on several executors, or a key-scoped one without `keyBy` (thrown)',
    cure: 'gather() first, set parallelism 1, use the ByKey form, or say perExecutor(…)',
  },
  ERR_FLOW_SUBSCRIBED: {
    when: 'a stream of `build` is subscribed while planning, or from another segment',
    cure: 'use union(), or keep both streams in one segment',
  },
  ERR_FLOW_LOST: {
    when: 'the plan cannot follow a stream: a cut or an output got a plain Observable (thrown)',
    cure: 'pass operators to .pipe() one by one, or use pipe() of millrace/operators',
  },
  ERR_ORDERED_FAN_IN: {
    when: 'zip, concat or another ordered fan-in spans segments; bounded channels would deadlock (thrown)',
    cure: 'use union(), or combine the streams in one segment',
  },
  ERR_ARGS: {
    when: '`args` cannot be cloned (thrown)',
    cure: 'pass data only; build functions and connections inside `build`',
  },
  ERR_START: {
    when: 'a thread could not load the module or build its executors in time',
    cure: 'see the cause; raise startTimeoutMs if the module loads slowly',
  },
  ERR_PLAN_MISMATCH: {
    when: 'a thread and the caller see different topologies in one module',
    cure: 'create topologies unconditionally at module level, or give them names',
  },
  ERR_LOADING: {
    when: 'a topology is subscribed while its module is loading on a thread',
    cure: "subscribe under `if (isMainThread)` of 'node:worker_threads'",
  },
  ERR_OUTPUT_UNUSED: {
    when: 'an output of a record was not subscribed within startTimeoutMs',
    cure: 'subscribe all of them, or name those you want in `outputs`',
  },
  ERR_OPERATOR: { when: 'a function given to an operator or exchange threw', cure: 'see the cause' },
  ERR_SOURCE: {
    when: 'a source failed: the input, a pull, or one of fromRequest() or fromPublisher(), which may also have given more than was asked for',
    cure: 'see the message and the cause',
  },
  ERR_KEY: {
    when: 'a key cannot be hashed, or the receiver computed another one (strict)',
    cure: 'use strings, numbers, bigints, booleans, dates, bytes, or arrays and plain objects of these',
  },
  ERR_KEY_LOST: {
    when: 'a key-scoped step met a value whose key is unknown',
    cure: 'put keyBy() directly before it, behind the asynchronous or opaque step',
  },
  ERR_VALUE: {
    when: 'a value cannot travel between executors, or is null where an edge has no null',
    cure: 'the message gives the path; send data, or give the exchange a `codec`',
  },
  ERR_NOT_REPEATABLE: {
    when: 'an input that cannot start again was subscribed a second time: of an executor (repeat, retry), or of a processor',
    cure: 'put repeat or retry before or after the topology; make a processor for each subscriber',
  },
  ERR_OVERFLOW: {
    when: 'a source that knows no demand emitted more than `capacity` values beyond what was taken',
    cure: 'give it demand (pull, fromRequest, fromPublisher), or say by `overflow` what shall become of its values',
  },
  ERR_OUTPUT_BURST: {
    when: 'a step that cannot be suspended emitted more than maxParkedBytes at once, or 65,536 values while none found room; or so many waited in perValue for an earlier value',
    cure: 'import mergeMap or concatMap from millrace/operators and return an iterable; for perValue, say `ordered: false`',
  },
  ERR_HELD: {
    when: 'a source holds the calling thread until there is room, and only this thread could make some',
    cure: 'pull(() => iterable) instead of from(iterable), or another `overflow`',
  },
  ERR_STALLED: {
    when: 'in virtual time, nothing can happen any more and the run has not ended, or it never comes to rest',
    cure: 'the message says who waits for whom, and names timers and promises that are not of virtual time',
  },
  ERR_THREAD_LOST: {
    when: 'a thread ended before its run',
    cure: 'see the cause: process.exit, out of memory, an uncaught error, or a run that shared the thread',
  },
  ERR_FRAME: {
    when: 'a frame is of an unknown version or kind, or damaged',
    cure: 'use one version of millrace on all threads',
  },
  ERR_CLOSED: {
    when: 'the runtime is closed, or the sink or socket that values go into ended before they did',
    cure: 'create a new runtime; connect again',
  },
};

/** Where an error arose; all parts are optional and public on the error. */
export interface Place {
  readonly topology?: string | undefined;
  readonly segment?: string | undefined;
  readonly executor?: number | undefined;
  readonly operator?: string | undefined;
  /** Source line of the `pipe` call, as `file:line:column`. */
  readonly at?: string | undefined;
}

/** Shared by all copies of the package. */
const mark = Symbol.for('millrace.error/1');

/**
 * The error of this library. `code` says what happened, `cause` holds the user's own error.
 * Recognised across copies of the package by `isMillraceError`.
 */
export class MillraceError extends Error {
  override readonly name: string = 'MillraceError';
  readonly code: ErrorCode;
  declare readonly topology?: string;
  declare readonly segment?: string;
  declare readonly executor?: number;
  declare readonly operator?: string;
  declare readonly at?: string;

  constructor(code: ErrorCode, message: string, options: Place & { readonly cause?: unknown } = {}) {
    const { cause, ...place } = options;
    super(`${code}: ${message}`, 'cause' in options ? { cause } : undefined);
    this.code = code;
    for (const [key, value] of Object.entries(place)) {
      if (value !== undefined) Object.defineProperty(this, key, { value, enumerable: true });
    }
    Object.defineProperty(this, 'name', { enumerable: false });
    Object.defineProperty(this, mark, { value: true });
  }
}

/** Whether `value` is an error of millrace, also one made by another copy of the package. */
export function isMillraceError(value: unknown): value is MillraceError {
  try {
    return typeof value === 'object' && value !== null && (value as { readonly [mark]?: unknown })[mark] === true;
  } catch {
    // A proxy that cannot be read.
    return false;
  }
}

/** Adds where an error arose, as far as it does not say so itself. */
export function located(error: MillraceError, place: Place): MillraceError {
  for (const [key, value] of Object.entries(place)) {
    if (value !== undefined && !(key in error)) Object.defineProperty(error, key, { value, enumerable: true });
  }
  return error;
}
