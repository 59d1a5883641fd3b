/**
 * A stage: one node of a segment as it runs in one executor.
 * Owns its consumers, and the rule that a stage without consumers is closed and lets go of what stands above it.
 * Never knows channels or threads. It connects upstream when its first consumer subscribes: RxJS's order of subscription.
 */

import type { Place } from '../runtime/errors.js';
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

const ignore = (): void => {};

export abstract class Stage {
  readonly label: string;
  readonly place: Place;
  protected readonly loop: Loop;
  readonly #blame: Blame;
  #closed = false;
  #consumers: readonly Consumer[] = [];
  #only: Consumer | undefined;
  /** Holds of this stage, and of all stages below it. */
  #holding = 0;
  #heldBelow = 0;

  constructor({ label, place, loop, blame }: StageContext) {
    this.label = label;
    this.place = place;
    this.loop = loop;
    this.#blame = blame;
  }

  /** The stages above: one, several for a union, none for the head. */
  abstract readonly parents: readonly Stage[];
  /** The first consumer came. */
  protected abstract connect(): void;
  /** Ended, closed from below, or torn down. */
  protected abstract disconnect(): void;

  get closed(): boolean {
    return this.#closed;
  }

  get hasConsumers(): boolean {
    return this.#consumers.length > 0;
  }

  /** Something below takes no more for now. */
  get held(): boolean {
    return this.#heldBelow > 0;
  }

  subscribe(consumer: Consumer): void {
    this.#set([...this.#consumers, consumer]);
    if (this.#consumers.length === 1) this.connect();
  }

  unsubscribe(consumer: Consumer): void {
    if (!this.#consumers.includes(consumer)) return;
    this.#set(this.#consumers.filter((other) => other !== consumer));
    if (this.#consumers.length === 0) this.close();
  }

  /** Hands a value to the consumers: the whole subtree of the first one before the second one. */
  emit(value: unknown): void {
    if (this.#only !== undefined) this.#only.next(value);
    else if (this.#consumers.length > 0) this.#fan(value);
  }

  #fan(value: unknown): void {
    const deliver = (consumer: Consumer): void => {
      if (this.#consumers.includes(consumer)) consumer.next(value);
    };
    this.loop.iterate(this, this.#consumers[Symbol.iterator](), deliver, ignore);
  }

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
    for (const consumer of this.#end()) consumer.error(reason);
    this.#letGo();
  }

  sendComplete(): void {
    for (const consumer of this.#end()) consumer.complete();
    this.#letGo();
  }

  /** Ends without a word to consumers. */
  close(): void {
    if (this.#closed) return;
    this.#end();
    this.#letGo();
  }

  // Order: consumers hear of the end before what stands above is closed, as in RxJS.
  #end(): readonly Consumer[] {
    if (this.#closed) return [];
    this.#closed = true;
    const consumers = this.#consumers;
    this.#set([]);
    return consumers;
  }

  #letGo(): void {
    this.loop.close(this);
    while (this.#holding > 0) this.release();
    this.disconnect();
  }

  /** This stage takes no more for now: everything above it stops between two outputs. Holds nest. */
  hold(): void {
    this.#holding++;
    this.#shiftAbove(1);
  }

  release(): void {
    this.#holding--;
    this.#shiftAbove(-1);
  }

  #shiftAbove(by: 1 | -1): void {
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
}

/** Several streams of one segment as one; the only stage with several parents. */
export class UnionStage extends Stage implements Consumer {
  override readonly parents: readonly Stage[];
  #open: number;

  constructor(parents: readonly Stage[], context: StageContext) {
    super(context);
    this.parents = parents;
    this.#open = parents.length;
  }

  protected override connect(): void {
    for (const parent of this.parents) parent.subscribe(this);
  }

  protected override disconnect(): void {
    for (const parent of this.parents) parent.unsubscribe(this);
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
