/**
 * An executor: input → program → outbox, stepped from outside in slices.
 * Owns the order of things in a slice and the way it ends: completed, failed, finished early or stopped.
 * Never waits, never knows its thread: without room, input or readiness it returns, and is stepped again when something changed.
 *
 *   running ──input ended──▶ completing ──outlets ended──▶ done
 *      ├──no step wants input──▶ (input finished; goes on emitting what is open)
 *      ├──error──▶ failed: what was emitted before is sent, then the fault
 *      └──stop──▶ stopped: nothing is emitted any more
 */

import { type ErrorCode, isMillraceError, located, MillraceError, type Place } from './errors.js';
import { type Fault, fromFault, toFault } from './fault.js';
import { type Input, none } from './input.js';
import type { ExecutorCounters } from './metrics.js';
import type { Outbox } from './outbox.js';
import type { Program, ProgramHost } from './program.js';

export interface ExecutorOptions {
  /** Topology, segment and index, for errors. */
  readonly place: Place;
  readonly outbox: Outbox;
  readonly counters: ExecutorCounters;
  readonly nowMs: () => number;
  /** Asks to be stepped soon. */
  readonly wake: () => void;
  /** Errors of the producer are errors of the source this segment begins with: its steps see them. */
  readonly sourceErrors?: boolean;
  /** Takes faults instead of passing them on: the caller's end. */
  readonly onFault?: (fault: Fault) => void;
}

export class Executor implements ProgramHost {
  readonly #options: ExecutorOptions;
  readonly #outbox: Outbox;
  #program: Program | undefined;
  #input: Input | undefined;
  #state: 'new' | 'running' | 'failed' | 'stopped' = 'new';
  #completed = false;
  #finished = false;
  #stride = 1;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#outbox = options.outbox;
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

  get room(): boolean {
    return this.#outbox.room;
  }

  get emit(): readonly ((value: unknown) => void)[] {
    return this.#outbox.emit;
  }

  wake(): void {
    this.#options.wake();
  }

  end(outlet: number): void {
    this.#outbox.end(outlet);
    this.wake();
  }

  fail(reason: unknown, arose: 'source' | 'step', place: Place): void {
    if (this.#state !== 'running') return;
    const { topology, segment, executor } = this.#options.place;
    this.passOn(toFault(errorOf(reason, arose, { topology, segment, executor, ...place })));
  }

  /** A fault that arose above: what was emitted before it is sent first; the first fault wins. */
  passOn(fault: Fault): void {
    if (this.#state !== 'running') return;
    this.#state = 'failed';
    this.#program?.stop();
    this.#finish();
    if (this.#options.onFault !== undefined) this.#options.onFault(fault);
    else this.#outbox.fail(fault);
    this.wake();
  }

  /** A fault that came through a channel. */
  receive(fault: Fault): void {
    if (this.#options.sourceErrors === true) this.#guard(() => this.#program?.error(fromFault(fault)));
    else this.passOn(fault);
  }

  // ── what the pump sees ──

  /** Does what can be done until about `untilMs`. Says whether anything was done. */
  step(untilMs: number): boolean {
    const outbox = this.#outbox;
    outbox.tick(this.#options.nowMs());
    let progress = outbox.pump();
    for (const outlet of outbox.takeClosed()) {
      progress = true;
      this.#program?.closeOutlet(outlet);
    }
    if (this.#state === 'running') progress = this.#work(untilMs) || progress;
    if (this.#finished) this.#discard();
    outbox.flushDue();
    this.#publish();
    return progress;
  }

  /** Nothing more to do on this thread: what waits for company leaves now. */
  flushIdle(): boolean {
    return this.#outbox.flushIdle();
  }

  /** Sends what waits, because somebody asked. */
  flush(): void {
    this.#outbox.flush('explicit');
    this.#publish();
  }

  get deadlineMs(): number {
    return this.#outbox.deadlineMs;
  }

  /** Ends the source; what is under way goes on. */
  drain(): void {
    this.#input?.finish();
    this.wake();
  }

  /** Nothing is emitted or taken any more. */
  stop(): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#program?.stop();
    this.#finish();
    this.#publish();
  }

  /** A value from a source that knows no demand: it enters now, and waits behind the segment for room. */
  push(value: unknown): void {
    if (this.#state !== 'running') return;
    this.#outbox.tick(this.#options.nowMs());
    this.#options.counters.in++;
    this.#guard(() => this.#program?.next(value));
    this.wake();
  }

  /** The source that pushed has failed. */
  sourceFailed(reason: unknown): void {
    if (this.#state === 'running') this.#guard(() => this.#program?.error(reason));
  }

  #work(untilMs: number): boolean {
    const program = this.#program as Program;
    const input = this.#input as Input;
    let progress = false;
    if (program.suspended) {
      const { emitted } = this.#outbox;
      this.#guard(() => program.resume());
      progress = emitted !== this.#outbox.emitted || !program.suspended;
    }
    progress = this.#take(program, input, untilMs) || progress;
    if (this.#state !== 'running') return true;
    if (input.ended && !this.#completed && !this.#finished && program.subscribed && !program.suspended) {
      this.#completed = true;
      progress = true;
      this.#guard(() => program.complete());
    }
    if (program.finished && !this.#finished && !this.#completed) {
      progress = true;
      this.#finish();
    }
    return progress;
  }

  /** Hands input to the program until the slice is over; a slow value is followed by a look at the clock at once. */
  #take(program: Program, input: Input, untilMs: number): boolean {
    const { counters, nowMs } = this.#options;
    let taken = 0;
    let stride = this.#stride;
    let checkedMs = 0;
    try {
      while (
        this.#state === 'running' &&
        this.#outbox.room &&
        program.ready &&
        !program.suspended &&
        !program.finished
      ) {
        const value = input.take();
        if (value === none) break;
        counters.in++;
        taken++;
        program.next(value);
        if (taken % stride !== 0) continue;
        const now = nowMs();
        this.#outbox.tick(now);
        if (now >= untilMs) break;
        stride = checkedMs > 0 && now - checkedMs > 0.2 ? 1 : Math.min(64, stride * 2);
        checkedMs = now;
      }
    } catch (reason) {
      this.#takeFailed(program, reason);
    }
    this.#stride = stride;
    return taken > 0;
  }

  // What a program throws is a fault of ours or a broken frame; what a source throws is for the steps to see.
  #takeFailed(program: Program, reason: unknown): void {
    if (isMillraceError(reason) && reason.topology === undefined) this.fail(reason, 'step', {});
    else this.#guard(() => program.error(reason));
  }

  #finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#input?.finish();
    this.#discard();
  }

  #discard(): void {
    this.#options.counters.discarded += this.#input?.discard() ?? 0;
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

/** Errors of ours keep their code and learn their place; an error of the user becomes the cause. */
function errorOf(reason: unknown, arose: 'source' | 'step', place: Place): MillraceError {
  if (isMillraceError(reason) && reason.topology === undefined) return located(reason, place);
  const code: ErrorCode = arose === 'source' ? 'ERR_SOURCE' : 'ERR_OPERATOR';
  const who = place.operator ?? (arose === 'source' ? 'the source' : 'a step');
  const at = place.at === undefined ? '' : ` (pipe at ${place.at.replace(/^.*[\\/]/, '')})`;
  const said = reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason);
  return new MillraceError(code, `${who} of segment ${JSON.stringify(place.segment ?? '')}${at} failed: ${said}`, {
    ...place,
    cause: reason,
  });
}
