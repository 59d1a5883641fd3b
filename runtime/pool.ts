/**
 * The threads host: a pool of warm worker threads, the only place that starts one.
 * Owns the threads, the doorbells between them and this thread, and what becomes of runs when a thread dies.
 * Never keeps the process alive: a thread is held only while a run is on it, or what it printed is under way.
 */

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import {
  MessageChannel,
  type MessagePort,
  type ResourceLimits,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import type { Site } from './assemble.js';
import { callerSite, siteWith } from './callerSite.js';
import { type Bell, createBell, createSleepCell } from './channel.js';
import { type Clock, clock } from './clock.js';
import { MillraceError } from './errors.js';
import { fromFault } from './fault.js';
import type { Host, HostThread, ThreadEvents } from './host.js';
import { type Birth, type FromThread, poke, type ToThread } from './order.js';
import { freest } from './placement.js';
import { Residents } from './residents.js';
import { giveRing, type PooledRing, takeRing } from './rings.js';

export interface WorkerOptions {
  readonly resourceLimits?: ResourceLimits;
  readonly env?: NodeJS.ProcessEnv;
  readonly execArgv?: readonly string[];
}

/** How long close() waits for threads to come back from the value they are at. */
const closeMs = 1_000;

export class PoolThread implements HostThread {
  readonly number: number;
  readonly cell: SharedArrayBuffer = createSleepCell();
  readonly bell: Bell;
  readonly #entry: URL;
  readonly #worker: Worker;
  /** A port of our own: a held caller reads it without its event loop, as it cannot that of a worker. */
  readonly #port: MessagePort;
  readonly #residents = new Residents(this);
  readonly #linked = new Set<PoolThread>();
  readonly #onExit: () => void;
  #cause: unknown;
  /** The run that had it terminated: it takes no further ones. */
  #endedBy: string | undefined;
  #why: string | undefined;
  /** An error was thrown on it that belongs to no run: it takes no further ones, and ends after those it has. */
  #broken = false;
  /** How often it has announced that it will be quiet again. */
  #printing = 0;
  #whenIdle: (() => void)[] = [];

  constructor(number: number, entry: URL, options: WorkerOptions, onExit: () => void) {
    this.number = number;
    this.#entry = entry;
    this.#onExit = onExit;
    const { cell: callerCell, pump } = callerSite();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const birth: Birth & { readonly port: MessagePort } = { thread: number, cell: this.cell, callerCell, port: port2 };
    this.#worker = new Worker(entry, {
      name: `millrace-${number}`,
      workerData: { millrace: birth },
      transferList: [port2],
      // What a module reads from the command line has the same value on a thread.
      argv: process.argv.slice(2),
      execArgv: [...(options.execArgv ?? inheritedFlags())],
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.resourceLimits === undefined ? {} : { resourceLimits: options.resourceLimits }),
    });
    this.bell = createBell(this.cell, () => port1.postMessage(poke));
    port1.on('message', (message: FromThread | number) => {
      if (typeof message === 'number') pump.run();
      else this.#heard(message);
    });
    port1.unref();
    this.#worker.on('error', (error: unknown) => {
      this.#cause = error;
    });
    this.#worker.on('exit', (code) => this.#exited(code));
    this.#worker.unref();
  }

  get runs(): number {
    return this.#residents.count;
  }

  get ending(): boolean {
    return this.#endedBy !== undefined || this.#broken;
  }

  tell(message: ToThread): void {
    this.#port.postMessage(message, message.kind === 'peer' ? [message.port as MessagePort] : []);
  }

  /** Binds a run to this thread, which keeps the process alive until it is released. */
  hold(run: string, events: ThreadEvents): void {
    if (this.runs === 0) this.#worker.ref();
    this.#residents.add(run, events);
  }

  release(run: string): void {
    this.#residents.remove(run);
    this.#rest();
  }

  /** Its runs are over, and what they printed has arrived; or the thread has ended. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#rest();
    });
  }

  #rest(): void {
    if (this.runs > 0 || this.#printing > 0) return;
    if (this.#endedBy === undefined) {
      if (this.#broken) void this.terminate('');
      else this.#worker.unref();
    }
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Gives both threads a doorbell to the other. */
  link(other: HostThread): void {
    if (!(other instanceof PoolThread) || other === this || this.#linked.has(other)) return;
    const { port1, port2 } = new MessageChannel();
    this.tell({ kind: 'peer', thread: other.number, cell: other.cell, port: port1 });
    other.tell({ kind: 'peer', thread: this.number, cell: this.cell, port: port2 });
    this.#linked.add(other);
    other.#linked.add(this);
  }

  /** Ends the thread; all runs on it are told that `run` caused it, and that run `why`. */
  terminate(run: string, why?: string): Promise<number> {
    this.#endedBy = run;
    this.#why = why;
    // Whoever awaits the end keeps the process alive for it, also when the last run is released meanwhile: with all else
    // idle, the event loop would be empty.
    this.#worker.ref();
    return this.#worker.terminate();
  }

  #heard(message: FromThread): void {
    if (message.kind === 'quiet') {
      this.#printing--;
      this.#rest();
    } else if (message.kind === 'broken') {
      this.#broken = true;
      this.#residents.broken(fromFault(message.fault));
      this.#rest();
    } else {
      if (message.kind === 'stopped' && message.printing) this.#printing++;
      this.#residents.heard(message);
    }
  }

  /** What it has said and the event loop has not brought yet. */
  listen(): void {
    for (let said = receiveMessageOnPort(this.#port); said !== undefined; said = receiveMessageOnPort(this.#port)) {
      if (typeof said.message !== 'number') this.#heard(said.message as FromThread);
    }
  }

  #exited(code: number): void {
    // Order: what it has said before comes before its end.
    this.listen();
    this.#port.close();
    this.#onExit();
    for (const other of this.#linked) other.#linked.delete(this);
    this.#linked.clear();
    this.#printing = 0;
    this.#residents.lost(
      (run) => this.#lossOf(run, code),
      () => this.#rest(),
    );
  }

  #lossOf(run: string, code: number): MillraceError {
    const by = this.#endedBy;
    const why =
      by === undefined
        ? `ended with code ${code} before its run did`
        : by === run
          ? `${this.#why ?? 'did not come back within stopMs'} and was terminated`
          : `was terminated because of run ${by}, which shared it`;
    const options = this.#cause === undefined ? {} : { cause: this.#cause };
    const message = isMissing(this.#entry, this.#cause)
      ? `threads start from ${this.#entry.href}, which is not there: a bundle needs millrace/worker as an entry of its own, and its URL in createRuntime({ entry })`
      : `thread ${this.number} ${why}`;
    return new MillraceError('ERR_THREAD_LOST', message, options);
  }
}

