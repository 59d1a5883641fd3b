/**
 * The contract between an executor and what it runs.
 * A program turns input values into outputs for outlets; it can stop between two outputs and go on later.
 * Owns nothing: `operators/` implements it from recorded steps, the executor drives it.
 */

import type { Place } from './errors.js';

/** What a program sees of its executor. */
export interface ProgramHost {
  /** False while an outlet has frames it could not send: a program that can suspend does. */
  readonly room: boolean;
  /** There is something to do outside a call of the executor. */
  wake(): void;
  /** The source can give nothing more until what was emitted is through: batches leave as they are. */
  starved(): void;
  /** One function per outlet, decided when lowering. It throws what routing or encoding throws. */
  readonly emit: readonly ((value: unknown) => void)[];
  /** The outlet has all its values. */
  end(outlet: number): void;
  /** An error no step took: it ends the run. `arose` says whether the source or a step raised it. */
  fail(reason: unknown, arose: 'source' | 'step', place: Place): void;
}

export interface Program {
  /** Subscribes the steps, from the outlets up. */
  start(): void;
  /** One input value. Only while `ready`. */
  next(value: unknown): void;
  /** The input has ended. Only while `subscribed` and not `suspended`. */
  complete(): void;
  /** The source this segment begins with failed. */
  error(reason: unknown): void;
  /** Continues what is suspended, as far as there is room. */
  resume(): void;
  readonly suspended: boolean;
  /** Its steps have subscribed their source. */
  readonly subscribed: boolean;
  /** Takes input: subscribed, not `finished`, nothing is suspended and no step holds. Asked before each value. */
  readonly ready: boolean;
  /** No step wants input any more. Asked only while not `suspended` and before `complete`. */
  readonly finished: boolean;
  /** Something of it may happen without input or room: a step is opaque, or an asynchronous inner is open. */
  readonly restless: boolean;
  /** Nobody takes what this outlet emits. */
  closeOutlet(outlet: number): void;
  /** Lets go of everything; nothing is emitted afterwards. */
  stop(): void;
}
