/**
 * A run as the app sees it: one subscription of a topology, handed to `onRun` and listed by the runtime.
 * Owns the view, and the channel on which stalls are reported; `runtime/run.ts` is the run.
 */

import { channel } from 'node:diagnostics_channel';

import type { RunMetrics } from '../runtime/metrics.js';
import type { Run as RuntimeRun } from '../runtime/run.js';
import type { StallReport } from '../runtime/stall.js';
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
  /** Who waits for whom, and for how long: at any time, also when nothing is wrong. */
  explainStall(): StallReport;
}

const stalls = channel('millrace:stall');

/** Says on the diagnostics channel `millrace:stall` that nothing moves in a run. */
export function reportStall(run: Run, report: StallReport): void {
  stalls.publish({ run, report });
}

export function viewOf(id: string, plan: PlanDescription, topology: string, run: RuntimeRun): Run {
  return {
    id,
    topology,
    plan,
    metrics: () => run.metrics(),
    flush: () => run.flush(),
    drain: () => run.drain(),
    explainStall: () => run.explainStall(),
  };
}
