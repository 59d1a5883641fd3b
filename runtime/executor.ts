/**
 * An executor: input → program → outbox, stepped from outside in slices.
 * Owns the order of things in a slice and the way it ends: completed, failed, finished early or stopped.
 * Never waits, never knows its thread: without room, input or readiness it returns, and is stepped again when something changed.
 *
 *   running ──input ended──▶ completed: outlets end as the program says so
 *      ├──no step wants input──▶ (input finished; goes on emitting what is open)
 *      ├──error──▶ failed: what was emitted before is sent, then the fault
 *      └──stop──▶ stopped: nothing is emitted any more
 */

import { errorOf } from './blame.js';
import type { Context } from './context.js';
import { isMillraceError, type Place } from './errors.js';
import { type Fault, fromFault, toFault } from './fault.js';
import { type Input, none } from './input.js';
import type { ExecutorCounters } from './metrics.js';
import type { Outbox } from './outbox.js';
import type { Program, ProgramHost } from './program.js';
import { waitsOf } from './rest.js';
import { unheard } from './unheard.js';

export interface ExecutorOptions {
  /** Topology, segment and index, for errors. */
  readonly place: Place;
  readonly outbox: Outbox;
  readonly counters: ExecutorCounters;
  readonly nowMs: () => number;
  /** Asks to be stepped soon; false if that was asked before. */
  readonly wake: () => boolean;
  /** Errors of the producer are errors of the source this segment begins with: its steps see them. */
  readonly sourceErrors?: boolean;
  /** Takes faults instead of passing them on: the caller's end. */
  readonly onFault?: (fault: Fault) => void;
  /** Steps run in it: they call functions of the user. */
  readonly within?: Context | undefined;
  /** Hears of a fault that arose here, and whether it is on its way through the channels. */
  readonly onFailed?: (fault: Fault, travels: boolean) => void;
}

/** Looks at the clock once in so many outputs of a suspended step. */
const roomStride = 64;

