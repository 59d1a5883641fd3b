/**
 * topology and source: an RxJS pipeline as something that runs on threads.
 * Owns planning at the call: options are checked, args cloned, `build` runs and everything that is wrong is thrown.
 */

import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import type { Sites } from '../operators/recording.js';
import { resolveBatch } from '../runtime/batch.js';
import { Demand } from '../runtime/demand.js';
import { MillraceError } from '../runtime/errors.js';
import type { RunSettings } from '../runtime/job.js';
import type { Logic } from '../runtime/logic.js';
import { place, threadsFor } from '../runtime/placement.js';
import { type ExchangePlan, type Plan, pairs } from '../runtime/plan.js';
import { sharedBytes } from '../runtime/wiring.js';
import { cloneArgs } from './args.js';
import { Asked } from './demand.js';
import { describePlan, type PlanDescription } from './describe.js';
import { refusedWhileLoading } from './loading.js';
import { type CheckedOptions, checkNames, checkOptions, type RunOptions } from './options.js';
import { type Registered, register, type TopologyOptions } from './registry.js';
import { stateOf } from './runtime.js';
import { type Planned, Session } from './session.js';

export type { TopologyOptions } from './registry.js';

/** What `build` returns: a stream, or a record of streams. Its own names, in a constraint, let it be an interface. */
export type Outputs<Out = Readonly<Record<string, unknown>>> =
  | Observable<unknown>
  | Readonly<Record<keyof Out, Observable<unknown>>>;
/** The parameters of `build` after the input: none, or one. */
export type Args = readonly [] | readonly [args?: unknown];

/** Of the single output an Observable, of a record one for each name. */
export type Results<Out> =
  Out extends Observable<infer O>
    ? Observable<O>
    : { readonly [K in keyof Out]: Out[K] extends Observable<infer O> ? Observable<O> : never };
/** An operator, or, of a record of outputs, a function of the input. */
export type Applied<In, Out> =
  Out extends Observable<infer O> ? OperatorFunction<In, O> : (input: Observable<In>) => Results<Out>;

type ArgsOf<A extends Args> = A extends readonly []
  ? { readonly args?: undefined }
  : A extends readonly [infer R]
    ? { readonly args: R }
    : A extends readonly [(infer R)?]
      ? { readonly args?: R | undefined }
      : never;
/** Options are optional where args are. */
export type Call<A extends Args, O> = A extends readonly []
  ? [options?: O & ArgsOf<A>]
  : A extends readonly [unknown]
    ? [options: O & ArgsOf<A>]
    : [options?: O & ArgsOf<A>];

export interface Topology<In, Out extends Outputs<Out>, A extends Args = readonly []> {
  /** Plans at once, throwing what is wrong; every subscription of the result is a run of its own. */
  (...options: Call<A, RunOptions<Out>>): Applied<In, Out>;
  readonly name: string;
  /** Runs `build` on the calling thread with plain RxJS, cuts transparent: marbles work on it. */
  inline(input: Observable<In>, ...args: A): Out;
  /** The plan without a run. */
  describe(...options: Call<A, RunOptions<Out>>): PlanDescription;
}

export interface Source<Out extends Outputs<Out>, A extends Args = readonly []> {
  (...options: Call<A, RunOptions<Out>>): Results<Out>;
  readonly name: string;
  inline(...args: A): Out;
  describe(...options: Call<A, RunOptions<Out>>): PlanDescription;
}

/**
 * Makes a topology of `build`. The module named by `module` (`import.meta.url`) is loaded in every thread, so closures,
 * imports and constants just work; create topologies at module level, unconditionally. `build` runs once to plan, and once
 * per executor: what it creates is that executor's own.
 *
 * ```ts
 * export const wordCount = topology(import.meta.url, (lines$: Observable<string>) =>
 *   lines$.pipe(
 *     mergeMap((line) => line.split(' ')),
 *     keyBy((word) => word, { parallelism: 2 }),
 *     countByKey(),
 *   ),
 * );
 * lines$.pipe(wordCount()).subscribe(console.log);
 * ```
 */
export function topology<In, Out extends Outputs<Out>, A extends Args>(
  module: string | URL,
  build: (input: Observable<In>, ...args: A) => Out,
  options?: TopologyOptions,
): Topology<In, Out, A> {
  const registered = register(module, build, (input, args) => build(input, ...(args as A)), options);
  const apply = (given?: unknown): Applied<In, Out> => {
    const planned = plan(registered, given);
    return ((source: Observable<unknown>) => results(planned, source)) as Applied<In, Out>;
  };
  return finish(registered, apply, build) as Topology<In, Out, A>;
}

/**
 * A topology without input: it starts from `pull(…)` inside `build`.
 *
 * ```ts
 * const errors = source(import.meta.url, (file: string) => pull(() => openLines(file)).pipe(filter(isError)));
 * errors({ args: 'app.log' }).subscribe(console.log);
 * ```
 */
export function source<Out extends Outputs<Out>, A extends Args>(
  module: string | URL,
  build: (...args: A) => Out,
  options?: TopologyOptions,
): Source<Out, A> {
  const registered = register(module, build, (_, args) => build(...(args as A)), options);
  const apply = (given?: unknown): Results<Out> => results(plan(registered, given), undefined) as Results<Out>;
  return finish(registered, apply, build) as Source<Out, A>;
}

