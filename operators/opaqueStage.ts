/**
 * An opaque step as it runs: an operator of RxJS or of the user, of which nothing is known.
 * Owns its subscription and its head, an Observable that hands out its subscriber (a Subject would cost twelve times as much
 * to enter and lose what is emitted before the operator subscribes). A second subscription of the head is an error.
 * Never suspends: what it emits inside a delivery is parked behind the segment.
 */

import { Observable, type OperatorFunction, type Subscriber, type Subscription } from 'rxjs';
import { MillraceError } from '../runtime/errors.js';
import type { Loop } from './loop.js';
import { type Consumer, Stage, type StageContext } from './stage.js';

export class OpaqueStage extends Stage {
  override readonly parents: readonly [Stage];
  readonly #operator: OperatorFunction<unknown, unknown>;
  readonly #heads: Heads;
  #subscription: Subscription | undefined;
  #subscribed = false;

  constructor(parent: Stage, operator: OperatorFunction<unknown, unknown>, heads: Heads, context: StageContext) {
    super(context);
    this.parents = [parent];
    this.#operator = operator;
    this.#heads = heads;
  }

  protected override connect(): void {
    this.#heads.awaited++;
    const { loop } = this;
    const source = new Observable<unknown>((subscriber) => this.#enterHead(subscriber));
    const subscription = this.#operator(source).subscribe({
      next: (value) => loop.enter(this, () => this.emit(value)),
      error: (reason: unknown) => loop.enter(this, () => this.passError(reason)),
      complete: () => loop.enter(this, () => this.sendComplete()),
    });
    if (this.closed) subscription.unsubscribe();
    else this.#subscription = subscription;
  }

  protected override disconnect(): void {
    this.#headKnown();
    this.#subscription?.unsubscribe();
  }

  #enterHead(subscriber: Subscriber<unknown>): void {
    if (this.#subscribed) {
      subscriber.error(notRepeatable(this));
      return;
    }
    this.#headKnown();
    attachHead(this.parents[0], subscriber, this.loop);
  }

  #headKnown(): void {
    if (this.#subscribed) return;
    this.#subscribed = true;
    this.#heads.awaited--;
  }
}

/** Heads of opaque steps that have not been subscribed yet: the executor takes no input before. */
export interface Heads {
  awaited: number;
}

function notRepeatable(stage: Stage): MillraceError {
  return new MillraceError(
    'ERR_NOT_REPEATABLE',
    `${stage.label} subscribed its source a second time, but the input of an executor cannot start again. ` +
      'Put repeat or retry before or after the topology, or retry inside the inner stream of mergeMap',
    stage.place,
  );
}

/** Makes an RxJS subscriber a consumer of `stage`. */
export function attachHead(stage: Stage, subscriber: Subscriber<unknown>, loop: Loop): void {
  const consumer: Consumer = {
    next(value) {
      loop.enterSolid();
      try {
        subscriber.next(value);
      } finally {
        loop.leaveSolid();
      }
    },
    error: (reason) => subscriber.error(reason),
    complete: () => subscriber.complete(),
  };
  subscriber.add(() => stage.unsubscribe(consumer));
  stage.subscribe(consumer);
}
