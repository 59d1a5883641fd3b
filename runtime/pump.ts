/**
 * The executors of one thread, stepped in turn, and the thread's sleep.
 * Owns the one timer of the thread and the sleeping protocol (channel.ts): fall asleep, look once more, only then return.
 * Never blocks: after about a millisecond it yields, so that the user's timers and promises have their turn.
 */

import type { Sleeper } from './channel.js';
import type { Clock } from './clock.js';
import type { Patience } from './patience.js';

/** What a pump drives. */
export interface Stepped {
  step(untilMs: number): boolean;
  flushIdle(): boolean;
  /** The thread falls asleep. */
  rest(epochMs: number): void;
  readonly deadlineMs: number;
}

const sliceMs = 1;
/** Looks before falling asleep: a few microseconds, in which a busy producer often sends the next frame. */
const extraLooks = 20;

export class Pump {
  readonly #clock: Clock;
  readonly #sleeper: Sleeper;
  readonly #patience: Patience;
  /** Whether looking again pays: only with a core to spare for each thread. */
  readonly #lookAgain: () => boolean;
  /** Whether nothing may be done for now; whoever says so wakes the pump. */
  readonly #held: () => boolean;
  #executors: readonly Stepped[] = [];
  #running = false;
  #scheduled = false;
  #turnMs = 0;
  #timerMs = Number.POSITIVE_INFINITY;
  #cancelTimer: () => void = () => {};

  constructor(
    clock: Clock,
    sleeper: Sleeper,
    patience: Patience,
    lookAgain: () => boolean,
    held: () => boolean = () => false,
  ) {
    this.#clock = clock;
    this.#sleeper = sleeper;
    this.#patience = patience;
    this.#lookAgain = lookAgain;
    this.#held = held;
  }

  add(executor: Stepped): void {
    this.#executors = [...this.#executors, executor];
    this.wake();
  }

  remove(executor: Stepped): void {
    this.#executors = this.#executors.filter((other) => other !== executor);
    if (this.#executors.length === 0) this.#setTimer(Number.POSITIVE_INFINITY);
  }

  /** There is something to do; it is done after the current macrotask. False if that was known. */
  wake(): boolean {
    if (this.#scheduled) return false;
    this.#scheduled = true;
    this.#clock.soon(this.#soon);
    return true;
  }

  /** An asynchronous source has a value: it is taken at once, unless the turn has lasted its slice. */
  nudge(executor: Stepped): void {
    const nowMs = this.#clock.nowMs();
    if (!this.#running && nowMs - this.#turnMs < sliceMs) executor.step(this.#turnMs + sliceMs);
    this.wake();
  }

  /** The doorbell was heard, or the timer fired. */
  run(): void {
    if (this.#running) return;
    this.#sleeper.wakeUp();
    this.#sleeper.beat();
    // A thread that is held counts as awake: it looks again by itself.
    if (this.#held()) return;
    this.#running = true;
    this.#patience.hold();
    this.#turnMs = this.#clock.nowMs();
    try {
      if (this.#work(this.#turnMs + sliceMs)) this.#sleep();
      else this.wake();
    } finally {
      this.#running = false;
      this.#patience.release();
    }
  }

  /** For a thread that may not return to its event loop: its executors work. Says whether they did anything. */
  work(): boolean {
    this.#sleeper.wakeUp();
    this.#sleeper.beat();
    const untilMs = this.#clock.nowMs() + sliceMs;
    if (this.#stepAll(untilMs)) return true;
    let flushed = false;
    for (const executor of this.#executors) flushed = executor.flushIdle() || flushed;
    return flushed;
  }

  /** A batch waits for its age. */
  get ages(): boolean {
    return this.#executors.some(({ deadlineMs }) => deadlineMs < Number.POSITIVE_INFINITY);
  }

  /** For the same: stands still until the bell rings. `stop` does so, `ms` at most. */
  standStill(ms: number, stop: (ms: number) => void = (most) => this.#sleeper.stop(most)): void {
    this.#sleeper.fallStill();
    // Order: the last look comes after the flag is set (channel.ts, S1 before S2).
    if (!this.#stepAll(0)) stop(ms);
    this.#sleeper.wakeUp();
  }

  /** The thread is held, or is so no longer. */
  hold(on: boolean): void {
    this.#sleeper.hold(on);
  }

  readonly #soon = (): void => {
    this.#scheduled = false;
    this.run();
  };

  /** True when there is nothing more to do, false when the slice is over. */
  #work(untilMs: number): boolean {
    for (let idle = 0; ; ) {
      if (this.#stepAll(untilMs)) {
        idle = 0;
        if (this.#clock.nowMs() >= untilMs) return false;
      } else if (idle > 0 && (idle >= extraLooks || !this.#lookAgain())) {
        return true;
      } else {
        // Nothing more to do: what waits for company leaves now.
        if (idle === 0) for (const executor of this.#executors) executor.flushIdle();
        idle++;
      }
    }
  }

  #stepAll(untilMs: number): boolean {
    let progress = false;
    for (const executor of this.#executors) progress = executor.step(untilMs) || progress;
    return progress;
  }

  #sleep(): void {
    this.#sleeper.fallAsleep();
    // Order: the last look comes after the flag is set (channel.ts, S1 before S2).
    if (this.#stepAll(0)) {
      this.#sleeper.wakeUp();
      this.wake();
      return;
    }
    const epochMs = this.#clock.epochMs();
    for (const executor of this.#executors) executor.rest(epochMs);
    let deadlineMs = Number.POSITIVE_INFINITY;
    for (const executor of this.#executors) deadlineMs = Math.min(deadlineMs, executor.deadlineMs);
    this.#setTimer(deadlineMs);
  }

  #setTimer(deadlineMs: number): void {
    if (deadlineMs === this.#timerMs) return;
    this.#cancelTimer();
    this.#timerMs = deadlineMs;
    if (deadlineMs === Number.POSITIVE_INFINITY) {
      this.#cancelTimer = () => {};
      return;
    }
    // A timer may fire a little early by this clock; the next one is due at once then.
    const ms = Math.max(0, Math.ceil(deadlineMs - this.#clock.nowMs()));
    this.#cancelTimer = this.#clock.later(ms, () => {
      this.#timerMs = Number.POSITIVE_INFINITY;
      this.run();
    });
  }
}
