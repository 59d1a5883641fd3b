/**
 * From a plan to orders: executors numbered and placed, a ring for every directed pair, names of channels.
 * Owns the rings of one run. Pure otherwise: it starts nothing.
 */

import { createCounters, type RunMetrics, readChannel, readExecutor } from './metrics.js';
import { type ChannelOrder, callerThread, type ExecutorOrder, type OutletOrder } from './order.js';
import { caller, type ExchangePlan, type Plan, pairs } from './plan.js';
import { ringBytes } from './ring.js';
import type { PooledRing } from './rings.js';

export interface NamedChannel {
  readonly id: string;
}

export interface PlacedExecutor {
  readonly id: string;
  /** Number of its thread in the runtime. */
  readonly thread: number;
  readonly order: ExecutorOrder;
}

export interface Wires {
  readonly executors: readonly PlacedExecutor[];
  /** What the caller sends: one outlet per exchange fed by the input. */
  readonly callerOutlets: readonly OutletOrder[];
  /** What the caller receives, by exchange. */
  readonly outputs: ReadonlyMap<number, ExecutorOrder['inputs']>;
  readonly channels: readonly NamedChannel[];
  readonly counters: SharedArrayBuffer;
  /** Executors with counters: those of the plan, then the caller's sending end. */
  readonly counted: number;
  readonly rings: readonly PooledRing[];
}

interface Slot {
  readonly segment: number;
  readonly index: number;
  readonly thread: number;
  readonly inputs: { exchange: number; channel: ChannelOrder }[];
  readonly outlets: OutletOrder[];
}

export function wire(
  plan: Plan,
  threadOf: (executor: number) => number,
  wanted: ReadonlySet<number>,
  takeRing: (bytes: number) => PooledRing,
): Wires {
  const slots = plan.segments.flatMap((segment, index) =>
    Array.from({ length: segment.parallelism }, (_, i) => ({ segment: index, index: i })),
  );
  const placed: Slot[] = slots.map((slot, i) => ({ ...slot, thread: threadOf(i), inputs: [], outlets: [] }));
  const edge = (): Slot => ({ segment: caller, index: 0, thread: callerThread, inputs: [], outlets: [] });
  const callerIn = edge();
  const outputs = new Map(plan.outputs.filter((output) => wanted.has(output)).map((output) => [output, edge()]));
  const channels: NamedChannel[] = [];
  const rings: PooledRing[] = [];

  plan.exchanges.forEach((exchange, index) => {
    const producers = exchange.from.flatMap((segment) => ends(placed, segment, callerIn));
    if (exchange.kind === 'output' && !wanted.has(index)) {
      for (const producer of producers) {
        producer.outlets.push({
          exchange: index,
          targets: [],
          discard: channels.push({ id: channelId(exchange, plan, producer) }) - 1,
        });
      }
      return;
    }
    const consumers = ends(placed, exchange.to, outputs.get(index) ?? callerIn);
    const bytes = ringBytes(pairs(plan, exchange));
    for (const producer of producers) {
      const targets = consumers.map((consumer): ChannelOrder => {
        const ring = takeRing(bytes);
        rings.push(ring);
        const id = channelId(exchange, plan, producer, consumer);
        const channel = channels.push({ id }) - 1;
        const { memory, generation } = ring;
        consumer.inputs.push({ exchange: index, channel: { id, channel, memory, generation, peer: producer.thread } });
        return { id, channel, memory, generation, peer: consumer.thread };
      });
      producer.outlets.push({ exchange: index, targets });
    }
  });

  const counted = placed.length + 1;
  return {
    executors: placed.map((slot, number) => placedExecutor(slot, number, plan)),
    callerOutlets: callerIn.outlets,
    outputs: new Map([...outputs].map(([output, slot]) => [output, slot.inputs])),
    channels,
    counters: createCounters(counted, channels.length),
    counted,
    rings,
  };
}

/** Shared memory the rings of a plan take. */
export function sharedBytes(plan: Plan): number {
  return plan.exchanges.reduce((sum, exchange) => sum + pairs(plan, exchange) * ringBytes(pairs(plan, exchange)), 0);
}

/** What the counters say now. A run's input is what the caller sent, or what its pulls took. */
export function readCounters(
  { executors, channels, counters, counted }: Wires,
  plan: Plan,
  threadIndex: (thread: number) => number,
): Pick<RunMetrics, 'in' | 'executors' | 'channels'> {
  const read = executors.map(({ id, thread, order }) => readExecutor(counters, order.number, id, threadIndex(thread)));
  const pulled = executors.map(({ order }, i) =>
    plan.segments[order.segment]?.exchange === undefined ? (read[i]?.in ?? 0) : 0,
  );
  const sent = readExecutor(counters, counted - 1, 'caller', -1).in;
  return {
    in: pulled.reduce((sum, count) => sum + count, sent),
    executors: read,
    channels: channels.map(({ id }, index) => readChannel(counters, counted, index, id)),
  };
}

function ends(placed: readonly Slot[], segment: number, callerEnd: Slot): readonly Slot[] {
  return segment === caller ? [callerEnd] : placed.filter((slot) => slot.segment === segment);
}

function placedExecutor({ segment, index, thread, inputs, outlets }: Slot, number: number, plan: Plan): PlacedExecutor {
  return { id: executorId(plan, segment, index), thread, order: { number, segment, index, inputs, outlets } };
}

function executorId(plan: Plan, segment: number, index: number): string {
  return segment === caller ? 'caller' : `${plan.segments[segment]?.name}/${index}`;
}

function channelId(exchange: ExchangePlan, plan: Plan, from: Slot, to?: Slot): string {
  const target = to === undefined ? 'discarded' : executorId(plan, to.segment, to.index);
  return `${exchange.name}:${executorId(plan, from.segment, from.index)}->${target}`;
}
