/**
 * RxJS's time, given to a timeline: its providers of dates, timers and immediates.
 * Owns what was there before, and puts it back. Reaches neither animation frames nor the user's own timers (foreign.ts).
 */

import { dateTimestampProvider } from 'rxjs/internal/scheduler/dateTimestampProvider';
import { immediateProvider } from 'rxjs/internal/scheduler/immediateProvider';
import { intervalProvider } from 'rxjs/internal/scheduler/intervalProvider';
import { performanceTimestampProvider } from 'rxjs/internal/scheduler/performanceTimestampProvider';
import { timeoutProvider } from 'rxjs/internal/scheduler/timeoutProvider';
import type { TimerHandle } from 'rxjs/internal/scheduler/timerHandle';
import { type AsapWork, guardAsap, putAsap, takeAsap, tidied, withoutFlush } from './queues.js';

/** Time as one thread has it. Milliseconds throughout; what `soon` and `later` return cancels the task. */
export interface Timeline {
  nowMs(): number;
  /** Before anything else of this thread. */
  soon(task: () => void): () => void;
  /**
   * After `ms`, never negative; of equal times in the order of setting. A 'report' is how RxJS tells an error that no
   * subscriber handles: the task throws it.
   */
  later(ms: number, task: () => void, what?: 'report'): () => void;
}

interface Delegates {
  readonly date: typeof dateTimestampProvider.delegate;
  readonly performance: typeof performanceTimestampProvider.delegate;
  readonly timeout: typeof timeoutProvider.delegate;
  readonly interval: typeof intervalProvider.delegate;
  readonly immediate: typeof immediateProvider.delegate;
}

const none: Delegates = {
  date: undefined,
  performance: undefined,
  timeout: undefined,
  interval: undefined,
  immediate: undefined,
};
/** What is behind the timeline in place. */
let behind: Delegates = none;
const delegatesOf = new WeakMap<Timeline, Delegates>();
/** The asap work of timelines that are not in place. */
const asapOf = new WeakMap<Timeline, AsapWork>();

/** Gives RxJS's time to `timeline` until the function it returns is called. */
export function installTimeline(timeline: Timeline): () => void {
  let leave: (() => void) | undefined;
  // Microtasks come while the timeline is in place; asap work that was set before it flushes in the world it was set in.
  const flushOutside = (flush: () => void): void => {
    const wasIn = leave !== undefined;
    leave?.();
    try {
      flush();
    } finally {
      if (wasIn) leave = enter(timeline);
    }
  };
  guardAsap(flushOutside);
  leave = enter(timeline);
  return () => {
    if (leave === undefined) return;
    leave();
    leave = undefined;
  };
}

/**
 * Runs `work` in the time of `timeline` and puts back what was there before, also when it throws. May be called where RxJS is
 * in the middle of its own work: nothing of that is run or lost. Where the timeline is in place already, it just runs `work`.
 */
export function withTimeline<T>(timeline: Timeline, work: () => T): T {
  if (isInstalled(timeline)) return work();
  const leave = enter(timeline);
  try {
    return withoutFlush(work);
  } finally {
    leave();
  }
}

/** Whether RxJS has its time from `timeline` now; TestScheduler.run() takes it away without a word. */
export function isInstalled(timeline: Timeline): boolean {
  const own = delegatesOf.get(timeline);
  return own !== undefined && intervalProvider.delegate === own.interval;
}

function enter(timeline: Timeline): () => void {
  const before = behind;
  const outside = takeAsap();
  behind = {
    date: dateTimestampProvider.delegate,
    performance: performanceTimestampProvider.delegate,
    timeout: timeoutProvider.delegate,
    interval: intervalProvider.delegate,
    immediate: immediateProvider.delegate,
  };
  const replaced = behind;
  place(delegatesFor(timeline));
  putAsap(tidied(asapOf.get(timeline)));
  return () => {
    asapOf.set(timeline, takeAsap());
    place(replaced);
    putAsap(tidied(outside));
    behind = before;
  };
}

function place(delegates: Delegates): void {
  dateTimestampProvider.delegate = delegates.date;
  performanceTimestampProvider.delegate = delegates.performance;
  timeoutProvider.delegate = delegates.timeout;
  intervalProvider.delegate = delegates.interval;
  immediateProvider.delegate = delegates.immediate;
}

/** One set per timeline, by which it is known whether it is in place. */
function delegatesFor(timeline: Timeline): Delegates {
  const made = delegatesOf.get(timeline) ?? makeDelegates(timeline);
  delegatesOf.set(timeline, made);
  return made;
}

function makeDelegates(timeline: Timeline): Delegates {
  const now = { now: () => timeline.nowMs() };
  const timer = (handler: () => void, set: SetTimer, again?: 'again'): TimerHandle =>
    new Timer(timeline, handler, set, again) as unknown as TimerHandle;
  return {
    date: now,
    performance: now,
    timeout: {
      setTimeout: (handler: Handler, ms?: number, ...args: unknown[]) =>
        timer(
          () => handler(...args),
          (task) => timeline.later(delayOf(ms), task, 'report'),
        ),
      clearTimeout: (handle) => cancel(handle, behind.timeout?.clearTimeout ?? clearTimeout),
    },
    interval: {
      setInterval: (handler: Handler, ms?: number, ...args: unknown[]) =>
        timer(
          () => handler(...args),
          (task) => timeline.later(delayOf(ms), task),
          'again',
        ),
      clearInterval: (handle) => cancel(handle, behind.interval?.clearInterval ?? clearInterval),
    },
    immediate: {
      setImmediate: (handler: Handler, ...args: unknown[]) =>
        timer(
          () => handler(...args),
          (task) => timeline.soon(task),
        ),
      // Others are of asap work outside, of which more may wait for the same one.
      clearImmediate: (handle) => cancel(handle, () => {}),
    },
  };
}

type Handler = (...args: unknown[]) => void;
type SetTimer = (task: () => void) => () => void;

/** The longest time that a timer of Node holds; longer ones, Infinity too, go off after 1 ms there, and so they do here. */
const maxTimerMs = 2 ** 31 - 1;

function delayOf(ms: number | undefined): number {
  const delayMs = Number(ms ?? 0);
  // Written so that NaN is 0.
  if (!(delayMs > 0)) return 0;
  return delayMs > maxTimerMs ? 1 : delayMs;
}

/** What RxJS holds of a timer. It is no number, so that no real timer is ever taken for it. */
class Timer {
  readonly #timeline: Timeline;
  readonly #handler: () => void;
  readonly #set: SetTimer;
  readonly #again: boolean;
  #unset: () => void;
  #cleared = false;

  constructor(timeline: Timeline, handler: () => void, set: SetTimer, again?: 'again') {
    this.#timeline = timeline;
    this.#handler = handler;
    this.#set = set;
    this.#again = again !== undefined;
    this.#unset = set(() => this.#run());
  }

  clear(): void {
    this.#cleared = true;
    this.#unset();
  }

  #run(): void {
    withTimeline(this.#timeline, () => {
      try {
        // Putting the timeline in place may have cleared this very timer.
        if (!this.#cleared) this.#handler();
      } finally {
        // As in Node, after the call: a timer that it sets for the same time comes first.
        if (this.#again && !this.#cleared) this.#unset = this.#set(() => this.#run());
      }
    });
  }
}

/** Timers that were set in another time than this one are cleared there. */
function cancel(handle: unknown, real: (handle: TimerHandle) => void): void {
  if (handle instanceof Timer) handle.clear();
  else real(handle as TimerHandle);
}
