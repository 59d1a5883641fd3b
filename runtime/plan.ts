/**
 * The plan of a topology as plain, versioned JSON: segments, exchanges between them, outputs.
 * Owns the format and the comparison of the plans two threads made of the same module.
 * Never holds functions: each thread adds its own by building the module again.
 */

import type { Batch } from './batch.js';
import { MillraceError } from './errors.js';

/** The caller's thread as producer or consumer of an exchange. */
export const caller = -1;

/** `input` brings the caller's values to the steps before the first cut; `output` brings results back. */
export type ExchangeKind = 'input' | 'shuffle' | 'keyBy' | 'spreadKey' | 'broadcast' | 'gather' | 'route' | 'output';

/** What order still holds for what an exchange delivers; `key`: among the values of one key. */
export type Order = 'total' | 'key' | 'none';

export interface StepPlan {
  readonly name: string;
  readonly scope: 'value' | 'key' | 'stream';
  readonly opaque: boolean;
  readonly at: string;
}

export interface SegmentPlan {
  readonly name: string;
  readonly parallelism: number;
  /** Index of the exchange that opens it; a segment without one begins with a pull. */
  readonly exchange?: number;
  readonly steps: readonly StepPlan[];
}

export interface ExchangePlan {
  readonly name: string;
  readonly kind: ExchangeKind;
  /** Producing segments, or `caller`. */
  readonly from: readonly number[];
  /** Consuming segment, or `caller`. */
  readonly to: number;
  readonly order: Order;
  /** Prefer executors of the producer's thread. */
  readonly local: boolean;
  readonly batch?: Batch | undefined;
  /** Name of the codec. */
  readonly codec: string;
}

export interface Plan {
  readonly version: 1;
  readonly topology: string;
  readonly segments: readonly SegmentPlan[];
  readonly exchanges: readonly ExchangePlan[];
  /** Indices of the exchanges that end at the caller. */
  readonly outputs: readonly number[];
  readonly warnings: readonly string[];
}

/**
 * What must be equal on all threads. Source lines are left out, since loaders move them,
 * and so is what the run options decide.
 */
export function planShape(plan: Plan): string {
  const segments = plan.segments.map(({ name, parallelism, exchange, steps }) => {
    return [name, parallelism, exchange ?? 'pull', steps.map((step) => `${step.name}/${step.scope}/${step.opaque}`)];
  });
  const exchanges = plan.exchanges.map(({ name, kind, from, to, local, codec }) => [
    name,
    kind,
    from,
    to,
    local,
    codec,
  ]);
  return JSON.stringify([plan.version, plan.topology, segments, exchanges, plan.outputs]);
}

/** Refuses a plan that is not the one the caller made, told by its shape. */
export function comparePlans(plan: Plan, shape: string): void {
  const here = planShape(plan);
  if (here === shape) return;
  throw new MillraceError(
    'ERR_PLAN_MISMATCH',
    `build made another plan for an executor than for the caller: ${firstDifference(shape, here)}. ` +
      'build must make the same pipeline for the same args: no randomness, no thread or environment checks',
  );
}

function firstDifference(theirs: string, ours: string): string {
  let at = 0;
  while (at < theirs.length && theirs[at] === ours[at]) at++;
  const from = Math.max(0, at - 20);
  return `caller …${theirs.slice(from, at + 40)}… executor …${ours.slice(from, at + 40)}…`;
}

/** Executors of a segment; the caller counts as one. */
export function width(plan: Plan, segment: number): number {
  return segment === caller ? 1 : (plan.segments[segment] as SegmentPlan).parallelism;
}

/** Directed pairs of executors of an exchange: so many channels it has. */
export function pairs(plan: Plan, exchange: ExchangePlan): number {
  const producers = exchange.from.reduce((sum, segment) => sum + width(plan, segment), 0);
  return producers * width(plan, exchange.to);
}
