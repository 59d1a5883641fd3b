/**
 * The caller's two ends of a run as executors on the calling thread: one that sends the input, one per output that receives.
 * Owns the wiring of these, no state.
 */

import { inboxOf, outboxOf, type Site, type Wiring } from './assemble.js';
import { HandOver, type OutputSink, PassOn } from './callerEnds.js';
import { Executor, type ExecutorOptions } from './executor.js';
import type { Input } from './input.js';
import type { Logic } from './logic.js';
import { ExecutorCounters } from './metrics.js';
import type { ExecutorOrder } from './order.js';
import type { Wires } from './wiring.js';

export interface CallerEnds {
  readonly wiring: Wiring;
  readonly wires: Wires;
  readonly logic: Logic;
  readonly site: Site;
}

const noSegment = { segment: -1, index: 0, inputs: [], outlets: [] } as const;

/** Sends what enters to all exchanges the input feeds. What finds no room is kept: the source cannot be asked to wait. */
export function sendingExecutor(
  ends: CallerEnds,
  makeInput: (wake: () => void) => Input,
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
    makeInput(() => site.pump.nudge(executor)),
  );
  return executor;
}

/** Hands what arrives at an output to `sink`. */
export function receivingExecutor(
  ends: CallerEnds,
  output: number,
  sink: OutputSink,
  onFault: NonNullable<ExecutorOptions['onFault']>,
): Executor {
  const { wires, wiring, logic, site } = ends;
  const order = { ...noSegment, number: 0, inputs: wires.outputs.get(output) ?? [] };
  const executor: Executor = executorOf(ends, order, wiring, new ExecutorCounters(new SharedArrayBuffer(64), 0), {
    place: { topology: logic.plan.topology },
    within: sink.within,
    onFault,
  });
  executor.start(new HandOver(sink), inboxOf(wiring, order, logic, executor, site));
  return executor;
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