export class Executor implements ProgramHost {
  readonly #options: ExecutorOptions;
  readonly #outbox: Outbox;
  #program: Program | undefined;
  #input: Input | undefined;
  #state: 'new' | 'running' | 'failed' | 'stopped' = 'new';
  #completed = false;
  #finished = false;
  #stride = 1;
  #untilMs = Number.POSITIVE_INFINITY;
  #asked = 0;
  #overtime = false;
  /** What was pushed waits for a step. */
  #pending = false;
  /** An outlet was closed since this was last looked at. */
  #closed = false;
  /** It is in a step: user code of a step may ask for another one, which the one under way makes superfluous. */
  #busy = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#outbox = options.outbox;
    this.#outbox.onClosed = (outlet) => {
      this.#closed = true;
      this.#guard(() => this.#program?.closeOutlet(outlet));
    };
  }

  /** Program and input are made for this executor, which is their host. */
  start(program: Program, input: Input): void {
    this.#program = program;
    this.#input = input;
    this.#state = 'running';
    this.#outbox.tick(this.#options.nowMs());
    this.#guard(() => program.start());
  }

  // ── what the program sees ──

  // A step that streams without end would never come back to a fast reader: the end of the slice counts as an end of room.
  get room(): boolean {
    if (++this.#asked % roomStride === 0) this.#overtime = this.#options.nowMs() >= this.#untilMs;
    return !this.#overtime && this.#outbox.room;
  }

  /** What is pushed is sent on at once, or thrown away. */
  get open(): boolean {
    return this.#state !== 'running' || this.#outbox.room;
  }

  get emit(): readonly ((value: unknown) => void)[] {
    return this.#outbox.emit;
  }

  wake(): void {
    this.#options.wake();
  }

  starved(): void {
    if (!this.#stopped) this.#outbox.starved();
  }

  // Order: whoever sees the end sees the counts of what came before it.
  end(outlet: number): void {
    this.#publish();
    this.#outbox.end(outlet);
    this.wake();
  }

  fail(reason: unknown, arose: 'source' | 'step', place: Place): void {
    if (this.#state !== 'running') return;
    const { topology, segment, executor } = this.#options.place;
    const fault = toFault(errorOf(reason, arose, { topology, segment, executor, ...place }));
    const travels = this.passOn(fault);
    this.#options.onFailed?.(fault, travels);
  }

  /** A fault that arose above: what was emitted before it is sent first; the first fault wins. */
  passOn(fault: Fault): boolean {
    if (this.#state !== 'running') return true;
    this.#state = 'failed';
    this.#stopProgram();
    this.#finish();
    this.#publish();
    const { onFault } = this.#options;
    if (onFault !== undefined) onFault(fault);
    const travels = onFault !== undefined || this.#outbox.fail(fault);
    this.wake();
    return travels;
  }

  /** A fault that came through a channel. The steps behind the input see the input's own error, as in RxJS. */
  receive(fault: Fault): void {
    const error = this.#options.sourceErrors === true ? fromFault(fault) : undefined;
    if (isMillraceError(error) && error.code === 'ERR_SOURCE') this.#guard(() => this.#program?.error(error.cause));
    else this.passOn(fault);
  }

  // ── what the pump sees ──

  /** Does what can be done until about `untilMs`. Says whether anything was done. */
  step(untilMs: number): boolean {
    if (this.#busy) return false;
    this.#busy = true;
    const { within } = this.#options;
    try {
      return within === undefined ? this.#step(untilMs) : within(() => this.#step(untilMs));
    } finally {
      this.#busy = false;
    }
  }

  #step(untilMs: number): boolean {
    // A late wake-up of a source: its channels may belong to another run by now.
    if (this.#stopped) return false;
    const outbox = this.#outbox;
    this.#untilMs = untilMs;
    this.#overtime = false;
    this.#pending = false;
    const nowMs = this.#options.nowMs();
    outbox.tick(nowMs);
    let progress = outbox.pump();
    progress = outbox.closeFinished() || progress;
    if (this.#state === 'running') progress = this.#work(nowMs, untilMs) || progress;
    if (this.#stopped) return true;
    if (this.#finished) this.#discard();
    outbox.flushDue();
    outbox.flushAsleep();
    this.#publish();
    return progress;
  }

  /** Nothing more to do on this thread: what waits for company leaves now. */
  flushIdle(): boolean {
    return !this.#stopped && this.#outbox.flushIdle();
  }

  /** Sends what waits, because somebody asked. */
  flush(): void {
    if (this.#stopped) return;
    this.#outbox.flush('explicit');
    this.#publish();
  }

  get deadlineMs(): number {
    return this.#outbox.deadlineMs;
  }

  /** In a step: what it waits for is user code under way. */
  get busy(): boolean {
    return this.#busy;
  }

  /** The thread falls asleep: what this executor waits for is written down, for whoever asks. */
  rest(epochMs: number): void {
    const program = this.#program as Program;
    const over = this.#state !== 'running' || (this.#finished && !program.suspended);
    this.#options.counters.rest(waitsOf(this.#outbox, program, over, this.#completed), program.restless, epochMs);
  }

  /** Ends the source, if this executor reads one; what is under way goes on. */
  drain(): void {
    if (this.#state !== 'running') return;
    this.#input?.drain();
    this.wake();
  }

  /** Nothing is emitted or taken any more. */
  stop(): void {
    if (this.#stopped) return;
    this.#state = 'stopped';
    this.#outbox.stop();
    this.#stopProgram();
    this.#finish();
    this.#publish();
  }

  /** A value from a source that knows no demand: it enters now, and waits behind the segment for room. */
  push(value: unknown): void {
    if (this.#state !== 'running') return;
    const outbox = this.#outbox;
    // The first value of a burst is sent to a sleeping reader; what follows while it is awake travels together.
    const first = !this.#pending;
    outbox.tick(this.#options.nowMs());
    this.#options.counters.in++;
    this.#guard(() => this.#program?.next(value));
    // A source that emits without a pause is left here: it lets no step come to it.
    if (this.#closed) {
      this.#closed = false;
      if (this.#program?.finished === true) this.#finish();
    }
    if (!first) return;
    outbox.flushAsleep();
    // A value that has left needs no step: at a low rate the step would cost more than the value.
    this.#pending = outbox.pending;
    if (this.#pending) this.#options.wake();
    else this.#publish();
  }

  /** The source that pushed has failed. */
  sourceFailed(reason: unknown): void {
    if (this.#state === 'running') this.#guard(() => this.#program?.error(reason));
  }

  #work(fromMs: number, untilMs: number): boolean {
    const program = this.#program as Program;
    const input = this.#input as Input;
    let progress = false;
    if (program.suspended) {
      const { emitted } = this.#outbox;
      this.#guard(() => program.resume());
      progress = emitted !== this.#outbox.emitted || !program.suspended;
    }
    if (!this.#completed) progress = this.#take(program, input, fromMs, untilMs) || progress;
    if (this.#state !== 'running') return true;
    if (input.ended && !this.#completed && !this.#finished && program.subscribed && !program.suspended) {
      this.#completed = true;
      progress = true;
      this.#guard(() => program.complete());
    }
    // Order: not while an end is suspended. Those who have not heard of it yet want nothing more, and still have to hear.
    if (!this.#finished && !this.#completed && !program.suspended && program.finished) {
      progress = true;
      this.#finish();
    }
    return progress || this.#overtime;
  }

  /** Hands input to the program until the slice is over; a slow value is followed by a look at the clock at once. */
  #take(program: Program, input: Input, fromMs: number, untilMs: number): boolean {
    const { counters, nowMs } = this.#options;
    const outbox = this.#outbox;
    const before = counters.in;
    let stride = this.#stride;
    let left = stride;
    let checkedMs = fromMs;
    try {
      while (this.#state === 'running' && outbox.room && program.ready) {
        const value = input.take();
        if (value === none) break;
        counters.in++;
        program.next(value);
        if (--left > 0) continue;
        const now = nowMs();
        outbox.tick(now);
        stride = now - checkedMs > 0.2 ? 1 : Math.min(64, stride * 2);
        left = stride;
        checkedMs = now;
        if (now >= untilMs) break;
      }
    } catch (reason) {
      this.#takeFailed(program, reason);
    }
    this.#stride = this.#overtime ? 1 : stride;
    return counters.in > before;
  }

  // What a program throws is a fault of ours or a broken frame; what a source throws is for the steps to see.
  #takeFailed(program: Program, reason: unknown): void {
    if (isMillraceError(reason) && reason.topology === undefined) this.fail(reason, 'step', {});
    else this.#guard(() => program.error(reason));
  }

  /** Not narrowed by what was known before user code ran. */
  get #stopped(): boolean {
    return this.#state === 'stopped';
  }

  #stopProgram(): void {
    try {
      this.#program?.stop();
    } catch (reason) {
      // The run is over or has its error, and what else is to be let go of must be.
      unheard('a step', reason);
    }
  }

  #finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#input?.finish();
    this.#discard();
  }

  #discard(): void {
    try {
      this.#options.counters.discarded += this.#input?.discard() ?? 0;
    } catch {
      // A damaged frame among those nobody wants.
    }
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (reason) {
      this.fail(reason, 'step', {});
    }
  }

  #publish(): void {
    const { counters } = this.#options;
    counters.out = this.#outbox.emitted;
    counters.parkedBytes = this.#outbox.parkedBytes;
    counters.publish();
  }
}
