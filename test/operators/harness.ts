/**
 * One executor of a topology on this thread: no ring, no codec, no clock. It steps a segment as runtime/executor.ts does.
 * Owns the input queue and the log of what left; `room` is the test's to switch. Never sleeps: `wake` steps at once.
 */

import { Observable, Subject, type Subscription } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { logicOf } from '../../operators/logic.js';
import { isMillraceError, type MillraceError, type Place } from '../../runtime/errors.js';
import type { Plan } from '../../runtime/plan.js';
import type { Program, ProgramHost } from '../../runtime/program.js';

/** A build of tests. `never` fits every input type. */
export type Build = (input: Observable<never>) => unknown;

/** A build of a stream of numbers. */
export function ofNumbers(build: (input: Observable<number>) => unknown): Build {
  return build as Build;
}

/** What left an outlet, and when. */
export type Left = { readonly at: number; readonly out: string } & (
  | { readonly next: unknown }
  | { readonly error: unknown }
  | { readonly complete: true }
);

export interface BenchOptions {
  /** By name; default: the first one. */
  readonly segment?: string;
  /** Index of the executor in its segment. */
  readonly index?: number;
  readonly strict?: boolean;
  readonly now?: () => number;
  /** Called after every output; may switch `room`. */
  readonly onOutput?: (bench: Bench) => void;
}

export class Bench {
  readonly plan: Plan;
  readonly log: Left[] = [];
  readonly program: Program;
  room = true;
  failure: { readonly reason: unknown; readonly arose: 'source' | 'step'; readonly place: Place } | undefined;
  readonly #options: BenchOptions;
  readonly #queue: unknown[] = [];
  #ending: (() => void) | undefined;
  #stepping = true;
  #stopped = false;

  constructor(build: Build, options: BenchOptions = {}) {
    const logic = logicOf('t', build);
    const { plan } = logic;
    const segment = options.segment === undefined ? 0 : plan.segments.findIndex(({ name }) => name === options.segment);
    const outlets = [...plan.exchanges.keys()].filter((exchange) => plan.exchanges[exchange]?.from.includes(segment));
    this.plan = plan;
    this.#options = options;
    const { index = 0, strict = false } = options;
    this.program = logic.program(
      segment,
      outlets,
      this.#host(outlets.map((exchange) => plan.exchanges[exchange]?.name ?? '')),
      { index, strict },
    );
    this.program.start();
    this.#stepping = false;
    this.step();
  }

  /** The values that left: of one outlet, or of all. */
  values(out?: string): unknown[] {
    return this.log.flatMap((left) => ('next' in left && (out ?? left.out) === left.out ? [left.next] : []));
  }

  /** How it ended: 'complete', the error, or undefined while it has not. */
  end(out?: string): unknown {
    if (this.failure !== undefined) return this.failure.reason;
    const completed = this.log.some((left) => 'complete' in left && (out ?? left.out) === left.out);
    return completed ? 'complete' : undefined;
  }

  push(...values: readonly unknown[]): this {
    this.#queue.push(...values);
    this.step();
    return this;
  }

  complete(): this {
    this.#ending = () => this.program.complete();
    this.step();
    return this;
  }

  error(reason: unknown): this {
    this.#ending = () => this.program.error(reason);
    this.step();
    return this;
  }

  /** Values that were pushed and not taken. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Room again, and what can be done with it. */
  grant(): this {
    this.room = true;
    this.step();
    return this;
  }

  stop(): void {
    this.#stopped = true;
    this.program.stop();
  }

