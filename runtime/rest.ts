/**
 * What an executor that does nothing waits for, as it is written down when its thread falls asleep.
 * Owns the order of the answers: who has no room takes no input, whatever its steps may be at.
 */

import type { Waits } from './metrics.js';
import type { Outbox } from './outbox.js';
import type { Program } from './program.js';

/** `over`: it takes and emits nothing any more; `completed`: its program has been told that all input is there. */
export function waitsOf(outbox: Outbox, program: Program, over: boolean, completed: boolean): Waits {
  if (!outbox.room) return 'room';
  if (over) return 'nothing';
  if (program.suspended || completed || !program.ready) return 'promise';
  return outbox.deadlineMs === Number.POSITIVE_INFINITY ? 'input' : 'time';
}
