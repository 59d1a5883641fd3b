/**
 * The scope rules: which steps may run on several executors.
 * Owns the refusals ERR_SCOPE, ERR_KEY_LOST (where the traits show it) and fan-in over segments inside an operator.
 * Never guesses: an operator of which nothing is known is stream-scoped.
 */

import { MillraceError, type Place } from '../runtime/errors.js';
import { caller } from '../runtime/plan.js';
import { capturedBy, type Graph, type Segment } from './graph.js';
import { type Node, nodesUpTo, type StepNode, shortSite } from './recording.js';
import { unknownTraits } from './step.js';
import type { Scope, Traits } from './traits.js';

/** Scope of a step where it stands: `groupBy` is key-scoped in a keyed segment, perExecutor(…) lifts the rule. */
export function scopeOf(node: StepNode, segment: Segment, graph: Graph): Scope {
  const { scope, name } = node.step.traits;
  if (scope === 'stream' && node.perExecutor) return 'value';
  return name === 'groupBy' && isKeyed(segment, graph) ? 'key' : scope;
}

export function isKeyed(segment: Segment, graph: Graph): boolean {
  return segment.exchange !== undefined && graph.exchanges[segment.exchange]?.kind === 'keyBy';
}

export function checkScopes(graph: Graph, topology: string): void {
  for (const segment of graph.segments) {
    for (const [index, node] of segment.steps.entries()) {
      // An operator of the menu has a name; of any other only its position is known.
      const operator = node.step.traits === unknownTraits ? `step ${index + 1}` : node.step.traits.name;
      const place = {
        topology,
        segment: segment.name,
        operator,
        get at() {
          return node.at;
        },
      };
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
  const unknown = traits === unknownTraits;
  const effect = unknown
    ? 'may speak of the whole stream: it is not from millrace/operators'
    : (traits.onSeveral?.(parallelism, label) ?? 'see only its own part of the values on each');
  const cures = [
    ...(unknown ? ['if it comes from rxjs, import it from there'] : []),
    'put it after gather()',
    'set parallelism 1',
    ...(traits.byKey === undefined ? [] : [`use ${traits.byKey}`]),
    ...(traits.name === 'groupBy' ? ['open the segment with keyBy()'] : []),
  ];
  return new MillraceError(
    'ERR_SCOPE',
    `${unknown ? place.operator : label} (pipe at ${shortSite(node.at)}) in segment ${JSON.stringify(name)} would run on ${parallelism} executors and ${effect}. ` +
      `${cures.join(', ').replace(/^./, (first) => first.toUpperCase())}, or say perExecutor(${unknown ? '…' : label}) if that is meant`,
    place,
  );
}

function checkKeyScoped(node: StepNode, segment: Segment, graph: Graph, place: Place): void {
  const { label } = node.step;
  if (!isKeyed(segment, graph)) {
    const { head } = segment;
    const opening = head.kind === 'input' ? 'with the input' : `with ${head.kind === 'cut' ? head.cut : head.kind}()`;
    throw new MillraceError(
      'ERR_SCOPE',
      `${label} (pipe at ${shortSite(node.at)}) in segment ${JSON.stringify(segment.name)} works per key, but the segment begins ${opening}. ` +
        'Put keyBy() before it',
      place,
    );
  }
  const loses = keyLosing(node, segment);
  if (loses === undefined) return;
  throw new MillraceError(
    'ERR_KEY_LOST',
    `${label} stands behind ${loses.step.label} (pipe at ${shortSite(loses.at)}), which may emit what is not of the value under way, so the key is unknown. ` +
      'Put keyBy() directly before it',
    place,
  );
}

/** The nearest step before `node` whose outputs may belong to no value in particular. */
function keyLosing(node: Node, segment: Segment): StepNode | undefined {
  for (const above of nodesUpTo(segment.head, node)) {
    if (above === node || above.kind !== 'step') continue;
    if (above.step.lower === undefined || outOfTurn(above.step.traits)) return above;
  }
  return undefined;
}

/** Emits what came of no value in particular, or of another one than that which is under way. */
function outOfTurn({ timed, holds, startEmits, endEmits, scope }: Traits): boolean {
  return timed || holds || startEmits || (endEmits && scope !== 'key');
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
  const { label, traits } = node.step;
  for (const captured of capturedBy(node)) {
    const foreign = foreignTo(segment, captured);
    if (foreign === undefined) continue;
    const [here, there] = [JSON.stringify(segment.name), segmentOf(foreign, graph)];
    if (ordered.has(traits.name)) {
      throw new MillraceError(
        'ERR_ORDERED_FAN_IN',
        `${label} (pipe at ${shortSite(node.at)}) in segment ${here} would join a stream of ${there} in order; over bounded channels that deadlocks. ` +
          'Use union() and tell the streams apart by a tag, or keep both in one segment',
        place,
      );
    }
    throw new MillraceError(
      'ERR_FLOW_SUBSCRIBED',
      `${label} (pipe at ${shortSite(node.at)}) in segment ${here} uses a stream of ${there}. ` +
        'Use union(), the only fan-in across segments, or keep both in one segment',
      place,
    );
  }
}

/** Where the stream of `node` comes from, if it does not come from the head of `segment`. */
function foreignTo(segment: Segment, node: Node): Node | undefined {
  return [...nodesUpTo(segment.head, node)].find(({ kind }) => kind !== 'step' && kind !== 'union');
}

function segmentOf(head: Node, graph: Graph): string {
  const index = graph.segmentOf.get(head);
  if (index === undefined) return `a segment that reaches no output (cut at ${shortSite(head.at)})`;
  return index === caller ? "the caller's thread" : `segment ${JSON.stringify(graph.segments[index]?.name)}`;
}
