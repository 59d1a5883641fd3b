/**
 * The orders of a run: what each thread is told, from its job and its wires.
 * Owns nothing: it puts together what was decided.
 */

import type { Wiring } from './assemble.js';
import type { RunJob } from './job.js';
import type { RunOrder } from './order.js';
import { planShape } from './plan.js';
import type { Wires } from './wiring.js';

/** `lookAgain`: there are no more threads than cores. */
export function orderFor(thread: number, job: RunJob, wires: Wires, lookAgain: boolean): RunOrder {
  const { id, topology, args } = job;
  const orders = wires.executors.filter((executor) => executor.thread === thread).map(({ order }) => order);
  return { version: 1, run: id, topology, args, executors: orders, lookAgain, ...wiringOf(job, wires) };
}

/** What all executors of a run have in common. */
export function wiringOf({ logic, settings }: RunJob, { counters, counted }: Wires): Wiring {
  const { rules, maxParkedBytes, strict } = settings;
  return { shape: planShape(logic.plan), rules, maxParkedBytes, strict, counters, counted };
}