  /** Does what can be done. */
  step(): void {
    if (this.#stepping) return;
    this.#stepping = true;
    while (!this.#stopped && this.#once());
    this.#stepping = false;
  }

  #once(): boolean {
    const { program } = this;
    if (program.suspended) {
      program.resume();
      if (program.suspended) return false;
    }
    if (program.finished) this.#queue.length = 0;
    if (this.#queue.length > 0) {
      if (!this.room || !program.ready) return false;
      program.next(this.#queue.shift());
      return true;
    }
    const ending = this.#ending;
    if (ending === undefined || !program.subscribed || program.finished) return false;
    this.#ending = undefined;
    ending();
    return true;
  }

  #host(outlets: readonly string[]): ProgramHost {
    const { now = () => 0, onOutput } = this.#options;
    const bench = this;
    return {
      get room() {
        return bench.room;
      },
      wake: () => bench.step(),
      starved: () => {},
      emit: outlets.map((out) => (value) => {
        if (bench.#stopped) return;
        bench.log.push({ at: now(), out, next: value });
        onOutput?.(bench);
      }),
      end: (outlet) => bench.log.push({ at: now(), out: outlets[outlet] ?? '', complete: true }),
      fail(reason, arose, place) {
        if (bench.#stopped) return;
        bench.failure = { reason, arose, place };
        bench.log.push({ at: now(), out: '*', error: reason });
        bench.stop();
      },
    };
  }
}

/** What a plain run of `build` on a Subject gives: the model of a bench. */
export class Plain {
  readonly log: Left[] = [];
  readonly #input = new Subject<unknown>();
  readonly #subscriptions: readonly Subscription[];

  constructor(build: Build, now: () => number = () => 0) {
    const built = build(this.#input as unknown as Observable<never>);
    const outputs: readonly (readonly [string, unknown])[] =
      built instanceof Observable ? [['output', built]] : Object.entries(built as object);
    this.#subscriptions = outputs.map(([out, stream]) =>
      (stream as Observable<unknown>).subscribe({
        next: (next) => this.log.push({ at: now(), out, next }),
        error: (error: unknown) => this.log.push({ at: now(), out: '*', error }),
        complete: () => this.log.push({ at: now(), out, complete: true }),
      }),
    );
  }

  push(...values: readonly unknown[]): this {
    for (const value of values) this.#input.next(value);
    return this;
  }

  complete(): this {
    this.#input.complete();
    return this;
  }

  error(reason: unknown): this {
    this.#input.error(reason);
    return this;
  }

  stop(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }
}

/** What both can be driven by. */
export interface Driven {
  readonly log: readonly Left[];
  push(value: unknown): unknown;
  complete(): unknown;
  error(reason: unknown): unknown;
  stop(): void;
}

const values: Readonly<Record<string, number>> = Object.fromEntries([...'0123456789'].map((digit) => [digit, +digit]));

/** Drives `start(now)` by marbles in RxJS's virtual time; digits are numbers, the error is 'boom'. Stopped at `untilMs`. */
export function inVirtualTime(marbles: string, start: (now: () => number) => Driven, untilMs = 300): readonly Left[] {
  const scheduler = new TestScheduler(() => {});
  let driven: Driven | undefined;
  scheduler.run(() => {
    const notes = TestScheduler.parseMarbles(marbles, values, 'boom', undefined, true);
    const run = start(() => scheduler.now());
    driven = run;
    for (const { frame, notification } of notes) {
      scheduler.schedule(() => {
        if (notification.kind === 'N') run.push(notification.value);
        else if (notification.kind === 'C') run.complete();
        else run.error(notification.error);
      }, frame);
    }
    scheduler.schedule(() => run.stop(), untilMs);
  });
  return driven?.log ?? [];
}

/** A log to compare: errors by name and text, those of millrace by code. */
export function seen(log: readonly Left[]): readonly unknown[] {
  return log.map((left) => ('error' in left ? { ...left, error: said(left.error) } : left));
}

export function said(reason: unknown): unknown {
  if (isMillraceError(reason)) return reason.code;
  return reason instanceof Error ? `${reason.name}: ${reason.message}` : reason;
}

/** The error `run` throws, which must be one of millrace. */
export function refusal(run: () => unknown): MillraceError {
  try {
    run();
  } catch (reason) {
    if (isMillraceError(reason)) return reason;
    throw reason;
  }
  throw new Error('nothing was refused');
}
