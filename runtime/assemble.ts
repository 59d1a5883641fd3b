/**
 * Puts an executor together from its order: channel ends, inbox, outbox, program.
 * Owns the wiring, the same on every thread. Never starts a thread and never chooses a placement.
 */

import { type Bell, type ChannelReader, type ChannelWriter, ringReader, ringWriter } from './channel.js';
import type { Clock } from './clock.js';
import type { Context } from './context.js';
import type { Place } from './errors.js';
import { Executor } from './executor.js';
import type { Fault } from './fault.js';
import { Inbox } from './inbox.js';
import type { Logic } from './logic.js';
import { ChannelCounters, ExecutorCounters } from './metrics.js';
import type { ChannelOrder, ExecutorOrder, OutletOrder, RunOrder } from './order.js';
import { Outbox, type OutletOptions } from './outbox.js';
import { comparePlans, type ExchangePlan } from './plan.js';
import type { Pump } from './pump.js';

/** What a thread offers its executors. */
export interface Site {
  /** Number of this thread. */
  readonly thread: number;
  readonly pump: Pump;
  readonly clock: Clock;
  /** Where executors work for somebody: in that context. */
  readonly within?: Context;
  writer(channel: ChannelOrder): ChannelWriter;
  reader(channel: ChannelOrder): ChannelReader;
  countersOf(wiring: Wiring, channel: number, id: string): ChannelCounters;
}

/** Ends of rings, for a thread that has the bells of the others. */
export function ringEnds(bellOf: (thread: number) => Bell): Pick<Site, 'writer' | 'reader' | 'countersOf'> {
  return {
    writer: ({ memory, peer }) => ringWriter(memory, bellOf(peer)),
    reader: ({ memory, peer }) => ringReader(memory, bellOf(peer)),
    countersOf: ({ counters, counted }, channel) => new ChannelCounters(counters, counted, channel),
  };
}

/** The order without what only the starting thread needs. */
export type Wiring = Pick<RunOrder, 'shape' | 'rules' | 'counters' | 'counted' | 'maxParkedBytes' | 'strict'>;

export function assembleExecutor(
  wiring: Wiring,
  order: ExecutorOrder,
  logic: Logic,
  site: Site,
  onFailed: (fault: Fault, travels: boolean) => void,
): Executor {
  const { plan } = logic;
  comparePlans(plan, wiring.shape);
  const segment = plan.segments[order.segment];
  const place: Place = { topology: plan.topology, segment: segment?.name, executor: order.index };
  const opening = segment?.exchange === undefined ? undefined : plan.exchanges[segment.exchange];
  const executor: Executor = new Executor({
    place,
    outbox: outboxOf(wiring, order, logic, site),
    counters: new ExecutorCounters(wiring.counters, order.number),
    nowMs: site.clock.nowMs,
    wake: () => site.pump.wake(),
    sourceErrors: opening?.kind === 'input',
    within: site.within,
    onFailed,
  });
  const outlets = order.outlets.map((outlet) => outlet.exchange);
  const options = { index: order.index, strict: wiring.strict };
  const program = logic.program(order.segment, outlets, executor, options);
  const input =
    logic.feed(order.segment, () => site.pump.nudge(executor)) ?? inboxOf(wiring, order, logic, executor, site);
  executor.start(program, input);
  return executor;
}

export function outboxOf(wiring: Wiring, order: ExecutorOrder, logic: Logic, site: Site): Outbox {
  const outlets = order.outlets.map((outlet) => outletOptions(outlet, wiring, order.number, logic, site));
  return new Outbox(outlets, wiring.maxParkedBytes);
}

export function inboxOf(
  wiring: Wiring,
  order: Pick<ExecutorOrder, 'inputs'>,
  logic: Logic,
  executor: Executor,
  site: Site,
): Inbox {
  const channels = order.inputs.map(({ exchange, channel }) => ({
    reader: site.reader(channel),
    decoder: logic.codec(exchange).decoder(),
    generation: channel.generation,
    counters: site.countersOf(wiring, channel.channel, channel.id),
  }));
  return new Inbox(channels, (fault) => executor.receive(fault));
}

function outletOptions(outlet: OutletOrder, wiring: Wiring, source: number, logic: Logic, site: Site): OutletOptions {
  const { exchange, targets, discard } = outlet;
  const { kind, name, local } = logic.plan.exchanges[exchange] as ExchangePlan;
  const near = local ? targets.flatMap((target, index) => (target.peer === site.thread ? [index] : [])) : [];
  return {
    route: { kind, fn: logic.route(exchange), name, near },
    discard: discard === undefined ? undefined : site.countersOf(wiring, discard, `${name}:discarded`),
    targets: targets.map((channel) => ({
      writer: site.writer(channel),
      codec: logic.codec(exchange),
      rule: wiring.rules[exchange] as (typeof wiring.rules)[number],
      counters: site.countersOf(wiring, channel.channel, channel.id),
      generation: channel.generation,
      source,
    })),
  };
}
