/**
 * From subscriptions to a run: the n-th subscriptions of all wanted outputs make the n-th run.
 * Owns the subscribers of one run and its input subscription. Nothing is delivered after an output was unsubscribed.
 */

import { type Observable, type Subscriber, Subscription } from 'rxjs';
import type { OutputSink } from '../runtime/callerEnds.js';
import { type Context, currentContext } from '../runtime/context.js';
import type { Demand } from '../runtime/demand.js';
import { MillraceError } from '../runtime/errors.js';
import { said } from '../runtime/fault.js';
import type { RunJob, RunSettings } from '../runtime/job.js';
import type { Logic } from '../runtime/logic.js';
import { caller } from '../runtime/plan.js';
import { Run as RuntimeRun } from '../runtime/run.js';
import { unheard } from '../runtime/unheard.js';
import { cloneArgs } from './args.js';
import type { PlanDescription } from './describe.js';
import { inputOf, type RunInput } from './input.js';
import type { CheckedOptions } from './options.js';
import { idOf, type Registered } from './registry.js';
import { type Run, reportStall, viewOf } from './run.js';
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

/** Who takes an output, and the asynchronous context in which it was subscribed. */
interface Taker {
  readonly subscriber: Subscriber<unknown>;
  /** What it has asked for; none: it takes all that come. */
  readonly demand: Demand | undefined;
  readonly within: Context;
  /** The same for the error, which may come out of a `next` that has entered another one. */
  readonly withinEnd: Context;
}

let runs = 0;

export class Session {
  readonly #planned: Planned;
  readonly #subscribers = new Map<number, Taker>();
  #run: RuntimeRun | undefined;
  #view: Run | undefined;
  #over = false;
  #begun = false;
  /** The next turn of the event loop, where the input waits for it. */
  #turn: 'far' | 'near' | 'come' = 'far';
  #stopWaiting: () => void = () => {};
  readonly #input: RunInput;
  readonly #teardown = new Subscription(() => this.#input.leave());

