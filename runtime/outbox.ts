/**
 * Everything an executor sends: outlets (one per exchange it feeds), each with a batch per target.
 * Owns the parked bytes, by which the executor knows whether it has room, and their bound.
 * Never waits and never reads time: `tick` sets it.
 */

import { MillraceError } from './errors.js';
import type { Fault } from './fault.js';
import { encodeFault } from './faultFrame.js';
import { kinds } from './frame.js';
import type { ChannelCounters, FlushReason } from './metrics.js';
import { type Emit, emitterOf, type Route } from './router.js';
import { Target, type TargetOptions } from './target.js';

export interface OutletOptions {
  readonly route: Omit<Route, 'targets'>;
  /** One per executor of the consuming segment. */
  readonly targets: readonly Omit<TargetOptions, 'onParked'>[];
  /** Nobody takes these values: they are counted here. */
  readonly discard: ChannelCounters | undefined;
}

interface Outlet {
  readonly index: number;
  readonly targets: readonly Target[];
  ending: boolean;
  closed: boolean;
}

export class Outbox {
  /** One per outlet: takes a value, routes it, batches it. Throws what routing or encoding throws. */
  readonly emit: readonly Emit[];
  readonly #outlets: readonly Outlet[];
  readonly #targets: readonly Target[];
  readonly #maxParkedBytes: number;
  #parkedBytes = 0;
  #parkedFrames = 0;
  #nowMs = 0;
  #stopped = false;
  /** Values emitted. */
  emitted = 0;
  /** Told once of an outlet all of whose consumers want no more; also in the middle of an emission. */
  onClosed: (outlet: number) => void = () => {};

  constructor(outlets: readonly OutletOptions[], maxParkedBytes: number) {
    this.#maxParkedBytes = maxParkedBytes;
    const onParked = (bytes: number): void => this.#parked(bytes);
    this.#outlets = outlets.map(({ targets }, index) => {
      const made = targets.map((options) => new Target({ ...options, onParked }));
      return { index, targets: made, ending: false, closed: false };
    });
    this.#targets = this.#outlets.flatMap((outlet) => outlet.targets);
    this.emit = outlets.map((options, i) => this.#emitter(options, this.#outlets[i] as Outlet));
  }

  /** False while frames are parked: no further input is to be taken. */
  get room(): boolean {
    return this.#parkedFrames === 0;
  }

  /** Values wait in open batches, or frames for room. */
  get pending(): boolean {
    return this.#parkedFrames > 0 || this.#targets.some((target) => target.open);
  }

  get parkedBytes(): number {
    return this.#parkedBytes;
  }

  /** Everything was sent and all ends are announced. */
  get ended(): boolean {
    return this.#targets.every((target) => target.ended);
  }

  /** The time from now on. */
  tick(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  /** Sends parked frames, as far as there is room. Says whether anything was sent. */
  pump(): boolean {
    if (this.#parkedFrames === 0) return false;
    let progress = false;
    for (const target of this.#targets) progress = target.pump() || progress;
    return progress;
  }

  /** When the oldest value must leave. */
  get deadlineMs(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const target of this.#targets) earliest = Math.min(earliest, target.deadlineMs);
    return earliest;
  }

  flushDue(): void {
    for (const target of this.#targets) target.flushDue(this.#nowMs);
  }

  flushAsleep(): void {
    for (const target of this.#targets) target.flushAsleep();
  }

  flushIdle(): boolean {
    let progress = false;
    for (const target of this.#targets) progress = target.flushIdle() || progress;
    return progress;
  }

  flush(reason: FlushReason): void {
    for (const target of this.#targets) target.flush(reason);
  }

  /** No value can come before those that wait here have left: they leave now. */
  starved(): void {
    this.flush('starved');
  }

  /** The outlet has all its values. */
  end(outlet: number): void {
    this.#endOutlet(this.#outlets[outlet] as Outlet, 'end');
  }

  /** What was emitted before the fault is delivered, then the fault, on every outlet that is open. False: nobody hears it. */
  fail(fault: Fault): boolean {
    const payload = encodeFault(fault);
    const open = this.#outlets.filter((outlet) => !outlet.ending);
    // Order: all values before the first fault, which may end the run for all outputs.
    for (const target of this.#targets) target.flush('error');
    for (const outlet of open) {
      for (const target of outlet.targets) target.sendFrame(kinds.error, payload, 'error');
      this.#endOutlet(outlet, 'error');
    }
    return open.some((outlet) => outlet.targets.length > 0);
  }

  /** Closes outlets all of whose consumers want no more. Says whether there were any. */
  closeFinished(): boolean {
    let progress = false;
    for (const outlet of this.#outlets) progress = this.#closeIfFinished(outlet) || progress;
    return progress;
  }

  #closeIfFinished(outlet: Outlet): boolean {
    if (outlet.closed || outlet.ending || outlet.targets.length === 0) return false;
    if (!outlet.targets.every((target) => target.finished)) return false;
    outlet.closed = true;
    this.#endOutlet(outlet, 'end');
    this.onClosed(outlet.index);
    return true;
  }

  /** Nothing is sent any more: the channels may belong to another run, while a step of the user's still emits. */
  stop(): void {
    this.#stopped = true;
  }

  #endOutlet(outlet: Outlet, reason: FlushReason): void {
    if (outlet.ending) return;
    outlet.ending = true;
    for (const target of outlet.targets) target.end(reason);
  }

  // Decided here, once: which way values of this outlet go.
  #emitter({ route, discard, targets }: OutletOptions, outlet: Outlet): Emit {
    if (discard !== undefined) return () => discard.dropped(1);
    const alone = targets.every(({ rule }) => rule.size === 1);
    const takes = outlet.targets.map((target) =>
      alone ? this.#takeAlone(target, outlet) : this.#take(target, outlet),
    );
    const emit = emitterOf({ ...route, targets: takes });
    return (value) => {
      if (this.#stopped) return;
      // Before the value is taken: a single one may be of any size, and what was taken is sent once.
      if (this.#parkedBytes > this.#maxParkedBytes) throw this.#burst();
      emit(value);
      this.emitted++;
    };
  }

  // A step that cannot be suspended learns by these two that nobody wants more.
  #take(target: Target, outlet: Outlet): (value: unknown) => void {
    return (value) => {
      if (!target.add(value, this.#nowMs)) this.#closeIfFinished(outlet);
    };
  }

  #takeAlone(target: Target, outlet: Outlet): (value: unknown) => void {
    return (value) => {
      if (!target.addAlone(value)) this.#closeIfFinished(outlet);
    };
  }

  #parked(bytes: number): void {
    this.#parkedBytes += bytes;
    this.#parkedFrames += bytes > 0 ? 1 : -1;
  }

  #burst(): MillraceError {
    return new MillraceError(
      'ERR_OUTPUT_BURST',
      `one value made more than maxParkedBytes (${this.#maxParkedBytes}) of outputs in a step that cannot be suspended. ` +
        'mergeMap and concatMap of millrace/operators stream the outputs of an iterable without holding them; ' +
        'import them instead of a hand-written or RxJS operator, or raise maxParkedBytes',
    );
  }
}
