/**
 * The plan for people: as data, text and Mermaid.
 * Owns the wording. Never makes or changes a plan.
 */

import { caller, type ExchangePlan, type Plan, type SegmentPlan, type StepPlan } from '../runtime/plan.js';
import { sharedBytes } from '../runtime/wiring.js';

export interface PlanDescription {
  readonly version: 1;
  readonly segments: readonly {
    readonly name: string;
    readonly parallelism: number;
    readonly steps: readonly StepPlan[];
  }[];
  readonly exchanges: readonly {
    readonly name: string;
    readonly kind: string;
    readonly from: readonly string[];
    readonly to: string;
    readonly order: 'total' | 'key' | 'none';
  }[];
  readonly outputs: readonly string[];
  /** Bytes of shared memory its rings take. */
  readonly sharedBytes: number;
  readonly warnings: readonly string[];
  toString(): string;
  toMermaid(): string;
}

/** `threads` gives each executor its thread, for the printed placement. */
export function describePlan(plan: Plan, threads: readonly number[]): PlanDescription {
  const nameOf = (segment: number): string =>
    segment === caller ? 'caller' : (plan.segments[segment] as SegmentPlan).name;
  const description = {
    version: 1 as const,
    segments: plan.segments.map(({ name, parallelism, steps }) => ({ name, parallelism, steps })),
    exchanges: plan.exchanges.map(({ name, kind, from, to, order }) => ({
      name,
      kind,
      from: from.map(nameOf),
      to: nameOf(to),
      order,
    })),
    outputs: plan.outputs.map((output) => (plan.exchanges[output] as ExchangePlan).name),
    sharedBytes: sharedBytes(plan),
    get warnings() {
      return plan.warnings;
    },
  };
  const hidden = {
    toString: { value: () => textOf(description, plan.topology, threads) },
    toMermaid: { value: () => mermaidOf(description) },
  };
  return Object.defineProperties(description, hidden) as unknown as PlanDescription;
}

type Described = Omit<PlanDescription, 'toString' | 'toMermaid'>;

function textOf(plan: Described, topology: string, threads: readonly number[]): string {
  const lines = [`topology ${topology}`];
  let executor = 0;
  for (const segment of plan.segments) {
    const exchange = plan.exchanges.find(({ to }) => to === segment.name);
    const opened =
      exchange === undefined ? 'pull' : `${exchange.kind} from ${exchange.from.join(', ')}, order ${exchange.order}`;
    const placed = Array.from({ length: segment.parallelism }, () => placeName(threads[executor++]));
    lines.push(`  ${segment.name} × ${segment.parallelism} on ${placed.join(', ')}  (${opened})`);
    for (const step of segment.steps) lines.push(`    ${step.name}  ${step.scope}${step.opaque ? ', opaque' : ''}`);
  }
  for (const name of plan.outputs) {
    const output = plan.exchanges.find((exchange) => exchange.name === name && exchange.to === 'caller');
    lines.push(`  → ${name} from ${output?.from.join(', ')}, order ${output?.order}`);
  }
  lines.push(`  shared memory ${Math.ceil(plan.sharedBytes / 1024)} KiB`);
  for (const warning of plan.warnings) lines.push(`  ! ${warning}`);
  return lines.join('\n');
}

function placeName(thread: number | undefined): string {
  return thread === undefined || thread < 0 ? 'the calling thread' : `thread ${thread + 1}`;
}

function mermaidOf(plan: Described): string {
  const ids = new Map(
    ['caller', ...plan.segments.map((segment) => segment.name)].map((name, index) => [name, `n${index}`]),
  );
  const lines = ['flowchart LR', `  ${ids.get('caller')}(["caller"])`];
  for (const { name, parallelism, steps } of plan.segments) {
    const label = [`${name} × ${parallelism}`, ...steps.map((step) => step.name)].map(escaped).join('<br/>');
    lines.push(`  ${ids.get(name)}["${label}"]`);
  }
  for (const { name, kind, from, to } of plan.exchanges) {
    const label = escaped(kind === 'output' || name === kind ? name : `${name}: ${kind}`);
    for (const producer of from) lines.push(`  ${ids.get(producer)} -->|"${label}"| ${ids.get(to)}`);
  }
  return lines.join('\n');
}

/** What Mermaid would read as the end of a label, as markup or as an entity. */
function escaped(text: string): string {
  return text.replace(/[\n\r]+/g, ' ').replace(/["#&<>`]/g, (char) => `#${char.charCodeAt(0)};`);
}