function finish(
  registered: Registered,
  apply: (options?: unknown) => unknown,
  inline: (...args: never) => unknown,
): unknown {
  Object.defineProperty(apply, 'name', { value: registered.title });
  const describe = (options?: unknown): PlanDescription => plan(registered, options).description;
  return Object.assign(apply, { inline, describe });
}

function plan(registered: Registered, given: unknown): Planned {
  const options = checkOptions(given, registered.title);
  const sites: Sites = [];
  const build = (): Logic => registered.logic(cloneArgs(options.args), sites);
  const logic = build();
  const { plan } = logic;
  const names = plan.exchanges.map((exchange) => exchange.name);
  checkNames(Object.keys(options.batches), [...names, 'default'], 'batches');
  const outputs = plan.outputs.map((output) => (plan.exchanges[output] as ExchangePlan).name);
  if (options.outputs !== undefined) checkNames(options.outputs, outputs, 'outputs');
  const wanted = plan.outputs.filter((_, i) => options.outputs?.includes(outputs[i] as string) ?? true);
  if (wanted.length === 0) throw new MillraceError('ERR_OPTION', 'outputs must name at least one output');
  checkSize(plan);
  const description = describePlan(plan, placement(plan, options));
  return { registered, options, logic, build, settings: settingsOf(plan, options), description, wanted };
}

/** Rings of a plan may take so much shared memory; more is a slip of parallelism. */
const maxSharedBytes = 2 ** 30;

function checkSize(plan: Plan): void {
  const bytes = sharedBytes(plan);
  if (bytes <= maxSharedBytes) return;
  const widest = [...plan.exchanges].sort((a, b) => pairs(plan, b) - pairs(plan, a))[0] as ExchangePlan;
  throw new MillraceError(
    'ERR_OPTION',
    `this plan needs ${Math.ceil(bytes / 2 ** 20)} MiB of shared memory for its rings, at most ${maxSharedBytes / 2 ** 20} are allowed: ` +
      `${widest.name} alone joins ${pairs(plan, widest)} pairs of executors. Lower parallelism`,
  );
}

function placement(plan: Plan, options: CheckedOptions): readonly number[] {
  const executors = plan.segments.reduce((sum, segment) => sum + segment.parallelism, 0);
  const threads = threadsFor(executors, stateOf(options.runtime).host.size, options.threads);
  return threads === 0 ? new Array<number>(executors).fill(-1) : place(executors, threads);
}

function settingsOf(plan: Plan, options: CheckedOptions): RunSettings {
  const { threads, batches, maxParkedBytes, stallMs, hangMs, stopMs, startTimeoutMs, strict } = options;
  const rules = plan.exchanges.map(({ name, batch }) => resolveBatch(batches[name], batch, batches['default']));
  return { threads, rules, maxParkedBytes, stallMs, hangMs, stopMs, startTimeoutMs, strict };
}

function results(planned: Planned, source: Observable<unknown> | undefined): unknown {
  const { logic, wanted } = planned;
  const group = new OutputGroup(planned, source);
  const { exchanges, outputs } = logic.plan;
  if (logic.single) return group.observable(outputs[0] as number);
  const entries = outputs.map((output) => {
    const name = (exchanges[output] as ExchangePlan).name;
    return [name, wanted.includes(output) ? group.observable(output) : group.unwanted(name)] as const;
  });
  return Object.fromEntries(entries);
}

/** The outputs of one application: their n-th subscriptions make the n-th run. */
class OutputGroup {
  readonly #planned: Planned;
  readonly #source: Observable<unknown> | undefined;
  #open: readonly Session[] = [];

  constructor(planned: Planned, source: Observable<unknown> | undefined) {
    this.#planned = planned;
    this.#source = source;
  }

  observable(output: number): Observable<unknown> {
    return new Asked(
      (observer) => {
        const demand = new Demand(observer.stuck);
        const asked = new Observable((subscriber) => this.#subscribe(output, subscriber, demand)).subscribe(observer);
        return {
          request: (n) => {
            if (!asked.closed) demand.request(n);
          },
          unsubscribe: () => asked.unsubscribe(),
        };
      },
      (subscriber) => this.#subscribe(output, subscriber, undefined),
    );
  }

  #subscribe(output: number, subscriber: Subscriber<unknown>, demand: Demand | undefined): void {
    const refused = refusedWhileLoading(this.#planned.registered);
    if (refused !== undefined) {
      subscriber.error(refused);
      return;
    }
    this.#open = this.#open.filter((waiting) => !waiting.over);
    const session = this.#open.find((waiting) => !waiting.has(output)) ?? new Session(this.#planned, this.#source);
    const complete = this.#planned.wanted.every((other) => other === output || session.has(other));
    // Order: before the subscription, in which a further one may be made.
    if (complete) this.#open = this.#open.filter((waiting) => waiting !== session);
    else if (!this.#open.includes(session)) this.#open = [...this.#open, session];
    session.subscribe(output, subscriber, demand);
  }

  unwanted(name: string): Observable<unknown> {
    return new Observable((subscriber) => {
      const message = `${JSON.stringify(name)} is not among the wanted outputs: name it in the option \`outputs\``;
      subscriber.error(new MillraceError('ERR_OUTPUT_UNUSED', message, { topology: this.#planned.registered.title }));
    });
  }
}
