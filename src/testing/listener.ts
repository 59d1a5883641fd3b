/**
 * Listener: the subscriber by which the kit listens to a publisher.
 * Owns what it has requested and heard. Never breaks a rule itself, unless a check tells it to.
 */

import type { Publisher, Subscriber, Subscription } from '../edges/publisher.js';
import type { Exam } from './rules.js';

export type Signal = 'onSubscribe' | 'onNext' | 'onError' | 'onComplete';

export interface Doing {
  readonly onSubscribe?: (listener: Listener) => void;
  readonly onNext?: (listener: Listener) => void;
}

export class Listener implements Subscriber<unknown> {
  readonly #exam: Exam;
  readonly #doing: Doing;
  readonly signals: Signal[] = [];
  readonly values: unknown[] = [];
  error: unknown;
  requested = 0;
  /** Signals after `cancel()`. */
  late: Signal[] = [];
  /** The first value that nobody had asked for. */
  surplus: string | undefined;
  /** The first signal that began while another was running. */
  overlap: string | undefined;
  #subscription: Subscription | undefined;
  #cancelled = false;
  readonly #running: Signal[] = [];
  #requesting = 0;

  constructor(exam: Exam, doing: Doing = {}) {
    this.#exam = exam;
    this.#doing = doing;
  }

  /** Subscribes one, which leaves when the check is over. */
  static to(exam: Exam, publisher: Publisher<unknown>, doing: Doing = {}): Listener {
    const listener = new Listener(exam, doing);
    exam.afterwards(() => listener.cancel());
    exam.returns('subscribe()', () => publisher.subscribe(listener));
    return listener;
  }

  get received(): number {
    return this.values.length;
  }

  get subscribed(): boolean {
    return this.#subscription !== undefined;
  }

  get ended(): boolean {
    return this.signals.includes('onError') || this.signals.includes('onComplete');
  }

  /** What it has heard, for messages. */
  get heard(): string {
    const [some, more] = [this.signals.slice(0, 8), this.signals.length > 8 ? ', …' : ''];
    return `${this.signals.length === 0 ? 'nothing' : some.join(', ')}${more} came; ${this.requested} requested, ${this.received} received`;
  }

  request(n: number): void {
    if (n > 0) this.requested += n;
    this.#requesting++;
    try {
      this.#exam.returns(`request(${n})`, () => this.#subscription?.request(n));
    } finally {
      this.#requesting--;
    }
  }

  cancel(): void {
    this.#cancelled = true;
    this.#exam.returns('cancel()', () => this.#subscription?.cancel());
  }

  /** After `cancel()` some of `elements` may still be under way; not all of them, not the end, and not for ever. */
  async stopped(elements: number): Promise<void> {
    await this.#exam.quiet();
    const { received } = this;
    await this.#exam.quiet();
    this.#exam.expect(
      !this.ended && received < elements && this.received === received,
      () => `${this.late.length} signals came after cancel(): ${this.heard}`,
    );
  }

  onSubscribe(subscription: Subscription): void {
    this.#hears('onSubscribe', () => {
      this.#subscription ??= subscription;
      if (this.#cancelled) this.cancel();
      else this.#doing.onSubscribe?.(this);
    });
  }

  onNext(value: unknown): void {
    this.#hears('onNext', () => {
      this.values.push(value);
      if (this.received > this.requested)
        this.surplus ??= `value number ${this.received} came when ${this.requested} had been requested`;
      // A publisher that recurses shall be found out, not run out of stack.
      if (this.#running.length < 50) this.#doing.onNext?.(this);
    });
  }

  onError(reason: unknown): void {
    this.#hears('onError', () => {
      this.error = reason;
    });
  }

  onComplete(): void {
    this.#hears('onComplete', () => {});
  }

  // Within onSubscribe, what is requested may come at once (§3.10): by then nothing else is under way.
  #hears(signal: Signal, then: () => void): void {
    const within = this.#running.at(-1);
    if (within !== undefined && !(within === 'onSubscribe' && this.#requesting > 0))
      this.overlap ??= `${signal} began inside ${within}`;
    this.signals.push(signal);
    if (this.#cancelled) this.late.push(signal);
    this.#running.push(signal);
    try {
      then();
    } finally {
      this.#running.pop();
      this.#exam.signalled();
    }
  }
}
