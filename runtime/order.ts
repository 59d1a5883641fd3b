/**
 * What threads are told: the order from which an executor starts, and the messages around it. Plain and cloneable.
 * Owns the formats. Never holds functions: each thread imports the module and builds it.
 */

import type { BatchRule } from './batch.js';
import type { Fault } from './fault.js';

/** Number of the calling thread among those of a runtime; threads of the pool count from 1. */
export const callerThread = 0;

/** One end of a channel. */
export interface ChannelOrder {
  /** `exchange:producer->consumer`. */
  readonly id: string;
  /** Index of its counters. */
  readonly channel: number;
  readonly memory: SharedArrayBuffer;
  readonly generation: number;
  /** The thread at the other end, whose bell is rung. */
  readonly peer: number;
}

export interface OutletOrder {
  readonly exchange: number;
  /** One per consuming executor, by index. */
  readonly targets: readonly ChannelOrder[];
  /** Nobody takes this output: it is counted by this channel's counters and thrown away. */
  readonly discard?: number;
}

export interface ExecutorOrder {
  /** Number in the run, in plan order. */
  readonly number: number;
  readonly segment: number;
  readonly index: number;
  readonly inputs: readonly { readonly exchange: number; readonly channel: ChannelOrder }[];
  readonly outlets: readonly OutletOrder[];
}

/** How a thread finds a topology: by name, or by its place among those its module has created. */
export interface TopologyId {
  readonly module: string;
  readonly name: string | undefined;
  readonly place: number;
  /** Topologies and sources the module has created on the caller's thread, and their names: compared. */
  readonly siblings: readonly (string | null)[];
}

/** The part of a MessagePort that is used. */
export interface Port {
  postMessage(message: unknown): void;
  on(event: string, listener: (message: unknown) => void): unknown;
}

export interface RunOrder {
  readonly version: 1;
  readonly run: string;
  readonly topology: TopologyId;
  readonly args: readonly unknown[];
  /** The caller's plan, for comparison. */
  readonly shape: string;
  readonly executors: readonly ExecutorOrder[];
  /** By exchange. */
  readonly rules: readonly BatchRule[];
  readonly maxParkedBytes: number;
  readonly strict: boolean;
  readonly counters: SharedArrayBuffer;
  /** Executors that have counters. */
  readonly counted: number;
  /** No more threads than cores: looking again before falling asleep pays. */
  readonly lookAgain: boolean;
}

/** To a thread. A bare number is a poke. */
export type ToThread =
  | { readonly kind: 'run'; readonly order: RunOrder }
  | { readonly kind: 'flush' | 'drain' | 'stop' | 'look'; readonly run: string }
  | { readonly kind: 'peer'; readonly thread: number; readonly cell: SharedArrayBuffer; readonly port: Port };

/** From a thread. */
export type FromThread =
  | { readonly kind: 'started'; readonly run: string }
  /** `printing`: what it has printed is still under way, `quiet` follows. */
  | { readonly kind: 'stopped'; readonly run: string; readonly printing: boolean }
  | { readonly kind: 'quiet' }
  /** An error that belongs to no run was thrown on it. */
  | { readonly kind: 'broken'; readonly fault: Fault }
  /** It was told to look, and has looked. */
  | { readonly kind: 'looked'; readonly run: string }
  /** A fault arose; it also travels through the channels, unless nobody takes what its executor emits. */
  | { readonly kind: 'fault'; readonly run: string; readonly fault: Fault; readonly travels: boolean }
  | { readonly kind: 'failed'; readonly run: string; readonly fault: Fault };

export const poke = 0;

/** What a thread is born with. */
export interface Birth {
  readonly thread: number;
  readonly cell: SharedArrayBuffer;
  readonly callerCell: SharedArrayBuffer;
}