/** Node says so by an error of the thread, as for any module it does not find. */
function isMissing(entry: URL, cause: unknown): boolean {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return /MODULE_NOT_FOUND$/.test(String(code)) && !existsSync(entry);
}

export class Pool implements Host {
  readonly clock: Clock = clock;
  readonly cores: number = availableParallelism();
  readonly watched = true;
  readonly size: number;
  readonly #entry: URL;
  readonly #options: WorkerOptions;
  #threads: readonly PoolThread[] = [];
  #count = 0;
  #closed = false;

  constructor(size: number, entry: URL, options: WorkerOptions) {
    this.size = size;
    this.#entry = entry;
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed;
  }

  take(count: number): readonly HostThread[] {
    return freest(this.#threads, count, this.size, () => this.#spawn());
  }

  site(threads: readonly HostThread[]): Site {
    return siteWith(new Map(threads.map((thread) => [thread.number, thread.bell])));
  }

  work(): boolean {
    return callerSite().pump.work();
  }

  get ages(): boolean {
    return callerSite().pump.ages;
  }

  rest(ms: number): boolean {
    callerSite().pump.standStill(ms);
    for (const thread of this.#threads) thread.listen();
    return true;
  }

  hold(on: boolean): void {
    callerSite().pump.hold(on);
  }

  takeRing(bytes: number): PooledRing {
    return takeRing(bytes);
  }

  giveRing(ring: PooledRing): void {
    giveRing(ring);
  }

  /** The runs have been told to stop: threads that come back in time are heard to the last line they print. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(
      this.#threads.map(async (thread) => {
        let cancel = (): void => {};
        const late = new Promise<void>((resolve) => {
          cancel = clock.later(closeMs, resolve);
        });
        await Promise.race([thread.idle(), late]);
        cancel();
        await thread.terminate('close()');
      }),
    );
  }

  #spawn(): PoolThread {
    const thread: PoolThread = new PoolThread(++this.#count, this.#entry, this.#options, () => {
      this.#threads = this.#threads.filter((other) => other !== thread);
    });
    this.#threads = [...this.#threads, thread];
    return thread;
  }
}

/** Flags of the process that a thread takes and needs; Node refuses those that concern the whole process. */
const inherited =
  /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C|--enable-source-maps|--no-warnings|--preserve-symlinks)(=|$)/;
const valued = /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C)$/;

function inheritedFlags(): readonly string[] {
  const flags: string[] = [];
  const { execArgv } = process;
  for (let i = 0; i < execArgv.length; i++) {
    const flag = execArgv[i] as string;
    if (!inherited.test(flag)) continue;
    flags.push(flag);
    if (valued.test(flag)) flags.push(execArgv[++i] as string);
  }
  return flags;
}
