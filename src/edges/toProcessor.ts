/**
 * toProcessor: an operator, such as a topology, as a Processor of Reactive Streams.
 * Owns how demand gets from its subscriber to its publisher. Never asks its publisher without demand of its subscriber.
 */

import { isObservable, type Observable, type OperatorFunction, type Subscriber as RxSubscriber } from 'rxjs';
import { clock } from '../../runtime/clock.js';
import type { Ask, DemandObserver, DemandSubscription } from '../../runtime/demand.js';
import { MillraceError } from '../../runtime/errors.js';
import { show } from '../../runtime/option.js';
import { checkOverflow } from '../../runtime/overflow.js';
import { Asked } from '../demand.js';
import { askable } from './edge.js';
import { Receiver, tooMuch } from './fromPublisher.js';
import { Intake } from './fromRequest.js';
import { checkSubscriber, type Processor, type Subscriber, type Subscription } from './publisher.js';
import { publish } from './toPublisher.js';

const who = 'toProcessor()';

/**
 * A Processor of `operator` (Reactive Streams §4): what it is given by `onNext` is the operator's input, what comes of it its
 * subscriber's. It has one subscriber, for its input cannot start again; a further one hears `onSubscribe`, then
 * `ERR_NOT_REPEATABLE`, which also ends an operator that subscribes its input twice, such as `retry`. It may be subscribed
 * before or after it subscribes; the operator is subscribed when it is subscribed.
 *
 * A topology asks for as much as it has room for, and the publisher is requested that much. A plain RxJS operator knows no demand:
 * the publisher is requested one value after the other, as long as fewer results have come than the subscriber requested, and
 * results beyond wait, without bound. Of an operator that has given nothing for 16 values, such as `delay`, the next 16 are requested
 * in the next turn of the event loop, so one that holds values back for long takes in many.
 *
 * An error of the publisher comes to the subscriber without demand (§4.2), behind results that wait; of an operator that has
 * not asked for its input by then, such as a topology without demand, it comes past it. When the subscriber has left or
 * the operator has ended, the publisher's Subscription is cancelled. `ERR_OPTION`, thrown: not an operator with one output.
 *
 * ```ts
 * const counts = toProcessor(wordCount());
 * lines.subscribe(counts); // a Publisher of lines
 * fromPublisher(counts).subscribe(console.log);
 * ```
 */
export function toProcessor<In, Out>(operator: OperatorFunction<In, Out>): Processor<In, Out> {
  if (typeof operator !== 'function')
    throw new MillraceError(
      'ERR_OPTION',
      `${who} takes an operator, such as map(f) or a topology, got ${show(operator)}`,
    );
  const inlet = new Inlet<In>();
  const sluice = new Sluice<In, Out>(inlet.ask);
  const output: unknown = operator(new Asked<In>(inlet.ask, (subscriber) => sluice.feed(subscriber)));
  if (!isObservable(output))
    throw new MillraceError(
      'ERR_OPTION',
      `${who} takes an operator with one output, and this one returned ${show(output)}: of a record of outputs, give (input) => t()(input).name`,
    );
  return new Stage(inlet, sluice.ask(output as Observable<Out>));
}

class Stage<In, Out> implements Processor<In, Out> {
  readonly #inlet: Inlet<In>;
  readonly #ask: Ask<Out>;
  #taken = false;

  constructor(inlet: Inlet<In>, ask: Ask<Out>) {
    this.#inlet = inlet;
    this.#ask = ask;
  }

  onSubscribe(subscription: Subscription): void {
    this.#inlet.receiver.onSubscribe(subscription);
  }

  onNext(value: In): void {
    this.#inlet.receiver.onNext(value);
  }

  onError(reason: unknown): void {
    this.#inlet.receiver.onError(reason);
  }

  onComplete(): void {
    this.#inlet.receiver.onComplete();
  }

  subscribe(subscriber: Subscriber<Out>): void {
    checkSubscriber(subscriber, who);
    if (this.#taken) publish(refusing('a further subscriber'), subscriber, who);
    else {
      this.#taken = true;
      publish(
        (observer) => this.#begin(observer),
        subscriber,
        who,
        () => this.#inlet.leave(),
      );
    }
  }

  // A topology asks for its input when it is asked itself; an error does not wait for that (§4.2).
  #begin(observer: DemandObserver<Out>): DemandSubscription {
    const asked = this.#ask(observer);
    this.#inlet.unasked((reason) => {
      asked.unsubscribe();
      observer.error(reason);
    });
    return asked;
  }
}

