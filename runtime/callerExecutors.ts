/**
 * The caller's two ends of a run as executors on the calling thread: one that sends the input, one per output that receives.
 * Owns the wiring of these, no state.
 */

import { inboxOf, outboxOf, type Site, type Wiring } from './assemble.js';
import { HandOver, type OutputSink, PassOn } from './callerEnds.js';
import { OnDemand } from './demand.js';
import { Executor, type ExecutorOptions } from './executor.js';
import type { MakeInput } from './job.js';
import type { Logic } from './logic.js';
import { createCounters, ExecutorCounters, readRest } from './metrics.js';
import type { ExecutorOrder } from './order.js';
import type { OutputReading } from './stall.js';
import type { Wires } from './wiring.js';

export interface CallerEnds {
  readonly wiring: Wiring;
  readonly wires: Wires;
  readonly logic: Logic;
  readonly site: Site;
}

/** The receiving end of an output, and how it is read. */
export interface OutputEnd {
  readonly executor: Executor;
  read(): OutputReading;
}

const noSegment = { segment: -1, index: 0, inputs: [], outlets: [] } as const;

/** Sends what enters to all exchanges the input feeds. */
export function sendingExecutor(
  ends: CallerEnds,
  makeInput: MakeInput,
  onInputError: (reason: unknown) => void,
  onFailed: NonNullable<ExecutorOptions['onFailed']>,
): Executor {
  const { wires, wiring, logic, site } = ends;
  const order = { ...noSegment, number: wires.counted - 1, outlets: wires.callerOutlets };
  const unbounded = { ...wiring, maxParkedBytes: Number.POSITIVE_INFINITY };
  const executor: Executor = executorOf(ends, order, unbounded, new ExecutorCounters(wires.counters, order.number), {
    place: { topology: logic.plan.topology, segment: 'input' },
    within: site.within,
    onFailed,
  });
  executor.start(
    new PassOn(executor, onInputError),
    makeInput(() => site.pump.nudge(executor), executor),
  );
  return executor;
}

/** Hands what arrives at an output to `sink`. */
export function receivingExecutor(
  ends: CallerEnds,
  output: number,
  sink: OutputSink,
  startedAt: number,
  onFault: NonNullable<ExecutorOptions['onFault']>,
): OutputEnd {
  const { wires, wiring, logic, site } = ends;
  const counters = createCounters(1, 0);
  const order = { ...noSegment, number: 0, inputs: wires.outputs.get(output) ?? [] };
  const executor: Executor = executorOf(ends, order, wiring, new ExecutorCounters(counters, 0), {
    place: { topology: logic.plan.topology },
    within: sink.within,
    onFault,
  });
  const inbox = inboxOf(wiring, order, logic, executor, site);
  const { demand } = sink;
  if (demand !== undefined) demand.onMore = () => site.pump.nudge(executor);
  executor.start(new HandOver(sink), demand === undefined ? inbox : new OnDemand(inbox, demand));
  return {
    executor,
    read() {
      const { sinceMs } = readRest(counters, 0);
      return { withheld: demand?.withheld === true || executor.busy, sinceMs: sinceMs === 0 ? startedAt : sinceMs };
    },
  };
}

function executorOf(
  { logic, site }: CallerEnds,
  order: ExecutorOrder,
  wiring: Wiring,
  counters: ExecutorCounters,
  options: Pick<ExecutorOptions, 'place' | 'within' | 'onFault' | 'onFailed'>,
): Executor {
  return new Executor({
    outbox: outboxOf(wiring, order, logic, site),
    counters,
    nowMs: site.clock.nowMs,
    wake: () => site.pump.wake(),
    ...options,
  });
}
