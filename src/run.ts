/**
 * A run as the app sees it: one subscription of a topology, handed to `onRun` and listed by the runtime.
 * Owns nothing but the view; `runtime/run.ts` is the run.
 */

import type { RunMetrics } from '../runtime/metrics.js';
import type { Run as RuntimeRun } from '../runtime/run.js';
import type { PlanDescription } from './describe.js';

export interface Run {
  readonly id: string;
  /** Name of the topology. */
  readonly topology: string;
  readonly plan: PlanDescription;
  /** Exact counts; readable also after the end. */
  metrics(): RunMetrics;
  /** Sends all open batches now. */
  flush(): void;
  /** Ends the sources, lets everything under way arrive, completes. */
  drain(): void;
}

export function viewOf(id: string, plan: PlanDescription, topology: string, run: RuntimeRun): Run {
  return { id, topology, plan, metrics: () => run.metrics(), flush: () => run.flush(), drain: () => run.drain() };
}
