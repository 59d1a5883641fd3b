/**
 * One subscription of a topology: starts its executors, watches its threads, ends it once.
 * Owns the rings, timers and ends of the run. The first fault wins; after the end nothing is delivered.
 * Never waits for its own teardown: threads come back in the background, within stopMs.
 */

import { assembleExecutor, type Site } from './assemble.js';
import { startError } from './blame.js';
import type { OutputSink } from './callerEnds.js';
import { type OutputEnd, receivingExecutor, sendingExecutor } from './callerExecutors.js';
import { isMillraceError, located, MillraceError } from './errors.js';
import type { Executor } from './executor.js';
import { type Fault, fromFault } from './fault.js';
import { FaultWatch } from './faultWatch.js';
import type { Host, HostThread, ThreadEvents } from './host.js';
import type { RunJob } from './job.js';
import { Liveness } from './liveness.js';
import type { RunMetrics } from './metrics.js';
import { callerThread, type ToThread } from './order.js';
import { orderFor, wiringOf } from './orders.js';
import { place, threadsFor } from './placement.js';
import type { StallReport } from './stall.js';
import { readCounters, type Wires, wire } from './wiring.js';

export class Run implements ThreadEvents {
  readonly #job: RunJob;
  readonly #host: Host;
  readonly #threads: readonly HostThread[];
  readonly #wires: Wires;
  readonly #site: Site;
  readonly #startedAt: number;
  readonly #local: Executor[] = [];
  readonly #outputs = new Map<number, OutputEnd>();
  readonly #liveness: Liveness;
  readonly #starting: Set<HostThread>;
  readonly #stopping: Set<HostThread>;
  #sender: Executor | undefined;
  #delivered = 0;
  #ended = false;
  #stopStart: () => void = () => {};
  #stopStop: () => void = () => {};
  /** While a fault travels: the first one. */
  #watch: FaultWatch | undefined;
  /** The input's own error: on this thread it keeps its identity. */
  #inputError: { readonly reason: unknown } | undefined;

  constructor(job: RunJob) {
    this.#job = job;
    const { host } = job;
    this.#host = host;
    this.#startedAt = host.clock.epochMs();
    const { plan } = job.logic;
    const executors = plan.segments.reduce((sum, segment) => sum + segment.parallelism, 0);
    this.#threads = host.take(threadsFor(executors, host.size, job.settings.threads));
    this.#starting = new Set(this.#threads);
    this.#stopping = new Set(this.#threads);
    const places = this.#threads.length === 0 ? [] : place(executors, this.#threads.length);
    const threadOf = (executor: number): number => this.#threads[places[executor] ?? -1]?.number ?? callerThread;
    this.#wires = wire(plan, threadOf, new Set(job.outputs.keys()), (bytes) => host.takeRing(bytes));
    this.#site = host.site(this.#threads);
    this.#liveness = this.#livenessOf();
  }

