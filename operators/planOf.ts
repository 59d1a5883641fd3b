/**
 * From graph to plan: the JSON that threads compare and `describe` prints.
 * Owns the order analysis: which order still holds behind each exchange.
 */

import { caller, type ExchangePlan, type Order, type Plan, type SegmentPlan } from '../runtime/plan.js';
import type { Exchange, Graph, Segment } from './graph.js';
import { shortSite } from './recording.js';
import { scopeOf } from './scope.js';

export function planOf(topology: string, graph: Graph): Plan {
  const orders = ordersOf(graph);
  return {
    version: 1,
    topology,
    segments: graph.segments.map((segment) => segmentPlan(segment, graph)),
    exchanges: graph.exchanges.map((exchange, index) => exchangePlan(exchange, orders[index] as Order)),
    outputs: graph.outputs,
    warnings: warnings(graph, orders),
  };
}

function segmentPlan(segment: Segment, graph: Graph): SegmentPlan {
  const { name, parallelism, exchange } = segment;
  const steps = segment.steps.map((node) => ({
    name: node.step.label,
    scope: scopeOf(node, segment, graph),
    opaque: node.step.lower === undefined,
    at: node.at,
  }));
  return { name, parallelism, ...(exchange === undefined ? {} : { exchange }), steps };
}

function exchangePlan(exchange: Exchange, order: Order): ExchangePlan {
  const { name, kind, taps, to, options } = exchange;
  const codec = typeof options.codec === 'object' ? options.codec.name : (options.codec ?? 'auto');
  const from = [...new Set(taps.map((tap) => tap.segment))];
  return { name, kind, from, to, order, local: options.local === true, batch: options.batch, codec };
}

/**
 * The order law: per-key order holds along a path on which all values of a key pass one executor at a time.
 * A segment of one executor fed in total order keeps it; several executors keep the order of a key only behind keyBy,
 * and only up to another keyBy by the same selector; an exchange with several producing streams keeps none.
 */
function ordersOf(graph: Graph): readonly Order[] {
  const orders: Order[] = [];
  // Exchanges are recorded after what they consume, so one pass suffices.
  for (const exchange of graph.exchanges) {
    const [tap, ...others] = exchange.taps;
    orders.push(tap === undefined || others.length > 0 ? 'none' : orderBehind(tap.segment, exchange, graph, orders));
  }
  return orders;
}

function orderBehind(from: number, exchange: Exchange, graph: Graph, orders: readonly Order[]): Order {
  if (from === caller) return 'total';
  const segment = graph.segments[from] as Segment;
  if (segment.exchange === undefined) return 'total';
  const before = orders[segment.exchange] as Order;
  if (segment.parallelism === 1 && before === 'total') return 'total';
  const opening = graph.exchanges[segment.exchange] as Exchange;
  if (opening.kind !== 'keyBy' || before === 'none') return 'none';
  const alike =
    exchange.kind === 'output' ||
    exchange.kind === 'gather' ||
    (exchange.kind === 'keyBy' && exchange.fn === opening.fn);
  return alike ? 'key' : 'none';
}

function warnings(graph: Graph, orders: readonly Order[]): readonly string[] {
  const found: string[] = [];
  graph.exchanges.forEach((exchange, index) => {
    if (exchange.kind !== 'keyBy' || orders[index] !== 'none') return;
    const from = exchange.taps.map((tap) => graph.segments[tap.segment]?.name ?? 'the caller').join(', ');
    found.push(
      `no order holds at ${exchange.name}: values of one key reach it through several executors or streams (${from})`,
    );
  });
  const opaque = graph.segments.flatMap((segment) =>
    segment.steps.filter((node) => node.step.traits.name === 'operator'),
  );
  if (opaque.length > 0) {
    const places = [...new Set(opaque.map((node) => shortSite(node.at)))].join(', ');
    found.push(
      `${opaque.length} opaque steps (${places}): where they come from rxjs, import them from millrace/operators`,
    );
  }
  const unused = graph.unused.filter((node) => !graph.unused.some((other) => other.parents.includes(node)));
  for (const node of unused)
    found.push(`a branch recorded at ${shortSite(node.at)} reaches no output and does not run by itself`);
  return found;
}
