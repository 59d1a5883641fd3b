/**
 * One subscription of a topology: starts its executors, watches its threads, ends it once.
 * Owns the rings, timers and ends of the run. The first fault wins; after the end nothing is delivered.
 * Never waits for its own teardown: threads come back in the background, within stopMs.
 */

import { availableParallelism } from 'node:os';
import { assembleExecutor, inboxOf, outboxOf, type Site, type Wiring } from './assemble.js';
import type { BatchRule } from './batch.js';
import { HandOver, type OutputSink, PassOn } from './callerEnds.js';
import { siteWith } from './callerSite.js';
import { clock } from './clock.js';
import { isMillraceError, located, MillraceError } from './errors.js';
import { Executor } from './executor.js';
import { type Fault, fromFault } from './fault.js';
import type { Input } from './input.js';
import type { Build, Logic } from './logic.js';
import { ExecutorCounters, type RunMetrics } from './metrics.js';
import { callerThread, type RunOrder, type TopologyId, type ToThread } from './order.js';
import { place, threadsFor } from './placement.js';
import { planShape } from './plan.js';
import type { Pool, PoolThread, ThreadEvents } from './pool.js';
import { giveRing } from './rings.js';
import { readCounters, type Wires, wire } from './wiring.js';

export interface RunSettings {
  readonly threads: number | undefined;
  /** By exchange. */
  readonly rules: readonly BatchRule[];
  readonly maxParkedBytes: number;
  readonly stopMs: number;
  readonly startTimeoutMs: number;
  readonly strict: boolean;
}

export interface RunJob {
  readonly id: string;
  readonly topology: TopologyId;
  readonly args: readonly unknown[];
  /** The caller's own build, for routing and decoding. */
  readonly logic: Logic;
  /** For executors on the calling thread. */
  readonly build: Build;
  readonly pool: Pool;
  readonly settings: RunSettings;
  /** By exchange; outputs without a sink are discarded and counted. */
  readonly outputs: ReadonlyMap<number, OutputSink>;
  /** The input of the topology, made for the executor that sends it. None: a source. */
  readonly input?: ((wake: () => void) => Input) | undefined;
  /** Called once, when nothing will be delivered any more; with the reason, if there is one. */
  readonly onEnd: (failure: { readonly reason: unknown } | undefined) => void;
}

export class Run implements ThreadEvents {
  readonly #job: RunJob;
  readonly #threads: readonly PoolThread[];
  readonly #wires: Wires;
  readonly #site: Site;
  readonly #startedAt = clock.epochMs();
  readonly #local: Executor[] = [];
  readonly #outputs = new Map<number, Executor>();
  readonly #starting: Set<PoolThread>;
  readonly #stopping: Set<PoolThread>;
  #sender: Executor | undefined;
  #delivered = 0;
  #ended = false;
  #stopStart: () => void = () => {};
  #stopStop: () => void = () => {};
  /** The input's own error: on this thread it keeps its identity. */
  #inputError: { readonly reason: unknown } | undefined;

  constructor(job: RunJob) {
    this.#job = job;
    const { plan } = job.logic;
    const executors = plan.segments.reduce((sum, segment) => sum + segment.parallelism, 0);
    this.#threads = job.pool.take(threadsFor(executors, job.pool.size, job.settings.threads));
    this.#starting = new Set(this.#threads);
    this.#stopping = new Set(this.#threads);
    const places = this.#threads.length === 0 ? [] : place(executors, this.#threads.length);
    const threadOf = (executor: number): number => this.#threads[places[executor] ?? -1]?.number ?? callerThread;
    this.#wires = wire(plan, threadOf, new Set(job.outputs.keys()));
    this.#site = siteWith(new Map(this.#threads.map((thread) => [thread.number, thread.bell])));
  }

