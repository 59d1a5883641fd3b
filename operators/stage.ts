/**
 * A stage: one node of a segment as it runs in one executor.
 * Owns its consumers, and the rule that a stage without consumers is closed and lets go of what stands above it.
 * Never knows channels or threads. It connects upstream when the last consumer of the plan has subscribed, so that none
 * misses what is emitted meanwhile; of a single consumer that is RxJS's order of subscription.
 */

import type { Place } from '../runtime/errors.js';
import { unheard } from '../runtime/unheard.js';
import type { Loop } from './loop.js';

/** The downstream of a stage. */
export interface Consumer {
  next(value: unknown): void;
  error(reason: unknown): void;
  complete(): void;
}

/** Remembers at which stage an error that is on its way arose. */
export interface Blame {
  reason: unknown;
  stage: Stage | undefined;
}

/** What all stages of an executor share, and what names this one. */
export interface StageContext {
  readonly label: string;
  readonly place: Place;
  readonly loop: Loop;
  readonly blame: Blame;
}

type Tell = (consumer: Consumer) => void;

export abstract class Stage {
  readonly label: string;
  readonly place: Place;
  protected readonly loop: Loop;
  readonly #blame: Blame;
  #closed = false;
  #gone = false;
  #consumers: readonly Consumer[] = [];
  #only: Consumer | undefined;
  /** Consumers of the plan that have not subscribed yet. */
  #expected = 0;
  /** Consumers that have not heard of the end yet. */
  #untold: readonly Consumer[] = [];
  /** Values on their way from consumer to consumer; inside a delivery, or suspended between two. */
  #fans = 0;
  #delivering = 0;
  /** The end, while suspended fans keep it waiting. */
  #pendingEnd: Tell | undefined;
  /** Holds of this stage; of all stages below it; and what of both stands upstream. */
  #holding = 0;
  #heldBelow = 0;
  #passedOn = 0;

  constructor({ label, place, loop, blame }: StageContext) {
    this.label = label;
    this.place = place;
    this.loop = loop;
    this.#blame = blame;
  }

  /** The stages above: one, several for a union, none for the head. */
  abstract readonly parents: readonly Stage[];
  /** All consumers of the plan have come. */
  protected abstract connect(): void;
  /** Ended, closed from below, or torn down. */
  protected abstract disconnect(): void;

  get closed(): boolean {
    return this.#closed;
  }

  get hasConsumers(): boolean {
    return this.#consumers.length > 0;
  }

  /** A consumer of the plan is still to come. */
  get expecting(): boolean {
    return this.#expected > 0;
  }

  /** Takes values: there are consumers, and nothing below holds. */
  get open(): boolean {
    return this.#consumers.length > 0 && this.#heldBelow === 0;
  }

  /** Something below takes no more for now. */
  get held(): boolean {
    return this.#heldBelow > 0;
  }

  /** The plan has one more consumer for this stage: `subscribe` or `renounce` follows. */
  expect(): void {
    this.#expected++;
  }

