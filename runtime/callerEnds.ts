/**
 * The caller's two ends of a run as programs of executors: values that go in, and values that come out.
 * Owns no state of the run. Never throws into the user's source: what goes wrong ends the run.
 */

import type { Context } from './context.js';
import { type Input, none } from './input.js';
import type { Program, ProgramHost } from './program.js';

/** What takes the values of an output. */
export interface OutputSink {
  /** That of the subscriber. */
  readonly within: Context;
  next(value: unknown): void;
  complete(): void;
}

/** Hands every input value to every outlet: the caller's thread routes, and does nothing else. */
export class PassOn implements Program {
  readonly #host: ProgramHost;
  readonly #onError: (reason: unknown) => void;
  readonly #open: Set<number>;
  readonly suspended = false;
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

/** The input of a source that knows no demand: values enter by `push`, so there is nothing to take. */
export class PushInput implements Input {
  readonly #onFinish: () => void;
  #wake: () => void = () => {};
  ended = false;

  constructor(onFinish: () => void) {
    this.#onFinish = onFinish;
  }

  /** This input, for the executor that is woken by `wake`. */
  readonly withWake = (wake: () => void): Input => {
    this.#wake = wake;
    return this;
  };

  /** The source has completed. */
  complete(): void {
    this.ended = true;
    this.#wake();
  }

  take(): unknown {
    return none;
  }

  finish(): void {
    if (this.ended) return;
    this.ended = true;
    this.#onFinish();
  }

  drain(): void {
    this.finish();
  }

  discard(): number {
    return 0;
  }
}
