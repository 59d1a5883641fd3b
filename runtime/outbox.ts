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
  /** Values emitted. */
  emitted = 0;

  constructor(outlets: readonly OutletOptions[], maxParkedBytes: number) {
    this.#maxParkedBytes = maxParkedBytes;
    const onParked = (bytes: number): void => this.#parked(bytes);
    this.#outlets = outlets.map(({ targets }) => {
      return { targets: targets.map((options) => new Target({ ...options, onParked })), ending: false, closed: false };
    });
    this.#targets = this.#outlets.flatMap((outlet) => outlet.targets);
    this.emit = outlets.map((options, i) => this.#emitter(options, (this.#outlets[i] as Outlet).targets));
  }

  /** False while frames are parked: no further input is to be taken. */
  get room(): boolean {
    return this.#parkedFrames === 0;
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

  flushIdle(): boolean {
    let progress = false;
    for (const target of this.#targets) progress = target.flushIdle() || progress;
    return progress;
  }

  flush(reason: FlushReason): void {
    for (const target of this.#targets) target.flush(reason);
  }

  /** The outlet has all its values. */
  end(outlet: number): void {
    this.#endOutlet(this.#outlets[outlet] as Outlet, 'end');
  }

  /** What was emitted before the fault is delivered, then the fault, on every outlet that is open. */
  fail(fault: Fault): void {
    const payload = encodeFault(fault);
    for (const outlet of this.#outlets) {
      if (outlet.ending) continue;
      for (const target of outlet.targets) {
        target.flush('error');
        target.sendFrame(kinds.error, payload, 'error');
      }
      this.#endOutlet(outlet, 'error');
    }
  }

  /** Outlets all of whose consumers want no more, each told once. */
  takeClosed(): readonly number[] {
    const closed: number[] = [];
    this.#outlets.forEach((outlet, index) => {
      if (outlet.closed || outlet.ending || outlet.targets.length === 0) return;
      if (!outlet.targets.every((target) => target.finished)) return;
      outlet.closed = true;
      this.#endOutlet(outlet, 'end');
      closed.push(index);
    });
    return closed;
  }

  #endOutlet(outlet: Outlet, reason: FlushReason): void {
    if (outlet.ending) return;
    outlet.ending = true;
    for (const target of outlet.targets) target.end(reason);
  }

  #emitter({ route, discard }: OutletOptions, targets: readonly Target[]): Emit {
    if (discard !== undefined) return () => discard.dropped(1);
    const takes = targets.map((target) => (value: unknown) => target.add(value, this.#nowMs));
    const emit = emitterOf({ ...route, targets: takes });
    return (value) => {
      emit(value);
      this.emitted++;
    };
  }

  #parked(bytes: number): void {
    this.#parkedBytes += bytes;
    this.#parkedFrames += bytes > 0 ? 1 : -1;
    // The newest frame does not count: a single value may be of any size.
    if (bytes < 0 || this.#parkedBytes - bytes <= this.#maxParkedBytes) return;
    throw new MillraceError(
      'ERR_OUTPUT_BURST',
      `one value made more than maxParkedBytes (${this.#maxParkedBytes}) of outputs in a step that cannot be suspended. ` +
        'mergeMap and concatMap of millrace/operators stream the outputs of an iterable without holding them; ' +
        'import them instead of a hand-written or RxJS operator, or raise maxParkedBytes',
    );
  }
}
