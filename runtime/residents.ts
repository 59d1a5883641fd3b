/**
 * The runs on one thread, as the calling thread sees them: what the thread says is passed on to the run it speaks of.
 * Owns which runs are on it and which of them have started. Never ends a thread.
 */

import { MillraceError } from './errors.js';
import { fromFault, said } from './fault.js';
import type { HostThread, ThreadEvents } from './host.js';
import type { FromThread } from './order.js';
import { warn } from './unheard.js';

export class Residents {
  readonly #thread: HostThread;
  readonly #runs = new Map<string, ThreadEvents>();
  readonly #started = new Set<string>();

  constructor(thread: HostThread) {
    this.#thread = thread;
  }

  get count(): number {
    return this.#runs.size;
  }

  add(run: string, events: ThreadEvents): void {
    this.#runs.set(run, events);
  }

  remove(run: string): void {
    this.#runs.delete(run);
    this.#started.delete(run);
  }

  /** What the thread says of one run. */
  heard(message: Extract<FromThread, { readonly run: string }>): void {
    const events = this.#runs.get(message.run);
    switch (message.kind) {
      case 'started':
        this.#started.add(message.run);
        events?.started(this.#thread);
        break;
      case 'stopped':
        events?.stopped(this.#thread);
        break;
      case 'looked':
        events?.answered();
        break;
      case 'fault':
        events?.faulted(message.fault, message.travels);
        break;
      case 'failed':
        events?.failed(this.#thread, fromFault(message.fault));
        break;
    }
  }

  /** An error was thrown on the thread that belongs to no run: those that have started end by it. */
  broken(cause: unknown): void {
    const message = `an error that belongs to no step was thrown on thread ${this.#thread.number}: ${said(cause, true)}`;
    if (this.#started.size === 0) warn(message, cause);
    for (const run of [...this.#started])
      this.#runs.get(run)?.broken(new MillraceError('ERR_THREAD_LOST', message, { cause }));
  }

  /** The thread is gone. Those that hear of it may begin new runs, on others: `leave` does what has to be done before. */
  lost(reasonOf: (run: string) => MillraceError, leave: () => void = () => {}): void {
    const runs = [...this.#runs];
    this.#runs.clear();
    leave();
    for (const [run, events] of runs) events.lost(this.#thread, reasonOf(run));
  }
}
