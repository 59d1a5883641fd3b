/**
 * simulate: one run of a topology in a world where every "when" is chosen by a seed.
 * Owns the run from its input to its end. Never waits in real time: it is over when it returns.
 */

import { isObservable, type Observable, Subscription } from 'rxjs';
import { subscribeWithin } from '../../operators/within.js';
import { isMillraceError, MillraceError } from '../../runtime/errors.js';
import { said } from '../../runtime/fault.js';
import { checkKeys, isOptions, show } from '../../runtime/option.js';
import type { Flush } from '../../runtime/simulated/body.js';
import { SimulatedHost } from '../../runtime/simulated/host.js';
import { World } from '../../runtime/simulated/world.js';
import type { PlanDescription } from '../describe.js';
import { loadHere } from '../load.js';
import type { RunOptions } from '../options.js';
import { runtimeOn } from '../runtime.js';
import type { Args, Outputs, Source, Topology } from '../topology.js';
import { driven } from './driven.js';
import type { Fault } from './fault.js';
import { watchForeign } from './foreign.js';
import { type Input, type Schedule, scheduleOf, type Timed } from './input.js';
import { checkExecutors, type Mishaps, mishapsOf } from './mishaps.js';
import { withTimeline } from './providers.js';
import { Trace } from './trace.js';

export interface SimulateOptions<In, Out = unknown> {
  /** Values, or values at times; none for a source. Default: no value, completed at 0 ms. */
  readonly input?: Input<In>;
  /** Chooses the world, 0 to 2^32 - 1; 0, the default, is calm: nothing is late and nothing takes time. */
  readonly seed?: number;
  /** What goes wrong, and when. Default: nothing. */
  readonly faults?: readonly Fault[];
  /** Run options, but `runtime`, which is the simulated one. */
  readonly run?: RunOptions<Out>;
  /** What `build` gets. */
  readonly args?: unknown;
  /** The outputs are unsubscribed at this virtual time; default 3,600,000, an hour. */
  readonly untilMs?: number;
}

export interface Simulation<O> {
  readonly seed: number;
  /** What was delivered, and when, by name of the output; a single one is named 'output'. */
  readonly outputs: Readonly<Record<string, readonly Timed<O>[]>>;
  /** How the run ended. `ERR_STALLED`: it could not. */
  readonly end: 'complete' | 'unsubscribed' | MillraceError;
  readonly endMs: number;
  /** Every batch that was sent, and why it left. */
  readonly flushes: readonly Flush[];
  /** How tracked values were settled, and when. No run tracks values yet, so there are none. */
  readonly settled: readonly {
    readonly atMs: number;
    readonly value: unknown;
    readonly how: 'ack' | 'fail' | 'timeout';
  }[];
  /** Tracked values that were given up on. None yet, as above. */
  readonly deadLetters: readonly {
    readonly value: unknown;
    readonly attempts: number;
    readonly reasons: readonly unknown[];
  }[];
  /** What happened, a line each: virtual time, thread, event. */
  readonly trace: string;
}

/** What the outputs deliver. */
export type Delivered<Out> =
  Out extends Observable<infer O> ? O : { [K in keyof Out]: Out[K] extends Observable<infer O> ? O : never }[keyof Out];

const known = ['input', 'seed', 'faults', 'run', 'args', 'untilMs'] as const;
const maxSteps = 250_000;
/** After its end a run gets so much time to let go of its threads. */
const settleMs = 10_000;

/**
 * Runs a topology on one thread in virtual time. Its executors, batches, rings and doorbells are the real ones; which thread
 * goes next, how late a message is, how full a ring: the seed decides. The same seed gives the same run. Timed operators of
 * RxJS run in virtual time. Timers and promises of the user's own do not: a run that waits for them ends with `ERR_STALLED`,
 * which names them.
 *
 * ```ts
 * const { outputs, end } = simulate(wordCount, { input: ['to be', 'or not to be'], seed: 7 });
 * ```
 */
export function simulate<In, Out extends Outputs<Out>, A extends Args>(
  target: Topology<In, Out, A> | Source<Out, A>,
  options: SimulateOptions<In, Out> = {},
): Simulation<Delivered<Out>> {
  return new Run(target as never, check(options as SimulateOptions<unknown>)).go() as Simulation<Delivered<Out>>;
}