/** The operator's input: what the processor receives, once the operator asks for it. */
class Inlet<T> {
  readonly receiver: Receiver<T>;
  readonly #intake: Intake<T>;
  #observer: DemandObserver<T> | undefined;
  /** The end, which came before the operator had asked. A value cannot. */
  #end: ((observer: DemandObserver<T>) => void) | undefined;
  #failure: { readonly reason: unknown } | undefined;
  #fail: (reason: unknown) => void = () => {};

  constructor() {
    const observer: DemandObserver<T> = {
      next: (value) => this.#observer?.next(value),
      error: (reason) => {
        this.#ended((to) => to.error(reason));
        if (this.#observer !== undefined) return;
        this.#failure = { reason };
        this.#fail(reason);
      },
      complete: () => this.#ended((to) => to.complete()),
    };
    this.#intake = new Intake(observer, who, tooMuch);
    this.receiver = new Receiver(this.#intake, who);
  }

  readonly ask: Ask<T> = (observer) => {
    if (this.#observer !== undefined) return refusing<T>('its operator')(observer);
    this.#observer = observer;
    this.#end?.(observer);
    return this.#intake;
  };

  /** `fail` is told of an error that the operator has not asked for. */
  unasked(fail: (reason: unknown) => void): void {
    this.#fail = fail;
    if (this.#failure !== undefined && this.#observer === undefined) fail(this.#failure.reason);
  }

  leave(): void {
    this.#intake.unsubscribe();
  }

  #ended(end: (observer: DemandObserver<T>) => void): void {
    if (this.#observer === undefined) this.#end = end;
    else end(this.#observer);
  }
}

/** Values that an operator without demand may take in before it has given one, in one turn of the event loop. */
const window = 16;

/** Lets in one value after the other, for an operator that cannot ask, while fewer have come out than were asked for. */
class Sluice<In, Out> {
  readonly #input: Ask<In>;
  #asked: DemandSubscription | undefined;
  /** Asked for by the subscriber and not come out. */
  #unmet = 0;
  /** One was asked for and has not come in. */
  #pending = false;
  /** Came in since the last one came out, in this turn. */
  #since = 0;

  constructor(input: Ask<In>) {
    this.#input = input;
  }

  /** Of an operator that subscribes its input instead of asking it. */
  feed(subscriber: RxSubscriber<In>): void {
    const asked = this.#input({
      next: (value) => {
        this.#pending = false;
        this.#since++;
        subscriber.next(value);
        if (this.#since === window) clock.soon(() => this.#turn());
        this.#open();
      },
      error: (reason) => subscriber.error(reason),
      complete: () => subscriber.complete(),
    });
    this.#asked = asked;
    subscriber.add(() => asked.unsubscribe());
    this.#open();
  }

  ask(output: Observable<Out>): Ask<Out> {
    const ask = askable<Out>(output, { signal: undefined, overflow: checkOverflow('buffer') }, who);
    return (observer) => {
      const asked = ask({
        next: (value) => {
          this.#unmet--;
          this.#since = 0;
          observer.next(value);
        },
        error: (reason) => observer.error(reason),
        complete: () => observer.complete(),
      });
      return {
        request: (n) => {
          this.#unmet += n;
          asked.request(n);
          this.#open();
        },
        unsubscribe: () => asked.unsubscribe(),
      };
    };
  }

  #turn(): void {
    this.#since = 0;
    this.#open();
  }

  // A request may bring its value before it returns: the flag is set first.
  #open(): void {
    if (this.#asked === undefined || this.#pending || this.#unmet <= 0 || this.#since >= window) return;
    this.#pending = true;
    this.#asked.request(1);
  }
}

function refusing<T>(whom: string): Ask<T> {
  return (observer) => {
    const message = `the input of ${who} cannot start again, and ${whom} subscribed it a second time: make a processor for each`;
    observer.error(new MillraceError('ERR_NOT_REPEATABLE', message));
    return { request: () => {}, unsubscribe: () => {} };
  };
}
