/**
 * From subscriptions to a run: the n-th subscriptions of all wanted outputs make the n-th run.
 * Owns the subscribers of one run and its input subscription. Nothing is delivered after an output was unsubscribed.
 */

import type { Observable, Subscriber, Subscription } from 'rxjs';
import { type OutputSink, PushInput } from '../runtime/callerEnds.js';
import { clock } from '../runtime/clock.js';
import { MillraceError } from '../runtime/errors.js';
import type { Logic } from '../runtime/logic.js';
import type { RunSettings } from '../runtime/run.js';
import { Run as RuntimeRun } from '../runtime/run.js';
import { cloneArgs } from './args.js';
import type { PlanDescription } from './describe.js';
import type { CheckedOptions } from './options.js';
import { feedOfPull } from './pull.js';
import { idOf, type Registered } from './registry.js';
import { type Run, viewOf } from './run.js';
import { stateOf } from './runtime.js';

/** Everything a plan of `t(options)` gives each of its runs. */
export interface Planned {
  readonly registered: Registered;
  readonly options: CheckedOptions;
  readonly logic: Logic;
  readonly build: () => Logic;
  readonly settings: RunSettings;
  readonly description: PlanDescription;
  /** Exchanges of the outputs that are wanted. */
  readonly wanted: readonly number[];
}

let runs = 0;

export class Session {
  readonly #planned: Planned;
  readonly #source: Observable<unknown> | undefined;
  readonly #subscribers = new Map<number, Subscriber<unknown>>();
  #run: RuntimeRun | undefined;
  #view: Run | undefined;
  #input: Subscription | undefined;
  #over = false;
  #stopWaiting: () => void = () => {};
  #forget: () => void = () => {};

  constructor(planned: Planned, source: Observable<unknown> | undefined) {
    this.#planned = planned;
    this.#source = source;
  }

  has(output: number): boolean {
    return this.#subscribers.has(output);
  }

  get over(): boolean {
    return this.#over;
  }

  subscribe(output: number, subscriber: Subscriber<unknown>): void {
    const { wanted, options } = this.#planned;
    const { signal } = options;
    this.#subscribers.set(output, subscriber);
    subscriber.add(() => this.#unsubscribed(output));
    if (signal?.aborted === true) this.#fail(signal.reason);
    else if (wanted.every((other) => this.#subscribers.has(other))) this.#start();
    else if (this.#subscribers.size === 1)
      this.#stopWaiting = clock.later(options.startTimeoutMs, () => this.#missing());
  }

  #start(): void {
    const { registered, options, logic, build, settings, description } = this.#planned;
    this.#stopWaiting();
    const state = stateOf(options.runtime);
    if (state.pool.closed) {
      this.#fail(new MillraceError('ERR_CLOSED', 'the runtime is closed', { topology: registered.title }));
      return;
    }
    const id = `${registered.title}-${++runs}`;
    const input = new PushInput(() => this.#input?.unsubscribe());
    const source = this.#source;
    const feed = source === undefined ? undefined : (feedOfPull(source) ?? input.withWake);
    const run = new RuntimeRun({
      id,
      topology: idOf(registered),
      args: cloneArgs(options.args),
      logic,
      build,
      pool: state.pool,
      settings,
      outputs: new Map(
        [...this.#subscribers].map(([output, subscriber]) => [output, this.#sinkOf(output, subscriber)]),
      ),
      input: feed,
      onEnd: (failure) => this.#ended(failure),
    });
    const view = viewOf(id, description, registered.title, run);
    this.#run = run;
    this.#view = view;
    state.runs.set(view, (reason) => run.fail(reason));
    this.#forget = () => state.runs.delete(view);
    this.#watchSignal(options.signal);
    run.start();
    this.#announce();
    if (source !== undefined && feed === input.withWake && !this.#over) this.#subscribeInput(source, input, run);
  }

  #announce(): void {
    try {
      if (!this.#over && this.#view !== undefined) this.#planned.options.onRun?.(this.#view);
    } catch (reason) {
      this.#run?.fail(reason);
    }
  }

  #subscribeInput(source: Observable<unknown>, input: PushInput, run: RuntimeRun): void {
    this.#input = source.subscribe({
      next: (value) => {
        if (!run.push(value)) this.#input?.unsubscribe();
      },
      error: (reason: unknown) => run.inputFailed(reason),
      complete: () => input.complete(),
    });
    // It may have ended, or nobody may want more, before the subscription was known here.
    if (this.#over || input.ended) this.#input.unsubscribe();
  }

  #sinkOf(output: number, subscriber: Subscriber<unknown>): OutputSink {
    return {
      next: (value) => subscriber.next(value),
      complete: () => {
        this.#subscribers.delete(output);
        subscriber.complete();
      },
    };
  }

  #watchSignal(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const abort = (): void => this.#run?.fail(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const forget = this.#forget;
    this.#forget = () => {
      signal.removeEventListener('abort', abort);
      forget();
    };
  }

  #missing(): void {
    const { wanted, options, description } = this.#planned;
    const names = wanted
      .filter((output) => !this.#subscribers.has(output))
      .map((output) => description.exchanges[output]?.name);
    this.#fail(
      new MillraceError(
        'ERR_OUTPUT_UNUSED',
        `${names.map((name) => JSON.stringify(name)).join(', ')} had no subscriber within startTimeoutMs (${options.startTimeoutMs} ms). ` +
          'Subscribe all outputs, or name those you want in `outputs`',
        { topology: this.#planned.registered.title },
      ),
    );
  }

  /** Failed before there was a run. */
  #fail(reason: unknown): void {
    this.#stopWaiting();
    this.#ended({ reason });
  }

  #ended(failure: { readonly reason: unknown } | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#forget();
    this.#input?.unsubscribe();
    const subscribers = [...this.#subscribers.values()];
    this.#subscribers.clear();
    if (failure !== undefined) for (const subscriber of subscribers) subscriber.error(failure.reason);
  }

  #unsubscribed(output: number): void {
    if (!this.#subscribers.has(output)) return;
    // Before the start, an output that left counts as subscribed: the run starts for the others.
    if (this.#run === undefined) {
      if ([...this.#subscribers.values()].every((subscriber) => subscriber.closed)) this.#fail(undefined);
      return;
    }
    this.#subscribers.delete(output);
    this.#run.stopOutput(output);
  }
}
