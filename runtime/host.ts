/**
 * What runs stand on: time, threads, memory and the calling thread's own place among them. Two hosts fulfil it: worker threads
 * (pool.ts), and one thread that plays them all in virtual time (simulatedHost.ts).
 * Owns the contract, no state. Nothing above a host knows which one it has.
 */

import type { Site } from './assemble.js';
import type { Bell } from './channel.js';
import type { Clock } from './clock.js';
import type { MillraceError } from './errors.js';
import type { Fault } from './fault.js';
import type { ToThread } from './order.js';
import type { PooledRing } from './rings.js';

export interface Host {
  /** Of the calling thread. */
  readonly clock: Clock;
  /** Threads it has at most. */
  readonly size: number;
  /** Threads that can work at the same time. */
  readonly cores: number;
  readonly closed: boolean;
  /** The threads of a run: those with the fewest runs. */
  take(count: number): readonly HostThread[];
  /** The calling thread, within a run on these threads. */
  site(threads: readonly HostThread[]): Site;
  /** For a caller that is held: its executors work. Says whether they did anything. */
  work(): boolean;
  /** A batch of theirs waits for its age. */
  readonly ages: boolean;
  /** For the same: stands still until its bell rings, `ms` at most, and hears what its threads have said. False: time stands still as well. */
  rest(ms: number): boolean;
  /** The caller is held from now on, or no longer. */
  hold(on: boolean): void;
  takeRing(bytes: number): PooledRing;
  giveRing(ring: PooledRing): void;
  /** Whether runs are to be watched: not where whatever stands still is known at once. */
  readonly watched: boolean;
  /** The runs have been told to stop; resolves when all threads are gone. */
  close(): Promise<void>;
}

/** A thread as a run sees it. */
export interface HostThread {
  readonly number: number;
  readonly bell: Bell;
  /** In which it says how it is. */
  readonly cell: SharedArrayBuffer;
  tell(message: ToThread): void;
  /** Binds a run to this thread until it is released. */
  hold(run: string, events: ThreadEvents): void;
  release(run: string): void;
  /** Gives both threads a doorbell to the other. */
  link(other: HostThread): void;
  /** Ends the thread; all runs on it are told that `run` caused it, and that run `why`. */
  terminate(run: string, why?: string): Promise<unknown>;
}

/** What a run hears of its threads. */
export interface ThreadEvents {
  started(thread: HostThread): void;
  failed(thread: HostThread, reason: unknown): void;
  /** A fault arose in an executor; `travels` if it comes through the channels as well. */
  faulted(fault: Fault, travels: boolean): void;
  stopped(thread: HostThread): void;
  /** An error that belongs to no run was thrown on the thread while this one was on it. */
  broken(reason: MillraceError): void;
  /** A thread has looked at its channels, as it was told. */
  answered(): void;
  /** The thread is gone; `reason` says why. */
  lost(thread: HostThread, reason: MillraceError): void;
}
