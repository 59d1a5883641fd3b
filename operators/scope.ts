/**
 * The scope rules: which steps may run on several executors.
 * Owns the refusals ERR_SCOPE, ERR_KEY_LOST (where the traits show it) and fan-in over segments inside an operator.
 * Never guesses: an operator of which nothing is known is stream-scoped.
 */

import { MillraceError, type Place } from '../runtime/errors.js';
import { Flow } from './flow.js';
import type { Graph, Segment } from './graph.js';
import { type Node, type StepNode, shortSite } from './recording.js';
import type { Scope } from './traits.js';

/** Scope of a step where it stands: `groupBy` is key-scoped in a keyed segment, perExecutor(…) lifts the rule. */
export function scopeOf(node: StepNode, segment: Segment, graph: Graph): Scope {
  if (node.perExecutor) return 'value';
  const { scope, name } = node.step.traits;
  return name === 'groupBy' && isKeyed(segment, graph) ? 'key' : scope;
}

export function isKeyed(segment: Segment, graph: Graph): boolean {
  return segment.exchange !== undefined && graph.exchanges[segment.exchange]?.kind === 'keyBy';
}

export function checkScopes(graph: Graph, topology: string): void {
  for (const segment of graph.segments) {
    for (const node of segment.steps) {
      const place = { topology, segment: segment.name, operator: node.step.traits.name, at: node.at };
      const scope = scopeOf(node, segment, graph);
      if (scope === 'stream' && segment.parallelism > 1) throw streamScoped(node, segment, place);
      if (scope === 'key' && node.step.traits.name !== 'groupBy') checkKeyScoped(node, segment, graph, place);
      checkFanIn(node, segment, graph, place);
    }
  }
}

function streamScoped(node: StepNode, segment: Segment, place: Place): MillraceError {
  const { label, traits } = node.step;
  const { parallelism, name } = segment;
  const effect = traits.onSeveral?.(parallelism, label) ?? 'see only its own part of the values on each';
  const cures = [
    'put it after gather()',
    'set parallelism 1',
    ...(traits.byKey === undefined ? [] : [`use ${traits.byKey}`]),
  ];
  return new MillraceError(
    'ERR_SCOPE',
    `${label} (pipe at ${shortSite(node.at)}) in segment ${JSON.stringify(name)} would run on ${parallelism} executors and ${effect}. ` +
      `${cures.join(', ').replace(/^./, (first) => first.toUpperCase())}, or say perExecutor(${label}) if that is meant`,
    place,
  );
}

function checkKeyScoped(node: StepNode, segment: Segment, graph: Graph, place: Place): void {
  const { label } = node.step;
  if (!isKeyed(segment, graph)) {
    const opened = segment.exchange === undefined ? 'a pull' : `${graph.exchanges[segment.exchange]?.kind}()`;
    throw new MillraceError(
      'ERR_SCOPE',
      `${label} in segment ${JSON.stringify(segment.name)} works per key, but the segment is opened by ${opened}. Put keyBy() before it`,
      place,
    );
  }
  for (let at = node.parents[0] as Node; at.kind === 'step'; at = at.parents[0] as Node) {
    const { traits } = at.step;
    if (at.step.lower !== undefined && !traits.timed) continue;
    throw new MillraceError(
      'ERR_KEY_LOST',
      `${label} stands behind ${at.step.label} (pipe at ${shortSite(at.at)}), which may emit at any time, so the key is unknown. ` +
        'Put keyBy() directly before it',
      place,
    );
  }
}

/** Operators that wait for one input while another fills: over bounded channels they deadlock in a diamond. */
const ordered = new Set([
  'zipWith',
  'concatWith',
  'combineLatestWith',
  'withLatestFrom',
  'sequenceEqual',
  'zipAll',
  'concatAll',
]);

function checkFanIn(node: StepNode, segment: Segment, graph: Graph, place: Place): void {
  for (const other of node.step.others) {
    const from = Flow.nodeOf(other);
    if (from === undefined || from.recording !== node.recording) continue;
    const there = graph.segmentOf.get(from);
    if (there === undefined || graph.segments[there] === segment) continue;
    const names = `${JSON.stringify(segment.name)} and ${JSON.stringify(graph.segments[there]?.name ?? 'the caller')}`;
    const { name, label } = { name: node.step.traits.name, label: node.step.label };
    if (ordered.has(name)) {
      throw new MillraceError(
        'ERR_ORDERED_FAN_IN',
        `${label} would join segments ${names} in order; over bounded channels that deadlocks. ` +
          'Use union() and tell the streams apart by a tag, or keep both in one segment',
        place,
      );
    }
    throw new MillraceError(
      'ERR_FLOW_SUBSCRIBED',
      `${label} uses a stream of another segment (${names}). Use union(), the only fan-in across segments, or keep both in one segment`,
      place,
    );
  }
}
