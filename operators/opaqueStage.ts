/**
 * An opaque step as it runs: an operator of RxJS or of the user, of which nothing is known.
 * Owns its subscription and its head, an Observable that hands out its subscriber (a Subject would cost twelve times as much
 * to enter and lose what is emitted before the operator subscribes). A second subscription of the head is an error.
 * Never suspends: what it emits inside a delivery is parked behind the segment.
 */

import { Observable, type OperatorFunction, type Subscriber, Subscription } from 'rxjs';
import { MillraceError } from '../runtime/errors.js';
import { unheard } from '../runtime/unheard.js';
import type { Loop } from './loop.js';
import { type Consumer, Stage, type StageContext } from './stage.js';
import { subscribeWithin } from './within.js';

export class OpaqueStage extends Stage {
  override readonly parents: readonly [Stage];
  readonly #operator: OperatorFunction<unknown, unknown>;
  readonly #heads: Heads;
  readonly #subscription = new Subscription();
  #subscribed = false;

  constructor(parent: Stage, operator: OperatorFunction<unknown, unknown>, heads: Heads, context: StageContext) {
    super(context);
    this.parents = [parent];
    this.#operator = operator;
    this.#heads = heads;
    heads.awaited++;
    parent.expect();
  }

  protected override connect(): void {
    const { loop } = this;
    const source = new Observable<unknown>((subscriber) => this.#enterHead(subscriber));
    try {
      subscribeWithin(this.#subscription, this.#operator(source), {
        next: (value) => loop.enter(this, () => this.emit(value)),
        error: (reason: unknown) => loop.enter(this, () => this.passError(reason)),
        complete: () => loop.enter(this, () => this.sendComplete()),
      });
    } catch (reason) {
      this.fail(reason);
    }
  }

  protected override disconnect(): void {
    if (!this.#subscribed) {
      this.#headKnown();
      this.parents[0].renounce();
    }
    this.cleanUp(() => this.#subscription.unsubscribe());
  }

  #enterHead(subscriber: Subscriber<unknown>): void {
    // Not through the operator: retry would try for ever, and catchError hide it.
    if (this.#subscribed) this.loop.enter(this, () => this.fail(notRepeatable(this)));
    else {
      this.#headKnown();
      this.parents[0].subscribe(consumerOf(this.parents[0], subscriber, this.loop, this));
      this.loop.wake();
    }
  }

  #headKnown(): void {
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
      'Put repeat or retry before or after the topology, or inside perValue',
    stage.place,
  );
}

/** Tells a subscriber its end, on which RxJS runs clean-ups; what else it throws is an error of the step. */
function told(owner: Stage, tell: () => void): void {
  try {
    tell();
  } catch (reason) {
    if (!(reason instanceof Error) || reason.name !== 'UnsubscriptionError') throw reason;
    unheard(owner.label, reason);
  }
}

/** Makes an RxJS subscriber a consumer of `stage`, which it is to be given to; clean-ups are those of `owner`. */
export function consumerOf(stage: Stage, subscriber: Subscriber<unknown>, loop: Loop, owner: Stage): Consumer {
  const consumer: Consumer = {
    next(value) {
      loop.enterSolid();
      try {
        subscriber.next(value);
      } finally {
        loop.leaveSolid();
      }
    },
    error: (reason) => told(owner, () => subscriber.error(reason)),
    complete: () => told(owner, () => subscriber.complete()),
  };
  subscriber.add(() => {
    stage.unsubscribe(consumer);
    loop.wake();
  });
  return consumer;
}