  /** Starts executors. Nothing is delivered before this returns; faults of starting arrive like all others. */
  start(): void {
    const { logic, outputs, input, build } = this.#job;
    const ends = { wiring: wiringOf(this.#job, this.#wires), wires: this.#wires, logic, site: this.#site };
    const failed = (fault: Fault, travels: boolean): void => this.faulted(fault, travels);
    for (const [output, sink] of outputs) {
      const counted: OutputSink = {
        ...sink,
        next: (value) => {
          this.#delivered++;
          sink.next(value);
        },
        complete: () => this.#completed(output, sink),
      };
      const end = receivingExecutor(ends, output, counted, this.#startedAt, (fault) => this.#arrived(fault));
      this.#outputs.set(output, end);
      this.#added(end.executor);
    }
    this.#startThreads();
    if (this.#threads.length > 0 && this.#host.watched) this.#liveness.watch();
    try {
      if (input !== undefined) {
        const keep = (reason: unknown): void => {
          this.#inputError = { reason };
        };
        this.#sender = this.#added(sendingExecutor(ends, input, keep, failed));
      }
      for (const { thread, order } of this.#wires.executors) {
        if (thread !== callerThread) continue;
        this.#local.push(this.#added(assembleExecutor(ends.wiring, order, build(), this.#site, failed)));
      }
    } catch (reason) {
      this.failed(undefined, reason);
    }
  }

  #added(executor: Executor): Executor {
    this.#site.pump.add(executor);
    return executor;
  }

  // ── control ──

  metrics(): RunMetrics {
    const numbers = new Map(this.#threads.map((thread, index) => [thread.number, index]));
    const { plan } = this.#job.logic;
    return {
      threads: this.#threads.length,
      startedAt: this.#startedAt,
      out: this.#delivered,
      dropped: this.#job.dropped(),
      ...readCounters(this.#wires, plan, (thread) => numbers.get(thread) ?? -1),
    };
  }

  explainStall(): StallReport {
    return this.#liveness.explain();
  }

  /** Holds the calling thread until `until` says so or the run is over: its source emits without a pause. */
  hold(until: () => boolean): void {
    this.#liveness.hold(until);
  }

  /** No room for its input before the event loop of this thread turns. */
  get stuck(): boolean {
    return this.#liveness.stuck;
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

  /** Without a word to its outputs. */
  stop(): void {
    this.#end(undefined);
  }

  /** One output is no longer wanted; the run goes on for the others. */
  stopOutput(output: number): void {
    const executor = this.#outputs.get(output)?.executor;
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

  started(thread: HostThread): void {
    this.#starting.delete(thread);
    if (this.#starting.size === 0) this.#stopStart();
  }

  failed(thread: HostThread | undefined, reason: unknown): void {
    // On this thread the module would count as loaded for the next run, which the output's error may start at once.
    if (isMillraceError(reason) && reason.code === 'ERR_LOADING') void thread?.terminate(this.#job.id);
    this.fail(startError(reason, this.#job.logic.plan.topology));
  }

  /** A fault arose: it travels behind the values emitted before it (faultWatch.ts). */
  faulted(fault: Fault, travels: boolean): void {
    if (this.#ended) return;
    if (travels) this.#watch ??= this.#watchOf(fault);
    else this.#failWith(fault);
  }

  broken(reason: MillraceError): void {
    this.fail(located(reason, { topology: this.#job.logic.plan.topology }));
  }

  answered(): void {
    this.#watch?.answered();
  }

  #moved(): number {
    const { executors, channels, out } = this.metrics();
    const read = channels.reduce((sum, channel) => sum + channel.bytesRead, out);
    return executors.reduce((sum, executor) => sum + executor.in + executor.out, read);
  }

  #livenessOf(): Liveness {
    const { id, logic, settings, onStall } = this.#job;
    return new Liveness({
      run: id,
      plan: logic.plan,
      wires: this.#wires,
      host: this.#host,
      threads: this.#threads,
      startedAt: this.#startedAt,
      settings,
      starting: (thread) => this.#starting.has(thread),
      outputs: () => new Map([...this.#outputs].map(([output, end]) => [output, end.read()])),
      moved: () => this.#moved(),
      over: () => this.#ended,
      fail: (reason) => this.fail(reason),
      startLate: () => this.#startLate(),
      onStall,
    });
  }

  #watchOf(fault: Fault): FaultWatch {
    return new FaultWatch(
      {
        stopMs: this.#job.settings.stopMs,
        moved: () => this.#moved(),
        started: () => this.#starting.size === 0,
        unasked: () => [...this.#outputs.values()].every((end) => end.read().withheld),
        ask: () => this.#tell('look'),
        giveUp: () => this.#failWith(fault),
      },
      this.#host.clock,
    );
  }

  stopped(thread: HostThread): void {
    if (!this.#stopping.delete(thread)) return;
    thread.release(this.#job.id);
    if (this.#stopping.size === 0) this.#threadsBack(true);
  }

  lost(thread: HostThread, reason: MillraceError): void {
    const starting = this.#starting.delete(thread);
    this.#stopping.delete(thread);
    if (starting) this.failed(thread, reason);
    else this.fail(located(reason, { topology: this.#job.logic.plan.topology }));
    if (this.#stopping.size === 0) this.#threadsBack(false);
  }

  // ── starting ──

  #startThreads(): void {
    const { id } = this.#job;
    for (const thread of this.#threads) {
      thread.hold(id, this);
      for (const other of this.#threads) thread.link(other);
    }
    for (const thread of this.#threads)
      thread.tell({
        kind: 'run',
        order: orderFor(thread.number, this.#job, this.#wires, this.#threads.length + 1 <= this.#host.cores),
      });
    const { clock } = this.#host;
    if (this.#threads.length > 0)
      this.#stopStart = clock.later(this.#job.settings.startTimeoutMs, () =>
        clock.afterMessages(() => this.#startLate()),
      );
  }

  #startLate(): void {
    if (this.#ended || this.#starting.size === 0) return;
    const { startTimeoutMs } = this.#job.settings;
    const late = [...this.#starting];
    const message = `${this.#job.topology.module} did not start within startTimeoutMs (${startTimeoutMs} ms)`;
    // A module that hangs while loading would hang the next run on this thread as well. First of all: the output's error
    // may start that run at once.
    for (const thread of late) void thread.terminate(this.#job.id);
    this.fail(new MillraceError('ERR_START', message, { topology: this.#job.logic.plan.topology }));
  }

  // ── ending ──

  #completed(output: number, sink: OutputSink): void {
    this.stopOutput(output);
    sink.complete();
  }

  /** The fault has come through an output. What was emitted before it for the others is at hand: it is delivered first. */
  #arrived(fault: Fault): void {
    if (this.#ended) return;
    for (const { executor } of this.#outputs.values()) while (executor.step(Number.POSITIVE_INFINITY));
    this.#failWith(fault);
  }

  #failWith(fault: Fault): void {
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
    this.#watch?.stop();
    this.#liveness.stop();
    for (const executor of this.#ends()) {
      executor.stop();
      this.#site.pump.remove(executor);
    }
    this.#tell('stop');
    if (this.#stopping.size > 0) this.#stopLater(this.#job.settings.stopMs);
    else this.#threadsBack(this.#threads.length === 0);
    this.#job.onEnd(failure);
  }

  // A thread that is still loading the module is not late yet: that has a bound of its own.
  #stopLate(): void {
    const loading = [...this.#stopping].filter((thread) => this.#starting.delete(thread));
    for (const thread of this.#stopping) if (!loading.includes(thread)) void thread.terminate(this.#job.id);
    if (loading.length > 0) this.#stopLater(this.#job.settings.startTimeoutMs);
  }

  #stopLater(ms: number): void {
    const { clock } = this.#host;
    this.#stopStop = clock.later(ms, () => clock.afterMessages(() => this.#stopLate()), 'idle');
  }

  /** Rings are used again only if no thread can still write into them, nor an executor of this thread that is under way now. */
  #threadsBack(clean: boolean): void {
    this.#stopStop();
    if (!clean || !this.#ended) return;
    this.#host.clock.soon(() => {
      for (const ring of this.#wires.rings) this.#host.giveRing(ring);
    });
  }

  /** Says how many threads were told. */
  #tell(kind: (ToThread & { run: string })['kind']): number {
    for (const thread of this.#stopping) thread.tell({ kind, run: this.#job.id } as ToThread);
    return this.#stopping.size;
  }

  #ends(): readonly Executor[] {
    const outputs = [...this.#outputs.values()].map(({ executor }) => executor);
    return [...(this.#sender === undefined ? [] : [this.#sender]), ...this.#local, ...outputs];
  }
}
