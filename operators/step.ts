/**
 * A step: one operator between two cuts, as recorded.
 * Owns the contract every operator file fulfils: a plain RxJS operator and, where it is lowered, a kernel.
 * Never runs a step itself.
 */

import type { ObservableInput, OperatorFunction } from 'rxjs';
import { streamScoped, type Traits } from './traits.js';

/** What a kernel may do with its downstream. Calls reach the following steps before they return. */
export interface Out {
  /** Hands one output over at once. */
  emit(value: unknown): void;
  /** Completes downstream and closes upstream: running iterators are returned, the rest of the input is discarded. */
  sendComplete(): void;
  /**
   * Hands over what the iterator yields, suspended between outputs while there is no room behind the segment.
   * `done` runs after the last one; not when the step is closed before.
   */
  iterate(iterator: Iterator<unknown>, done: () => void): void;
  /**
   * Subscribes an asynchronous inner until the step is closed. Its outputs and `done` enter behind the step, in order,
   * whenever they come. True: it reads a stream of this segment, so holding the input back would starve it.
   */
  observe(input: ObservableInput<unknown>, done: () => void): boolean;
  /** While held, nothing upstream hands over and the executor takes no input. Calls nest. */
  hold(): void;
  release(): void;
}

/**
 * The lowered form of an operator: a state machine without clock, thread or Rx.
 * What it throws is an error notification at this step.
 */
export interface Kernel {
  /** What comes before the first value: handed over, and suspended, before the stage above is subscribed. */
  start?(): Iterator<unknown>;
  next(value: unknown): void;
  /** An error passes by; it goes downstream afterwards in any case. */
  error?(reason: unknown): void;
  /** The stream above has ended. Default: complete downstream. */
  complete?(): void;
  /** The step was closed from below or torn down: let go of what is open. */
  stop?(): void;
}

export type Lower = (out: Out) => Kernel;

export interface Step {
  readonly traits: Traits;
  /** For messages: the name with its plain arguments, as in take(10). */
  readonly label: string;
  /** The operator on a plain Observable. */
  readonly plain: OperatorFunction<unknown, unknown>;
  /** Present when it runs as a step of the loop; else it is opaque. */
  readonly lower?: Lower | undefined;
  /** Observables among its arguments, to find those of other segments. */
  readonly others: readonly unknown[];
}

/** What is known of an operator that came from RxJS or from the user: nothing. */
export const unknownTraits: Traits = streamScoped('operator');

export function opaque(plain: OperatorFunction<unknown, unknown>): Step {
  return { traits: unknownTraits, label: 'an operator', plain, others: [] };
}
