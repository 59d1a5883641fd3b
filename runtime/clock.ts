/**
 * The only place that reads time and sets timers.
 * Owns nothing: state machines get times as arguments, hosts get a Clock.
 */

/** What a host offers of time. Milliseconds throughout. */
export interface Clock {
  /** Monotonic. */
  nowMs(): number;
  /** Since 1970, for people. */
  epochMs(): number;
  /** Runs `task` after the current macrotask, so that timers and promises of the user have their turn. */
  soon(task: () => void): void;
  /** Runs `task` after `ms`; returns what cancels it. `idle` timers do not keep the process alive. */
  later(ms: number, task: () => void, idle?: 'idle'): () => void;
  /** For timers that judge another thread: what it has said meanwhile is read first, for this thread may have been the busy one. */
  afterMessages(task: () => void): void;
}

/** The real clock of this thread. */
export const clock: Clock = {
  nowMs: () => performance.now(),
  epochMs: () => Date.now(),
  soon(task) {
    setImmediate(task);
  },
  later(ms, task, idle) {
    const timer = setTimeout(task, ms);
    if (idle !== undefined) timer.unref();
    return () => clearTimeout(timer);
  },
  afterMessages(task) {
    setImmediate(() => setImmediate(task));
  },
};
