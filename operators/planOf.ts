/**
 * From graph to plan: the JSON that threads compare and `describe` prints.
 * Owns the order analysis: which order still holds behind each exchange.
 */

import { caller, type ExchangePlan, type Order, type Plan, type SegmentPlan } from '../runtime/plan.js';
import type { Exchange, Graph, Segment, Tap } from './graph.js';
import { type Node, nodesUpTo, shortSite } from './recording.js';
import { scopeOf } from './scope.js';

export function planOf(topology: string, graph: Graph): Plan {
  const orders = ordersOf(graph);
  return {
    version: 1,
    topology,
    segments: graph.segments.map((segment) => segmentPlan(segment, graph)),
    exchanges: graph.exchanges.map((exchange, index) => exchangePlan(exchange, orders[index] as Order)),
    outputs: graph.outputs,
    get warnings() {
      return warnings(graph, orders);
    },
  };
}

function segmentPlan(segment: Segment, graph: Graph): SegmentPlan {
  const { name, parallelism, exchange } = segment;
  const steps = segment.steps.map((node) => ({
    name: node.step.label,
    scope: scopeOf(node, segment, graph),
    opaque: node.step.lower === undefined,
    get at() {
      return node.at;
    },
  }));
  return { name, parallelism, ...(exchange === undefined ? {} : { exchange }), steps };
}

function exchangePlan(exchange: Exchange, order: Order): ExchangePlan {
  const { name, kind, taps, to, options } = exchange;
  const codec = typeof options.codec === 'object' ? options.codec.name : (options.codec ?? 'auto');
  const from = [...new Set(taps.map((tap) => tap.segment))];
  return { name, kind, from, to, order, local: options.local === true, batch: options.batch, codec };
}

/** What an exchange keeps of the source's order; of `key`, the selector, while the values are still those it was asked about. */
interface Kept {
  readonly order: Order;
  readonly selector?: Exchange['fn'];
}

const none: Kept = { order: 'none' };
const total: Kept = { order: 'total' };

/**
 * The order law: per-key order holds along a path on which all values of a key pass one executor at a time.
 * A segment of one executor keeps the order it is fed in; several executors keep that of a key behind keyBy. It lasts up to
 * several executors that are not reached by the same keyBy. An exchange with several producing streams keeps none.
 */
function ordersOf(graph: Graph): readonly Order[] {
  const kept: Kept[] = [];
  // Exchanges are recorded after what they consume, so one pass suffices.
  for (const exchange of graph.exchanges) {
    const [tap, ...others] = exchange.taps;
    kept.push(tap === undefined || others.length > 0 ? none : keptBehind(tap, exchange, graph, kept));
  }
  return kept.map(({ order }) => order);
}

function keptBehind({ segment: from, node }: Tap, exchange: Exchange, graph: Graph, kept: readonly Kept[]): Kept {
  if (from === caller) return total;
  const segment = graph.segments[from] as Segment;
  if (segment.exchange === undefined) return total;
  const before = kept[segment.exchange] as Kept;
  const several = segment.parallelism > 1;
  if (before.order === 'none' || (before.order === 'total' && !several)) return before;
  const opening = graph.exchanges[segment.exchange] as Exchange;
  if (several && opening.kind !== 'keyBy') return none;
  const selector = isUnchanged(node, segment) ? (several ? opening.fn : before.selector) : undefined;
  const alike = exchange.kind === 'keyBy' ? exchange.fn === selector : receivers(exchange, graph) === 1;
  return alike ? { order: 'key', selector } : none;
}

function receivers({ to }: Exchange, graph: Graph): number {
  return graph.segments[to]?.parallelism ?? 1;
}

/** Steps that hand on the very values they get, so that a selector says of them what it said before. */
const passing = new Set([
  'filter',
  'tap',
  'take',
  'takeWhile',
  'skip',
  'skipWhile',
  'distinct',
  'distinctByKey',
  'distinctUntilChanged',
  'distinctUntilKeyChanged',
]);

function isUnchanged(node: Node, { head }: Segment): boolean {
  return [...nodesUpTo(head, node)].every((part) => part.kind !== 'step' || passing.has(part.step.traits.name));
}

function warnings(graph: Graph, orders: readonly Order[]): readonly string[] {
  const found: string[] = [];
  graph.exchanges.forEach((exchange, index) => {
    if (exchange.kind !== 'keyBy' || orders[index] !== 'none') return;
    const from = new Set(exchange.taps.map((tap) => graph.segments[tap.segment]?.name ?? 'the caller'));
    found.push(
      `no order holds at ${exchange.name}: values of one key reach it through several executors or streams (${[...from].join(', ')})`,
    );
  });
  const opaque = graph.segments.flatMap((segment) =>
    segment.steps.filter((node) => node.step.traits.name === 'operator'),
  );
  if (opaque.length > 0) {
    const places = [...new Set(opaque.map((node) => shortSite(node.at)))].join(', ');
    found.push(
      `${opaque.length} opaque step${opaque.length === 1 ? '' : 's'} (${places}): what comes from rxjs, import from millrace/operators`,
    );
  }
  const unused = graph.unused.filter((node) => !graph.unused.some((other) => other.parents.includes(node)));
  for (const node of unused)
    found.push(`a branch recorded at ${shortSite(node.at)} reaches no output and does not run by itself`);
  return found;
}