type Results = Observable<unknown> | Readonly<Record<string, Observable<unknown>>>;
interface Target {
  (options: unknown): Results | ((input: Observable<unknown>) => Results);
  describe(options: unknown): PlanDescription;
}

interface Checked {
  readonly schedule: Schedule<unknown>;
  readonly seed: number;
  readonly mishaps: Mishaps;
  readonly run: RunOptions;
  readonly args: { readonly args?: unknown };
  readonly untilMs: number;
}

function check(options: SimulateOptions<unknown>): Checked {
  if (!isOptions(options)) throw refused(`the options of simulate() must be an object, got ${show(options)}`);
  checkKeys(options, known, 'simulate()');
  const { input = [], seed = 0, faults = [], run = {}, untilMs = 3_600_000 } = options;
  if (!(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32))
    throw refused(`seed of simulate() must be a whole number from 0 to 2^32 - 1, got ${show(seed)}`);
  if (!(typeof untilMs === 'number' && untilMs >= 0))
    throw refused(`untilMs of simulate() must be milliseconds, at least 0, got ${show(untilMs)}`);
  if (!isOptions(run)) throw refused(`run of simulate() must be an object of run options, got ${show(run)}`);
  if ('runtime' in run) throw refused('run of simulate() has its own runtime: leave `runtime` out');
  const args = options.args === undefined ? {} : { args: options.args };
  return { schedule: scheduleOf(input), seed, mishaps: mishapsOf(faults), run, args, untilMs };
}

class Run {
  readonly #checked: Checked;
  readonly #target: Target;
  readonly #world: World;
  readonly #host: SimulatedHost;
  readonly #trace = new Trace();
  readonly #flushes: Flush[] = [];
  readonly #outputs: Record<string, Timed<unknown>[]> = {};
  /** Also while it is still inside its own subscribe. */
  readonly #subscription = new Subscription();
  readonly #foreign: string[] = [];
  readonly #results: Results;
  #open = 0;
  #delivered = 0;
  #end: Simulation<unknown>['end'] | undefined;
  #endMs = 0;

