/**
 * The caller's two ends of a run as programs of executors: values that go in, and values that come out.
 * Owns no state of the run. Never throws into the user's source: what goes wrong ends the run.
 */

import type { Context } from './context.js';
import type { Demand } from './demand.js';
import type { Program, ProgramHost } from './program.js';

/** What takes the values of an output. */
export interface OutputSink {
  /** That of the subscriber. */
  readonly within: Context;
  /** How many values it has asked for; none: it takes all that come. */
  readonly demand?: Demand | undefined;
  next(value: unknown): void;
  complete(): void;
}

/** Hands every input value to every outlet: the caller's thread routes, and does nothing else. */
export class PassOn implements Program {
  readonly #host: ProgramHost;
  readonly #onError: (reason: unknown) => void;
  readonly #open: Set<number>;
  readonly suspended = false;
  readonly restless = false;
  readonly subscribed = true;

  /** `onError` hears the input's error as it is, before it becomes a fault. */
  constructor(host: ProgramHost, onError: (reason: unknown) => void) {
    this.#host = host;
    this.#onError = onError;
    this.#open = new Set(host.emit.keys());
  }

  get finished(): boolean {
    return this.#open.size === 0;
  }

  get ready(): boolean {
    return !this.finished;
  }

  start(): void {}

  next(value: unknown): void {
    for (const outlet of this.#open) (this.#host.emit[outlet] as (value: unknown) => void)(value);
  }

  complete(): void {
    for (const outlet of this.#open) this.#host.end(outlet);
    this.#open.clear();
  }

  // Where nobody wants values any more, the source is as good as unsubscribed: why it is so is what the run ends with.
  error(reason: unknown): void {
    if (this.finished) return;
    this.#onError(reason);
    this.#host.fail(reason, 'source', { operator: 'the input' });
  }

  resume(): void {}

  closeOutlet(outlet: number): void {
    this.#open.delete(outlet);
  }

  stop(): void {
    this.#open.clear();
  }
}

/** Hands every value that arrives to the subscriber of an output. */
export class HandOver implements Program {
  readonly #sink: OutputSink;
  readonly suspended = false;
  readonly restless = false;
  readonly subscribed = true;
  readonly ready = true;
  readonly finished = false;

  constructor(sink: OutputSink) {
    this.#sink = sink;
  }

  start(): void {}

  next(value: unknown): void {
    this.#sink.next(value);
  }

  complete(): void {
    this.#sink.complete();
  }

  error(): void {}
  resume(): void {}
  closeOutlet(): void {}
  stop(): void {}
}