  /** Starts executors. Nothing is delivered before this returns; faults of starting arrive like all others. */
  start(): void {
    const { job, wiring } = { job: this.#job, wiring: this.#wiring() };
    for (const [output, sink] of job.outputs) this.#receive(output, sink);
    this.#startThreads();
    try {
      if (job.input !== undefined) this.#send(job.input, wiring);
      for (const { thread, order } of this.#wires.executors) {
        if (thread === callerThread) this.#startLocal(assembleExecutor(wiring, order, job.build(), this.#site));
      }
    } catch (reason) {
      this.failed(undefined, reason);
    }
  }

  get ended(): boolean {
    return this.#ended;
  }

  // ── the input, for sources that know no demand ──

  /** False when nobody wants more. */
  push(value: unknown): boolean {
    if (this.#ended) return false;
    this.#sender?.push(value);
    return !this.#ended;
  }

  inputFailed(reason: unknown): void {
    this.#inputError = { reason };
    this.#sender?.sourceFailed(reason);
  }

  // ── control ──

  metrics(): RunMetrics {
    const numbers = new Map(this.#threads.map((thread, index) => [thread.number, index]));
    const { plan } = this.#job.logic;
    return {
      threads: this.#threads.length,
      startedAt: this.#startedAt,
      out: this.#delivered,
      ...readCounters(this.#wires, plan, (thread) => numbers.get(thread) ?? -1),
    };
  }

  flush(): void {
    this.#tell('flush');
    for (const executor of this.#ends()) executor.flush();
  }

  drain(): void {
    this.#tell('drain');
    this.#sender?.drain();
    for (const executor of this.#local) executor.drain();
  }

  /** Ends the run without a word to its outputs. */
  stop(): void {
    this.#end(undefined);
  }

  /** One output is no longer wanted; the run goes on for the others. */
  stopOutput(output: number): void {
    const executor = this.#outputs.get(output);
    if (executor === undefined) return;
    this.#outputs.delete(output);
    executor.stop();
    this.#site.pump.remove(executor);
    if (this.#outputs.size === 0) this.stop();
  }

  fail(reason: unknown): void {
    this.#end({ reason });
  }

  // ── what threads say ──

  started(thread: PoolThread): void {
    this.#starting.delete(thread);
    if (this.#starting.size === 0) this.#stopStart();
  }

  failed(_thread: PoolThread | undefined, reason: unknown): void {
    const { topology } = this.#job.logic.plan;
    if (isMillraceError(reason) && (reason.code === 'ERR_PLAN_MISMATCH' || reason.code === 'ERR_START')) {
      this.fail(located(reason, { topology }));
      return;
    }
    const said = reason instanceof Error ? reason.message : String(reason);
    this.fail(
      new MillraceError('ERR_START', `topology ${JSON.stringify(topology)} did not start: ${said}`, {
        topology,
        cause: reason,
      }),
    );
  }

  stopped(thread: PoolThread): void {
    if (!this.#stopping.delete(thread)) return;
    thread.release(this.#job.id);
    if (this.#stopping.size === 0) this.#threadsBack(true);
  }

  lost(thread: PoolThread, reason: MillraceError): void {
    this.#starting.delete(thread);
    this.#stopping.delete(thread);
    this.fail(located(reason, { topology: this.#job.logic.plan.topology }));
    if (this.#stopping.size === 0) this.#threadsBack(false);
  }

  // ── starting ──

  #startThreads(): void {
    const { id } = this.#job;
    for (const thread of this.#threads) {
      thread.hold(id, this);
      for (const other of this.#threads) thread.link(other);
    }
    for (const thread of this.#threads) thread.tell({ kind: 'run', order: this.#orderFor(thread) });
    if (this.#threads.length > 0)
      this.#stopStart = clock.later(this.#job.settings.startTimeoutMs, () => this.#startTimedOut());
  }

  #orderFor(thread: PoolThread): RunOrder {
    const { id, topology, args, logic } = this.#job;
    const executors = this.#wires.executors
      .filter((executor) => executor.thread === thread.number)
      .map(({ order }) => order);
    const lookAgain = this.#threads.length + 1 <= availableParallelism();
    return {
      version: 1,
      run: id,
      topology,
      args,
      shape: planShape(logic.plan),
      executors,
      lookAgain,
      ...this.#wiring(),
    };
  }

  #wiring(): Wiring {
    const { rules, maxParkedBytes, strict } = this.#job.settings;
    const { counters, counted } = this.#wires;
    return { rules, maxParkedBytes, strict, counters, counted };
  }

  #startLocal(executor: Executor): void {
    this.#local.push(executor);
    this.#site.pump.add(executor);
  }

  #startTimedOut(): void {
    const { startTimeoutMs } = this.#job.settings;
    const late = [...this.#starting];
    const message = `${this.#job.topology.module} was not loaded within startTimeoutMs (${startTimeoutMs} ms)`;
    this.fail(new MillraceError('ERR_START', message, { topology: this.#job.logic.plan.topology }));
    // A module that hangs while loading would hang the next run on this thread as well.
    for (const thread of late) void thread.terminate(this.#job.id);
  }

  #send(makeInput: (wake: () => void) => Input, wiring: Wiring): void {
    const { logic } = this.#job;
    const { counted, counters, callerOutlets } = this.#wires;
    const order = { number: counted - 1, segment: -1, index: 0, inputs: [], outlets: callerOutlets };
    const executor: Executor = new Executor({
      place: { topology: logic.plan.topology, segment: 'input' },
      outbox: outboxOf({ ...wiring, maxParkedBytes: Number.POSITIVE_INFINITY }, order, logic, this.#site),
      counters: new ExecutorCounters(counters, counted - 1),
      nowMs: clock.nowMs,
      wake: () => this.#site.pump.wake(),
    });
    this.#sender = executor;
    executor.start(
      new PassOn(executor),
      makeInput(() => this.#site.pump.nudge(executor)),
    );
    this.#site.pump.add(executor);
  }

  #receive(output: number, sink: OutputSink): void {
    const { logic } = this.#job;
    const inputs = this.#wires.outputs.get(output) ?? [];
    const executor: Executor = new Executor({
      place: { topology: logic.plan.topology },
      outbox: outboxOf(
        this.#wiring(),
        { number: 0, segment: -1, index: 0, inputs: [], outlets: [] },
        logic,
        this.#site,
      ),
      counters: new ExecutorCounters(new SharedArrayBuffer(64), 0),
      nowMs: clock.nowMs,
      wake: () => this.#site.pump.wake(),
      onFault: (fault) => this.#faulted(fault),
    });
    const program = new HandOver({
      next: (value) => {
        this.#delivered++;
        sink.next(value);
      },
      complete: () => this.#completed(output, sink),
    });
    this.#outputs.set(output, executor);
    executor.start(program, inboxOf({ inputs }, logic, executor, this.#site));
    this.#site.pump.add(executor);
  }

  // ── ending ──

  #completed(output: number, sink: OutputSink): void {
    this.stopOutput(output);
    sink.complete();
  }

  #faulted(fault: Fault): void {
    const error = fromFault(fault);
    if (
      this.#inputError !== undefined &&
      isMillraceError(error) &&
      error.code === 'ERR_SOURCE' &&
      error.segment === 'input'
    ) {
      Object.defineProperty(error, 'cause', { value: this.#inputError.reason, enumerable: false, configurable: true });
    }
    this.fail(error);
  }

  #end(failure: { readonly reason: unknown } | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopStart();
    for (const executor of this.#ends()) {
      executor.stop();
      this.#site.pump.remove(executor);
    }
    this.#tell('stop');
    if (this.#stopping.size > 0)
      this.#stopStop = clock.later(this.#job.settings.stopMs, () => this.#stopTimedOut(), 'idle');
    else this.#threadsBack(this.#threads.length === 0);
    this.#job.onEnd(failure);
  }

  #stopTimedOut(): void {
    for (const thread of this.#stopping) void thread.terminate(this.#job.id);
  }

  /** Rings are used again only if no thread can still write into them. */
  #threadsBack(clean: boolean): void {
    this.#stopStop();
    if (clean && this.#ended) for (const ring of this.#wires.rings) giveRing(ring);
  }

  #tell(kind: (ToThread & { run: string })['kind']): void {
    for (const thread of this.#stopping) thread.tell({ kind, run: this.#job.id } as ToThread);
  }

  #ends(): readonly Executor[] {
    return [...(this.#sender === undefined ? [] : [this.#sender]), ...this.#local, ...this.#outputs.values()];
  }
}
