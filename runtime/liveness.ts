/**
 * Whether a run still moves: how its caller is held, what is reported when nothing moves, which thread is stuck.
 * Owns the watch of one run. Never moves a value itself, and keeps no process alive.
 */

import { postureOf } from './channel.js';
import { MillraceError } from './errors.js';
import { hold } from './hold.js';
import type { Host, HostThread } from './host.js';
import type { RunSettings } from './job.js';
import type { Plan } from './plan.js';
import { type OutputReading, type StallReport, Standstill } from './stall.js';
import { Watchdog } from './watchdog.js';
import type { Wires } from './wiring.js';

export interface LivenessOptions {
  readonly run: string;
  readonly plan: Plan;
  readonly wires: Wires;
  readonly host: Host;
  readonly threads: readonly HostThread[];
  readonly startedAt: number;
  readonly settings: Pick<RunSettings, 'stallMs' | 'hangMs' | 'startTimeoutMs'>;
  starting(thread: HostThread): boolean;
  outputs(): ReadonlyMap<number, OutputReading>;
  /** Changes whenever a value has moved. */
  moved(): number;
  /** The run is over. */
  over(): boolean;
  fail(reason: MillraceError): void;
  /** Threads that do not start in time. */
  startLate(): void;
  onStall(report: StallReport): void;
}

export class Liveness {
  readonly #options: LivenessOptions;
  readonly #standstill: Standstill;
  readonly #watchdog: Watchdog;
  readonly #beganMs: number;
  #stopWatch: () => void = () => {};
  #holds = 0;
  #seen = -1;

  constructor(options: LivenessOptions) {
    const { run, plan, wires, host, threads, startedAt, settings } = options;
    this.#options = options;
    const byNumber = new Map(threads.map((thread) => [thread.number, thread]));
    this.#standstill = new Standstill({
      run,
      plan,
      wires,
      startedAt,
      cellOf: (thread) => byNumber.get(thread)?.cell,
      starting: (number) => {
        const thread = byNumber.get(number);
        return thread !== undefined && options.starting(thread);
      },
      outputs: () => options.outputs(),
      epochMs: () => host.clock.epochMs(),
    });
    this.#beganMs = host.clock.nowMs();
    this.#watchdog = new Watchdog(
      {
        ...settings,
        threads: threads.map((thread) => ({
          beats: () => {
            const { asleep, beats } = postureOf(thread.cell);
            return asleep || options.starting(thread) ? undefined : beats;
          },
          hangs: () => void thread.terminate(run, `was in one value for longer than hangMs (${settings.hangMs} ms)`),
        })),
        moved: () => options.moved(),
        // Threads that load a module have a bound of their own.
        work: () => !threads.some((thread) => options.starting(thread)) && this.#standstill.work,
        stalls: () => options.onStall(this.explain()),
      },
      this.#beganMs,
    );
  }

  explain(): StallReport {
    return this.#standstill.report();
  }

  /** Looks from time to time, until `stop`. */
  watch(): void {
    const { clock } = this.#options.host;
    this.#stopWatch = clock.later(
      this.#watchdog.periodMs,
      () => {
        this.watch();
        this.#watchdog.look(clock.nowMs());
      },
      'idle',
    );
  }

  stop(): void {
    this.#stopWatch();
  }

  /** Holds the calling thread until `until` says so or the run is over. */
  hold(until: () => boolean): void {
    const { host, settings } = this.#options;
    if (this.#holds++ === 0) host.hold(true);
    try {
      const failed = hold(
        {
          stallMs: settings.stallMs,
          over: () => this.#options.over(),
          nowMs: () => host.clock.nowMs(),
          work: () => host.work(),
          rest: (ms) => host.rest(ms),
          moved: () => this.#options.moved(),
          starting: () => this.#starting(),
          hopeless: () => this.#hopeless(),
          stalled: () => this.#stalled(),
        },
        until,
      );
      if (failed !== undefined && !this.#options.over()) this.#giveUp(failed);
    } finally {
      if (--this.#holds === 0) host.hold(false);
    }
  }

  // A thread that has not come back by now is stuck or dead, and its end is not heard before the event loop turns: the next run
  // must not get it.
  #giveUp(failed: MillraceError): void {
    const { run, threads } = this.#options;
    if (failed.code === 'ERR_STALLED')
      for (const thread of threads)
        if (!postureOf(thread.cell).asleep) void thread.terminate(run, 'had not moved for stallMs');
    this.#options.fail(failed);
  }

  /** Threads that load a module have a bound of their own, whose timer cannot fire while this thread is held. */
  #starting(): boolean {
    const { threads, settings, host } = this.#options;
    if (!threads.some((thread) => this.#options.starting(thread))) return false;
    if (host.clock.nowMs() - this.#beganMs >= settings.startTimeoutMs) this.#options.startLate();
    return true;
  }

  /** Only the event loop of this thread could make room for its input; asked while the executors of this thread can do nothing. */
  get stuck(): boolean {
    const { threads, host } = this.#options;
    // Without threads all executors are on this one, and have done what they can but for what waits for its age.
    const alone = threads.length === 0 && !host.ages && !this.#movedSince();
    return alone || this.#standstill.hopeless() !== undefined;
  }

  #hopeless(): MillraceError | undefined {
    const { plan } = this.#options;
    if (!this.stuck) return undefined;
    return new MillraceError(
      'ERR_HELD',
      'the input holds this thread until there is room, but only the event loop of this thread, which cannot turn meanwhile, could make some. ' +
        'Give the input demand: pull(() => iterable) instead of from(iterable), fromRequest() or fromPublisher(); or say by `overflow` what shall become of its values.\n' +
        String(this.explain()),
      { topology: plan.topology },
    );
  }

  /** Whether anything has moved since this was last asked: pieces of a long frame are no values yet. */
  #movedSince(): boolean {
    const before = this.#seen;
    this.#seen = this.#options.moved();
    return this.#seen !== before;
  }

  #stalled(): MillraceError {
    const { plan, settings } = this.#options;
    const { stallMs } = settings;
    return new MillraceError(
      'ERR_STALLED',
      `the input holds this thread until there is room, and nothing has moved for stallMs (${stallMs} ms).\n${String(this.explain())}`,
      { topology: plan.topology },
    );
  }
}