  subscribe(consumer: Consumer): void {
    if (this.#closed) return;
    this.join(consumer);
    this.#decided();
  }

  /** A consumer that is not of the plan: a flow bound at run time. */
  join(consumer: Consumer): void {
    this.#set([...this.#consumers, consumer]);
  }

  /** A consumer of the plan ended before it subscribed. */
  renounce(): void {
    if (!this.#closed) this.#decided();
  }

  unsubscribe(consumer: Consumer): void {
    if (this.#closed) {
      this.#untold = this.#untold.filter((other) => other !== consumer);
      // Order: what stands above lets go first, as in RxJS.
      if (this.#untold.length === 0) this.#letGo();
      return;
    }
    if (!this.#consumers.includes(consumer)) return;
    this.#set(this.#consumers.filter((other) => other !== consumer));
    if (this.#consumers.length === 0 && this.#expected === 0) this.abandoned();
  }

  #decided(): void {
    this.#expected--;
    if (this.#expected > 0) return;
    // Order: one of its consumers may have ended while it was being subscribed, and what came of that be suspended.
    if (this.#consumers.length > 0) this.loop.after(this, () => this.connect());
    else this.abandoned();
  }

  /** No consumer is left. */
  protected abandoned(): void {
    this.close();
  }

  /** Hands a value to the consumers: the whole subtree of the first one before the second one. */
  emit(value: unknown): void {
    if (this.#only !== undefined) this.#only.next(value);
    else if (this.#consumers.length > 0) this.#fan(value);
  }

  #fan(value: unknown): void {
    const deliver = (consumer: Consumer): void => {
      if (!this.#consumers.includes(consumer)) return;
      this.#delivering++;
      consumer.next(value);
      this.#delivering--;
    };
    this.#fans++;
    this.loop.iterate(this, this.#consumers[Symbol.iterator](), deliver, this.#fanned);
  }

  readonly #fanned = (): void => {
    this.#fans--;
    const tell = this.#pendingEnd;
    if (tell !== undefined && this.#fans === 0) this.#finish(tell);
  };

  /** An error arose here. */
  fail(reason: unknown): void {
    if (this.#closed) return;
    this.#blame.reason = reason;
    this.#blame.stage = this;
    this.sendError(reason);
  }

  /** An error came out here that may have arisen above. */
  passError(reason: unknown): void {
    if (this.#blame.stage === undefined || this.#blame.reason !== reason) this.fail(reason);
    else this.sendError(reason);
  }

  sendError(reason: unknown): void {
    this.#finish((consumer) => consumer.error(reason));
  }

  sendComplete(): void {
    this.#finish((consumer) => consumer.complete());
  }

  #finish(tell: Tell): void {
    if (this.#closed) return;
    if (this.#fans > 0 && this.#delivering === 0) {
      // A consumer still waits for a value that came before this end.
      this.#pendingEnd ??= tell;
      return;
    }
    const consumers = this.#end();
    if (consumers.length === 1) {
      tell(consumers[0] as Consumer);
      this.#letGo();
      return;
    }
    this.#untold = consumers;
    this.loop.iterate(this, this.#nextUntold(), tell, () => this.#letGo());
  }

  *#nextUntold(): Generator<Consumer> {
    for (let [consumer] = this.#untold; consumer !== undefined; [consumer] = this.#untold) {
      this.#untold = this.#untold.slice(1);
      yield consumer;
    }
  }

  /** Ends without a word to consumers. */
  close(): void {
    if (!this.#closed) this.#end();
    this.#letGo();
  }

  #end(): readonly Consumer[] {
    this.#closed = true;
    const consumers = this.#consumers;
    this.#set([]);
    return consumers;
  }

  /** Runs a clean-up of the user's. What it throws reaches nobody, since the stage has ended; what is left to close must be. */
  cleanUp(work: () => void): void {
    try {
      work();
    } catch (reason) {
      unheard(this.label, reason);
    }
  }

  // Order: consumers hear of the end before what stands above is closed, as in RxJS.
  #letGo(): void {
    if (this.#gone) return;
    this.loop.close(this);
    // Order: before it is gone. Holds of this stage, and those below it that it passed on, are no longer anybody's.
    this.#holding = 0;
    this.#shiftAbove(-this.#passedOn);
    this.#gone = true;
    this.disconnect();
  }

  /** This stage takes no more for now: everything above it stops between two outputs. Holds nest. */
  hold(): void {
    if (this.#gone) return;
    this.#holding++;
    this.#shiftAbove(1);
  }

  release(): void {
    if (this.#gone || this.#holding === 0) return;
    this.#holding--;
    this.#shiftAbove(-1);
  }

  // A stage that has let go passes nothing on: what is held below it holds nothing above it.
  #shiftAbove(by: number): void {
    if (this.#gone || by === 0) return;
    this.#passedOn += by;
    for (const parent of this.parents) {
      parent.#heldBelow += by;
      parent.#shiftAbove(by);
    }
  }

  isBelow(other: Stage): boolean {
    return this.parents.some((parent) => parent === other || parent.isBelow(other));
  }

  #set(consumers: readonly Consumer[]): void {
    this.#consumers = consumers;
    this.#only = consumers.length === 1 ? consumers[0] : undefined;
  }
}

/** Where values enter the segment. */
export class HeadStage extends Stage {
  override readonly parents: readonly Stage[] = [];
  protected override connect(): void {}
  protected override disconnect(): void {}
  /** A flow may still be bound before the executor looks: concat opens its next stream when the one before has let go. */
  protected override abandoned(): void {}
}

/** Several streams of one segment as one; the only stage with several parents. */
export class UnionStage extends Stage implements Consumer {
  override readonly parents: readonly Stage[];
  /** Parents that were subscribed, from the first one. */
  #joined = 0;
  #open: number;

  constructor(parents: readonly Stage[], context: StageContext) {
    super(context);
    this.parents = parents;
    this.#open = parents.length;
    for (const parent of parents) parent.expect();
  }

  // Order: a parent that emits while it is being subscribed comes out before the next one is.
  protected override connect(): void {
    this.loop.iterate(this, this.parents[Symbol.iterator](), this.#join, () => {});
  }

  readonly #join = (parent: Stage): void => {
    this.#joined++;
    parent.subscribe(this);
  };

  protected override disconnect(): void {
    for (const [index, parent] of this.parents.entries()) {
      if (index < this.#joined) parent.unsubscribe(this);
      else parent.renounce();
    }
  }

  next(value: unknown): void {
    this.emit(value);
  }

  error(reason: unknown): void {
    this.sendError(reason);
  }

  complete(): void {
    this.#open--;
    if (this.#open === 0) this.sendComplete();
  }
}
