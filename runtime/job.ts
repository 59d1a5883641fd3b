/**
 * What a run is made of: everything one subscription asks for, decided and checked by those above.
 * Owns the two contracts, no state.
 */

import type { BatchRule } from './batch.js';
import type { OutputSink } from './callerEnds.js';
import type { Host } from './host.js';
import type { Input } from './input.js';
import type { Build, Logic } from './logic.js';
import type { TopologyId } from './order.js';
import type { Sender } from './pushInput.js';
import type { StallReport } from './stall.js';

export interface RunSettings {
  readonly threads: number | undefined;
  /** By exchange. */
  readonly rules: readonly BatchRule[];
  readonly maxParkedBytes: number;
  readonly stopMs: number;
  readonly startTimeoutMs: number;
  readonly stallMs: number;
  readonly hangMs: number;
  readonly strict: boolean;
}

/** The input, for the executor that sends it; `wake` has it look at the input. */
export type MakeInput = (wake: () => void, sender: Sender) => Input;

export interface RunJob {
  readonly id: string;
  readonly topology: TopologyId;
  readonly args: readonly unknown[];
  /** The caller's own build, for routing and decoding. */
  readonly logic: Logic;
  /** For executors on the calling thread. */
  readonly build: Build;
  readonly host: Host;
  readonly settings: RunSettings;
  /** By exchange; outputs without a sink are discarded and counted. */
  readonly outputs: ReadonlyMap<number, OutputSink>;
  /** The input of the topology, made for the executor that sends it. None: a source. */
  readonly input?: MakeInput | undefined;
  /** Values of the input that were thrown away for lack of room. */
  readonly dropped: () => number;
  /** Nothing has moved for stallMs. */
  readonly onStall: (report: StallReport) => void;
  /** Called once, when nothing will be delivered any more; with the reason, if there is one. */
  readonly onEnd: (failure: { readonly reason: unknown } | undefined) => void;
}
