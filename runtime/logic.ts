/**
 * What the runtime needs of one build of a topology: the functions that a plan, being JSON, cannot hold.
 * Owns the contract only; `operators/` fulfils it.
 */

import type { Input } from './input.js';
import type { CodecPair } from './payload.js';
import type { Plan } from './plan.js';
import type { Program, ProgramHost } from './program.js';

export interface Logic {
  readonly plan: Plan;
  /** build returned one stream, not a record. */
  readonly single: boolean;
  /** Key selector or route function of an exchange. */
  route(exchange: number): ((value: unknown, executors: number) => unknown) | undefined;
  codec(exchange: number): CodecPair;
  /** The program of a segment; `outlets` are exchanges, in the order of the host's emit functions. */
  program(segment: number, outlets: readonly number[], host: ProgramHost, options: ProgramOptions): Program;
  /** The source a segment begins with, where no exchange opens it. */
  feed(segment: number, wake: () => void): Input | undefined;
}

export interface ProgramOptions {
  /** Index of the executor in its segment. */
  readonly index: number;
  /** Evaluate the key again and compare. */
  readonly strict: boolean;
}

/** Builds a topology once more; called once per executor. */
export type Build = () => Logic;
