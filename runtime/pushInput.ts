/**
 * The input of a source that knows no demand: values are pushed, and go straight through while there is room.
 * Owns what waits for room, and what becomes of it: held, queued, dropped or refused, as the rule says.
 * Never reorders: what waits goes before what comes.
 */

import { type Input, none } from './input.js';
import { type OverflowRule, Waiting } from './overflow.js';

/** The executor that sends what is pushed. */
export interface Sender {
  /** Whether a value that is pushed now is sent on at once, or thrown away because nobody wants it any more. */
  readonly open: boolean;
  push(value: unknown): void;
  sourceFailed(reason: unknown): void;
}

export interface PushOptions {
  readonly rule: OverflowRule;
  /** No more is wanted: the source is to be left. */
  readonly onFinish: () => void;
  /** Holds the calling thread until `until` or the end of the run. */
  readonly hold: (until: () => boolean) => void;
}

export class PushInput implements Input {
  readonly #options: PushOptions;
  readonly #waiting: Waiting;
  #sender: Sender | undefined;
  #wake: () => void = () => {};
  #holding = false;
  /** Values that have waited and were taken. */
  #taken = 0;
  #completed = false;
  #finished = false;
  #failed: { readonly reason: unknown } | undefined;
  /** While the source is being subscribed: what it emits meanwhile it would emit without a pause. */
  subscribing = false;

  constructor(options: PushOptions) {
    this.#options = options;
    this.#waiting = new Waiting(options.rule);
  }

  /** This input, for the executor that sends it and is woken by `wake`. */
  readonly of = (wake: () => void, sender: Sender): Input => {
    this.#wake = wake;
    this.#sender = sender;
    return this;
  };

  /** Values thrown away by the rule. */
  get dropped(): number {
    return this.#waiting.dropped;
  }

  push(value: unknown): void {
    const sender = this.#sender as Sender;
    if (this.#waiting.length === 0 && !this.#holding && sender.open) sender.push(value);
    else if (!this.#over) this.#crowded(value);
  }

  #crowded(value: unknown): void {
    const { strategy } = this.#options.rule;
    const holds = strategy === 'block' || (strategy === 'auto' && this.subscribing);
    // What is emitted while a value is held came from a delivery: to hold it as well would keep that delivery from ending.
    if (holds && !this.#holding) this.#hold(value);
    else if (this.#waiting.offer(value)) this.#wake();
    else this.#overflowed();
  }

  // Left at once: it may emit without end, or long before the last value that waits has found room.
  #overflowed(): void {
    this.failed(this.#waiting.overflowed('the input'));
    this.#options.onFinish();
  }

  // The value that is held has its place: before what is emitted meanwhile, and, should the source end meanwhile, before its end.
  #hold(value: unknown): void {
    this.#holding = true;
    this.#waiting.add(value);
    const turn = this.#taken + this.#waiting.length;
    try {
      this.#options.hold(() => this.#over || this.#taken >= turn);
    } finally {
      this.#holding = false;
    }
    if (this.#waiting.length > 0) this.#wake();
  }

  /** The source has completed. */
  complete(): void {
    this.#completed = true;
    this.#wake();
  }

  /** The source has failed: its error comes behind what waits. */
  failed(reason: unknown): void {
    if (this.#over) return;
    this.#failed = { reason };
    if (this.#waiting.length === 0) this.#fail();
    else this.#wake();
  }

  #fail(): void {
    const reason = this.#failed?.reason;
    this.#finished = true;
    this.#sender?.sourceFailed(reason);
    this.#options.onFinish();
  }

  take(): unknown {
    if (this.#finished) return none;
    const value = this.#waiting.take();
    if (value !== none) this.#taken++;
    else if (this.#failed !== undefined) this.#fail();
    return value;
  }

  get ended(): boolean {
    return this.#finished || (this.#completed && this.#failed === undefined && this.#waiting.length === 0);
  }

  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#waiting.clear();
    if (!this.#completed) this.#options.onFinish();
  }

  // What waits is under way: only the source ends.
  drain(): void {
    if (this.#over) return;
    this.#completed = true;
    this.#options.onFinish();
    this.#wake();
  }

  discard(): number {
    return 0;
  }

  /** Nothing more is taken in. */
  get #over(): boolean {
    return this.#finished || this.#completed || this.#failed !== undefined;
  }
}