  constructor(target: Target, checked: Checked) {
    if (typeof target !== 'function' || !('inline' in target))
      throw refused(`simulate() runs what topology() or source() returned, got ${show(target)}`);
    this.#target = target;
    this.#checked = checked;
    const world = new World(checked.seed, (who, what) => this.#trace.add(world.nowMs, who, what));
    this.#world = world;
    this.#host = new SimulatedHost({
      world,
      size: world.weather.calm ? 1024 : 1 + world.random.below(8),
      load: loadHere,
      mishaps: checked.mishaps.executors,
      onFlush: (flush) => this.#flushes.push(flush),
    });
    this.#host.lane.onError = (reason) => this.#note(`an error that nobody handles: ${said(reason)}`);
    this.#results = this.#apply();
  }

  /** What is wrong with the plan is thrown here. */
  #apply(): Results {
    const { schedule, run, args, mishaps } = this.#checked;
    const options = { ...run, ...args, runtime: runtimeOn(() => this.#host) };
    checkExecutors(mishaps.executors, () => this.#target.describe(options).segments);
    const applied = this.#target(options);
    if (typeof applied !== 'function') return applied;
    return applied(driven(schedule, mishaps.stalls, this.#world, this.#host.lane));
  }

  go(): Simulation<unknown> {
    const restore = watchForeign(({ what, at }) => {
      this.#foreign.push(`${what} at ${at}`);
      this.#note(`${what} at ${at} is not of virtual time`);
    });
    try {
      withTimeline(this.#timeline(), () => this.#live());
    } finally {
      restore();
    }
    const trace = this.#trace;
    return {
      seed: this.#checked.seed,
      outputs: this.#outputs,
      end: this.#end ?? 'unsubscribed',
      endMs: this.#endMs,
      flushes: this.#flushes,
      settled: [],
      deadLetters: [],
      get trace() {
        return trace.toString();
      },
    };
  }

  #live(): void {
    const { untilMs } = this.#checked;
    this.#host.lane.in(0, 'subscribe', () => this.#subscribe());
    while (this.#end === undefined) {
      if (this.#world.steps > maxSteps)
        this.#stall(`did not come to rest within ${maxSteps.toLocaleString('en')} steps`);
      else if (this.#world.step(untilMs)) continue;
      else if (this.#world.nextMs < Number.POSITIVE_INFINITY) this.#leave();
      else this.#stall('can do nothing more and has not ended');
    }
    for (const { kind, executor = 'any executor', atValue } of this.#host.pending)
      this.#note(`${kind} of ${executor} at value ${atValue} never came true`);
    const until = Math.max(this.#world.nowMs, this.#endMs) + settleMs;
    for (let steps = 0; steps < maxSteps && this.#world.step(until); steps++);
  }

  /** RxJS's time is that of whichever simulated thread is at work. */
  #timeline() {
    const lane = () => this.#world.current ?? this.#host.lane;
    return {
      nowMs: () => this.#world.nowMs,
      soon: (task: () => void) => lane().first(task),
      later: (ms: number, task: () => void) => lane().in(ms, 'timer of RxJS', task),
    };
  }

  #subscribe(): void {
    const { run, mishaps } = this.#checked;
    const results = this.#results;
    const outputs = Object.entries(isObservable(results) ? { output: results } : results).filter(
      ([name]) => (run.outputs as readonly string[] | undefined)?.includes(name) !== false,
    );
    this.#open = outputs.length;
    for (const { atValue, forMs } of mishaps.leaves)
      if (atValue === 0) this.#host.lane.in(forMs, 'leaves', () => this.#leave());
    for (const [name, output] of outputs) {
      this.#outputs[name] = [];
      subscribeWithin(this.#subscription, output, {
        next: (value) => this.#next(name, value),
        error: (reason: unknown) => this.#ended(errorOf(reason)),
        complete: () => {
          this.#note(`${name} completes`);
          if (--this.#open === 0) this.#ended('complete');
        },
      });
    }
  }

  #next(name: string, value: unknown): void {
    this.#outputs[name]?.push([this.#world.nowMs, value]);
    this.#trace.add(this.#world.nowMs, 'caller', () => `${name} ◀ ${short(value)}`);
    this.#delivered++;
    const { leaves, throws } = this.#checked.mishaps;
    if (leaves.some(({ atValue }) => atValue === this.#delivered)) this.#leave();
    if (throws.includes(this.#delivered))
      throw new Error(`the subscriber was made to throw at value ${this.#delivered}`);
  }

  #leave(): void {
    if (this.#end !== undefined) return;
    this.#note('unsubscribes');
    this.#subscription.unsubscribe();
    this.#ended('unsubscribed');
  }

  #stall(how: string): void {
    const { endMs } = this.#checked.schedule;
    const open = endMs === undefined ? ['caller waits for the input, which has not ended: its endMs is Infinity'] : [];
    const waits = [...open, ...this.#host.waits()];
    const foreign =
      this.#foreign.length === 0 ? '' : `\n  not of virtual time, and so never heard of: ${this.#foreign.join(', ')}`;
    const who = waits.length === 0 ? '' : `:\n  ${waits.join('\n  ')}`;
    this.#ended(new MillraceError('ERR_STALLED', `the run ${how}${who}${foreign}`));
    this.#subscription.unsubscribe();
  }

  #ended(end: Simulation<unknown>['end']): void {
    if (this.#end !== undefined) return;
    this.#note(typeof end === 'string' ? `ends: ${end}` : `ends: ${end.message}`);
    this.#end = end;
    this.#endMs = this.#world.nowMs;
  }

  #note(what: string): void {
    this.#trace.add(this.#world.nowMs, this.#world.current?.name ?? 'world', what);
  }
}

function errorOf(reason: unknown): MillraceError {
  if (isMillraceError(reason)) return reason;
  return new MillraceError('ERR_CLOSED', `the run was ended: ${said(reason)}`, { cause: reason });
}

function short(value: unknown): string {
  try {
    const text = JSON.stringify(value) ?? String(value);
    return text.length > 80 ? `${text.slice(0, 77)}…` : text;
  } catch {
    return show(value);
  }
}

function refused(message: string): MillraceError {
  return new MillraceError('ERR_OPTION', message);
}
