/**
 * A clock that a test moves by hand, for RxJS's timed operators.
 * Owns what is to come, in order. Never waits, never reads real time.
 */

import { MillraceError } from '../../runtime/errors.js';
import { show } from '../../runtime/option.js';
import { Agenda, type Task } from './agenda.js';
import { installTimeline, isInstalled, type Timeline } from './providers.js';
import { withoutFlush } from './queues.js';

/** Time that stands still until a test moves it. Milliseconds throughout. */
export interface TestClock {
  /** Since the clock was put in place: it starts at 0. */
  readonly nowMs: number;
  /**
   * Moves time on by `ms`, fractions included, and runs all that comes due meanwhile, also what is set meanwhile: in order of
   * time, then of setting, `asapScheduler` first, with `nowMs` at the time of each. `advance(0)` runs what is due now.
   *
   * What is thrown, as by a subscriber or for want of an error handler, does not keep the rest from running; the first is
   * thrown at the end. `ERR_OPTION`: `ms` is negative or not finite, the clock is no longer in place, or the call comes from
   * what `advance` runs. `ERR_STALLED`: time does not come on, for timers of 0 ms set each other without end.
   */
  advance(ms: number): void;
  /**
   * Gives RxJS its real time back; what is still to come will not run. Throws an error of which RxJS has not yet told,
   * because time did not move since.
   */
  [Symbol.dispose](): void;
}

/** Timers set by each other at one instant, after which time is taken to stand still for ever. */
const maxChain = 100_000;

/** What is in place. */
let current: Hand | undefined;

/**
 * Puts a clock in place, which all that RxJS times obeys until it is disposed of: `delay`, `debounceTime`, `bufferTime`,
 * `timeout`, `interval`, `timer`, `asyncScheduler`, `asapScheduler` and what they say of the time. Animation frames, promises,
 * `Date.now` and timers of Node are as ever; so is the time of topologies on threads. Delays above 2,147,483,647 ms, Infinity
 * among them, last 1 ms, as in Node. `ERR_OPTION` while another one is in place.
 *
 * ```ts
 * using clock = testClock();
 * const seen = captured(interval(1_000).pipe(take(2)));
 * clock.advance(1_999);
 * expect(seen.values).toEqual([0]);
 * ```
 *
 * Without `using`: `afterEach(() => clock[Symbol.dispose]())`.
 */
export function testClock(): TestClock {
  if (current !== undefined) {
    throw refused(
      'testClock(): another one is in place; write `using clock = testClock()`, or end it by clock[Symbol.dispose]()',
    );
  }
  current = new Hand();
  return current;
}

class Hand implements TestClock {
  readonly #agenda = new Agenda();
  readonly #timeline: Timeline;
  readonly #restore: () => void;
  #nowMs = 0;
  /** The task that runs now. */
  #running: Task | undefined;

  constructor() {
    this.#timeline = {
      nowMs: () => this.#nowMs,
      soon: (run) => this.#set(0, 'immediate', run),
      later: (ms, run, what) => this.#set(ms, what ?? 'timer', run),
    };
    this.#restore = installTimeline(this.#timeline);
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    if (!Number.isFinite(ms) || ms < 0) {
      throw refused(`advance() takes milliseconds from 0 on, got ${show(ms)}; time does not go back or to its end`);
    }
    if (current !== this) throw refused('advance(): this clock is no longer in place; make another by testClock()');
    if (this.#running !== undefined) {
      throw refused('advance() is called by what advance() runs; time moves on only when that has returned');
    }
    if (!isInstalled(this.#timeline)) {
      throw refused('advance(): TestScheduler.run() of RxJS has taken the place of this clock; use one of the two');
    }
    const untilMs = this.#nowMs + ms;
    const thrown = this.#run(() => this.#agenda.next(untilMs));
    this.#nowMs = untilMs;
    if (thrown !== undefined) throw thrown.reason;
  }

  [Symbol.dispose](): void {
    if (current !== this) return;
    const reports = this.#agenda.reports(this.#nowMs);
    const thrown = this.#run(() => reports.shift());
    this.#restore();
    current = undefined;
    if (thrown !== undefined) throw thrown.reason;
  }

  #set(ms: number, kind: Task['kind'], run: () => void): () => void {
    const running = ms === 0 ? this.#running : undefined;
    const task: Task = { atMs: this.#nowMs + ms, kind, run, chain: (running?.chain ?? 0) + 1, cancelled: false };
    this.#agenda.add(task);
    return () => {
      task.cancelled = true;
    };
  }

  /** Runs tasks until there are no more, also in the middle of RxJS's own work; what was thrown first. */
  #run(next: () => Task | undefined): Thrown | undefined {
    let thrown: Thrown | undefined;
    try {
      withoutFlush(() => {
        for (let task = next(); task !== undefined; task = next()) {
          this.#running = task;
          this.#nowMs = task.atMs;
          if (task.chain > maxChain) throw stalled(task.atMs, thrown);
          try {
            task.run();
          } catch (reason) {
            thrown ??= { reason };
          }
        }
      });
    } finally {
      this.#running = undefined;
    }
    return thrown;
  }
}

interface Thrown {
  readonly reason: unknown;
}

function refused(message: string): MillraceError {
  return new MillraceError('ERR_OPTION', message);
}

function stalled(atMs: number, thrown: Thrown | undefined): MillraceError {
  return new MillraceError(
    'ERR_STALLED',
    `advance(): time does not come on from ${atMs} ms, where ${maxChain.toLocaleString('en')} timers of 0 ms have set each other; give the delay of interval, repeat or retry at least 1 ms`,
    thrown === undefined ? {} : { cause: thrown.reason },
  );
}
