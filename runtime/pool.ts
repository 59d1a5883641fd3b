/**
 * The threads host: a pool of warm worker threads, the only place that starts one.
 * Owns the threads, the doorbells between them and this thread, and what becomes of runs when a thread dies.
 * Never keeps the process alive: a thread is held only while a run is on it.
 */

import { MessageChannel, type ResourceLimits, Worker } from 'node:worker_threads';
import { callerSite } from './callerSite.js';
import { type Bell, createBell, createSleepCell } from './channel.js';
import { MillraceError } from './errors.js';
import { type Fault, fromFault } from './fault.js';
import { type Birth, type FromThread, poke, type ToThread } from './order.js';

export interface WorkerOptions {
  readonly resourceLimits?: ResourceLimits;
  readonly env?: NodeJS.ProcessEnv;
  readonly execArgv?: readonly string[];
}

/** What a run hears of its threads. */
export interface ThreadEvents {
  started(thread: PoolThread): void;
  failed(thread: PoolThread, reason: unknown): void;
  /** A fault arose in an executor; `travels` if it comes through the channels as well. */
  faulted(fault: Fault, travels: boolean): void;
  stopped(thread: PoolThread): void;
  /** The thread is gone; `reason` says why. */
  lost(thread: PoolThread, reason: MillraceError): void;
}

export class PoolThread {
  readonly number: number;
  readonly cell: SharedArrayBuffer = createSleepCell();
  readonly bell: Bell;
  readonly #worker: Worker;
  readonly #runs = new Map<string, ThreadEvents>();
  readonly #linked = new Set<PoolThread>();
  readonly #onExit: () => void;
  #cause: unknown;
  /** The run that had it terminated: it takes no further ones. */
  #endedBy: string | undefined;

  constructor(number: number, entry: URL, options: WorkerOptions, onExit: () => void) {
    this.number = number;
    this.#onExit = onExit;
    const { cell: callerCell, pump } = callerSite();
    const birth: Birth = { thread: number, cell: this.cell, callerCell };
    this.#worker = new Worker(entry, {
      name: `millrace-${number}`,
      workerData: { millrace: birth },
      execArgv: [...(options.execArgv ?? inheritedFlags())],
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.resourceLimits === undefined ? {} : { resourceLimits: options.resourceLimits }),
    });
    this.bell = createBell(this.cell, () => this.#worker.postMessage(poke));
    this.#worker.on('message', (message: FromThread | number) => {
      if (typeof message === 'number') pump.run();
      else this.#heard(message);
    });
    this.#worker.on('error', (error: unknown) => {
      this.#cause = error;
    });
    this.#worker.on('exit', (code) => this.#exited(code));
    this.#worker.unref();
  }

  get runs(): number {
    return this.#runs.size;
  }

  get ending(): boolean {
    return this.#endedBy !== undefined;
  }

  tell(message: ToThread): void {
    this.#worker.postMessage(message, message.kind === 'peer' ? [message.port] : []);
  }

  /** Binds a run to this thread, which keeps the process alive until it is released. */
  hold(run: string, events: ThreadEvents): void {
    if (this.#runs.size === 0) this.#worker.ref();
    this.#runs.set(run, events);
  }

  release(run: string): void {
    this.#runs.delete(run);
    if (this.#runs.size === 0 && !this.ending) this.#worker.unref();
  }

  /** Gives both threads a doorbell to the other. */
  link(other: PoolThread): void {
    if (other === this || this.#linked.has(other)) return;
    const { port1, port2 } = new MessageChannel();
    this.tell({ kind: 'peer', thread: other.number, cell: other.cell, port: port1 });
    other.tell({ kind: 'peer', thread: this.number, cell: this.cell, port: port2 });
    this.#linked.add(other);
    other.#linked.add(this);
  }

  /** Ends the thread; all runs on it are told that `run` caused it. */
  terminate(run: string): Promise<number> {
    this.#endedBy = run;
    // Whoever awaits the end keeps the process alive for it, also when the last run is released meanwhile: with all else
    // idle, the event loop would be empty.
    this.#worker.ref();
    return this.#worker.terminate();
  }

  #heard(message: FromThread): void {
    const events = this.#runs.get(message.run);
    if (message.kind === 'started') events?.started(this);
    else if (message.kind === 'stopped') events?.stopped(this);
    else if (message.kind === 'fault') events?.faulted(message.fault, message.travels);
    else events?.failed(this, fromFault(message.fault));
  }

  #exited(code: number): void {
    this.#onExit();
    for (const other of this.#linked) other.#linked.delete(this);
    this.#linked.clear();
    const runs = [...this.#runs];
    this.#runs.clear();
    for (const [run, events] of runs) events.lost(this, this.#lossOf(run, code));
  }

  #lossOf(run: string, code: number): MillraceError {
    const by = this.#endedBy;
    const why =
      by === undefined
        ? `ended with code ${code} before its run did`
        : by === run
          ? 'did not come back within stopMs and was terminated'
          : `was terminated because of run ${by}, which shared it`;
    const options = this.#cause === undefined ? {} : { cause: this.#cause };
    return new MillraceError('ERR_THREAD_LOST', `thread ${this.number} ${why}`, options);
  }
}

export class Pool {
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

  /** The threads of a run: free ones first, then new ones up to the size of the pool, then those with the fewest runs. */
  take(count: number): readonly PoolThread[] {
    const alive = this.#threads.filter((thread) => !thread.ending);
    const busy = alive.filter((thread) => thread.runs > 0).sort((a, b) => a.runs - b.runs);
    const free = alive.filter((thread) => thread.runs === 0);
    while (free.length < count && free.length + busy.length < this.size) free.push(this.#spawn());
    return [...free, ...busy].slice(0, count);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.map((thread) => thread.terminate('close()')));
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