  constructor(planned: Planned, source: Observable<unknown> | undefined) {
    this.#planned = planned;
    const used = usesInput(planned) ? source : undefined;
    this.#input = inputOf(
      used,
      planned.options.overflow,
      (until) => this.#run?.hold(until),
      () => this.#run?.stuck === true,
    );
  }

  has(output: number): boolean {
    return this.#subscribers.has(output);
  }

  get over(): boolean {
    return this.#over;
  }

  subscribe(output: number, subscriber: Subscriber<unknown>, demand: Demand | undefined): void {
    const { wanted, options } = this.#planned;
    const first = this.#subscribers.size === 0;
    this.#subscribers.set(output, { subscriber, demand, within: currentContext(), withinEnd: currentContext() });
    subscriber.add(() => this.#unsubscribed(output));
    if (first && !this.#over) this.#watchSignal(options.signal);
    if (this.#over) return;
    if (wanted.every((other) => this.#subscribers.has(other))) this.#start();
    else if (first) {
      const { clock } = stateOf(options.runtime).host;
      this.#stopWaiting = clock.later(options.startTimeoutMs, () => this.#missing());
    }
  }

  #start(): void {
    const { registered, options, build, settings, description } = this.#planned;
    this.#stopWaiting();
    const state = stateOf(options.runtime);
    if (state.host.closed) {
      this.#fail(new MillraceError('ERR_CLOSED', 'the runtime is closed', { topology: registered.title }));
      return;
    }
    const id = `${registered.title}-${++runs}`;
    const run = this.#makeRun({
      id,
      topology: idOf(registered),
      args: cloneArgs(options.args),
      logic: callerLogic(this.#planned),
      build,
      host: state.host,
      settings,
      outputs: new Map([...this.#subscribers].map(([output, taker]) => [output, this.#sinkOf(output, taker)])),
      input: this.#input.make,
      dropped: this.#input.dropped,
      onStall: (report) => {
        if (this.#view !== undefined) reportStall(this.#view, report);
      },
      onEnd: (failure) => this.#ended(failure),
    });
    if (run === undefined) return;
    const view = viewOf(id, description, registered.title, run);
    this.#run = run;
    this.#view = view;
    state.runs.set(view, (reason) => run.fail(reason));
    this.#teardown.add(() => state.runs.delete(view));
    run.start();
    for (const [output, { subscriber }] of [...this.#subscribers]) if (subscriber.closed) this.#unsubscribed(output);
    this.#announce();
    this.#begin();
  }

  /**
   * The input begins with the first demand: a source that emits without a pause keeps whoever subscribes it, who could not ask for
   * anything then. Of a record, whose outputs are asked one after the other, it begins when all have been, or with the next turn of
   * the event loop.
   */
  #begin(): void {
    if (this.#over || this.#begun) return;
    const unasked = [...this.#subscribers.values()].flatMap(({ demand }) =>
      demand === undefined || demand.asked ? [] : demand,
    );
    const nobody = unasked.length === this.#subscribers.size;
    if (nobody || (unasked.length > 0 && this.#turn !== 'come')) {
      for (const demand of unasked) demand.onFirst = () => this.#begin();
      if (!nobody) this.#awaitTurn();
      return;
    }
    this.#begun = true;
    this.#input.begin();
  }

  #awaitTurn(): void {
    if (this.#turn !== 'far') return;
    this.#turn = 'near';
    stateOf(this.#planned.options.runtime).host.clock.soon(() => {
      this.#turn = 'come';
      this.#begin();
    });
  }

  #makeRun(job: RunJob): RuntimeRun | undefined {
    try {
      return new RuntimeRun(job);
    } catch (cause) {
      const { title } = this.#planned.registered;
      const message = `topology ${JSON.stringify(title)} did not start: ${said(cause)}`;
      this.#fail(new MillraceError('ERR_START', message, { topology: title, cause }));
      return undefined;
    }
  }

  #announce(): void {
    try {
      if (!this.#over && this.#view !== undefined) this.#planned.options.onRun?.(this.#view);
    } catch (reason) {
      this.#run?.fail(reason);
    }
  }

  #sinkOf(output: number, { subscriber, demand, within }: Taker): OutputSink {
    return {
      within,
      demand,
      next: (value) => subscriber.next(value),
      complete: () => {
        this.#subscribers.delete(output);
        tell(() => subscriber.complete());
      },
    };
  }

  #watchSignal(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const abort = (): void => {
      if (this.#run === undefined) this.#fail(signal.reason);
      else this.#run.fail(signal.reason);
    };
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    this.#teardown.add(() => signal.removeEventListener('abort', abort));
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
    this.#teardown.unsubscribe();
    const takers = [...this.#subscribers.values()];
    this.#subscribers.clear();
    if (failure === undefined) return;
    for (const { subscriber, withinEnd } of takers) withinEnd(() => tell(() => subscriber.error(failure.reason)));
  }

  #unsubscribed(output: number): void {
    if (!this.#subscribers.has(output)) return;
    // Before the start, an output that left counts as subscribed: the run starts for the others.
    if (this.#run === undefined) {
      if ([...this.#subscribers.values()].every(({ subscriber }) => subscriber.closed)) this.#fail(undefined);
      return;
    }
    this.#subscribers.delete(output);
    this.#run.stopOutput(output);
  }
}

/** A subscriber keeps the errors of its handlers to itself; what it throws are clean-ups, which keep nothing from other outputs. */
function tell(end: () => void): void {
  try {
    end();
  } catch (reason) {
    unheard('an output', reason);
  }
}

function usesInput({ logic }: Planned): boolean {
  return logic.plan.exchanges.some(({ from }) => from.includes(caller));
}

/** The caller's ends run functions of `build` only where they route or decode by one; those belong to one run, as all that `build` makes. */
function callerLogic({ logic, build }: Planned): Logic {
  const own = logic.plan.exchanges.some(({ from, to, codec }, exchange) => {
    const routes = from.includes(caller) && logic.route(exchange) !== undefined;
    const touches = to === caller || from.includes(caller);
    return routes || (touches && codec !== 'auto' && codec !== 'clone');
  });
  return own ? build() : logic;
}
