/**
 * perValue: an operator on each value alone, several at once.
 * Owns the order of outputs: each value has a lane, the first lane hands over, the others park what comes until it is their turn.
 * Bounded by `concurrency` lanes and a count of parked outputs. Where nothing can overtake, it is mergeMap of the values.
 */

import { from, mergeMap, Observable, type OperatorFunction, of, type Subscriber } from 'rxjs';
import { MillraceError } from '../runtime/errors.js';
import { checkKeys, isOptions, show } from '../runtime/option.js';
import { Queue } from '../runtime/queue.js';
import { checkFunction } from './cut.js';
import { mergeMapKernel } from './mergeMap.js';
import type { Kernel, Lower, Out } from './step.js';
import { subscribeWithin } from './within.js';

type Operator = OperatorFunction<unknown, unknown>;

/** Outputs that may wait for their turn in one executor. */
const maxParked = 65_536;
export const perValueDefaults: Choice = { concurrency: 16, ordered: true };

/** The plain form; the menu has the documentation. */
export function perValue<T, R>(
  operator: OperatorFunction<T, R>,
  options?: { readonly concurrency?: number; readonly ordered?: boolean },
): OperatorFunction<T, R> {
  const { concurrency, ordered } = checked(operator, options);
  if (!ordered) return mergeMap((value) => operator(of(value)), concurrency);
  return plainly(orderedKernel(operator as Operator, concurrency)) as OperatorFunction<T, R>;
}

export function perValueKernel(operator: Operator, options?: unknown): Lower {
  const { concurrency, ordered } = checked(operator, options);
  // One at a time, nothing can overtake.
  if (ordered && concurrency > 1) return orderedKernel(operator, concurrency);
  return mergeMapKernel((value) => operator(of(value)), concurrency);
}

function orderedKernel(operator: Operator, concurrency: number): Lower {
  return (out) => new Ordered(out, operator, concurrency);
}

interface Choice {
  readonly concurrency: number;
  readonly ordered: boolean;
}

function checked(operator: unknown, options: unknown = {}): Choice {
  checkFunction(operator, 'the first argument of perValue()');
  const where = 'the options of perValue()';
  if (!isOptions(options)) {
    throw new MillraceError('ERR_OPTION', `${where} must be an object { concurrency, ordered }, got ${show(options)}`);
  }
  checkKeys(options, ['concurrency', 'ordered'], where);
  const { concurrency = perValueDefaults.concurrency, ordered = perValueDefaults.ordered } = options as Partial<Choice>;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    const why = concurrency === Number.POSITIVE_INFINITY ? ': without a bound nothing would hold the input back' : '';
    throw new MillraceError(
      'ERR_OPTION',
      `concurrency of perValue() must be a whole number of values, at least 1, got ${show(concurrency)}${why}`,
    );
  }
  if (typeof ordered !== 'boolean') {
    throw new MillraceError('ERR_OPTION', `ordered of perValue() must be true or false, got ${show(ordered)}`);
  }
  return { concurrency, ordered };
}

/** What has come of one value and waits for its turn. */
class Lane {
  parked: Queue<unknown> | undefined;
  failure: { readonly reason: unknown } | undefined;
  /** No more comes. */
  ended = false;
  /** Counted among the open inners that end without further input. */
  awaited = false;
}

class Ordered implements Kernel {
  readonly #out: Out;
  readonly #operator: Operator;
  readonly #concurrency: number;
  /** In the order of their values. A lane that has ended stays until all before it have, so that what is parked is bounded. */
  #lanes = new Queue<Lane>();
  /** The first lane, when nothing of it is parked: its outputs pass. None while parked ones are handed over. */
  #direct: Lane | undefined;
  /** Values that could not be kept out: they came through a step that cannot be suspended. */
  #waiting = new Queue<unknown>();
  #parked = 0;
  #awaited = 0;
  #held = false;
  #handing = false;
  #opening = false;
  /** An inner failed: what comes of later values would never come out. */
  #failed = false;
  #ended = false;

  constructor(out: Out, operator: Operator, concurrency: number) {
    this.#out = out;
    this.#operator = operator;
    this.#concurrency = concurrency;
  }

  next(value: unknown): void {
    if (this.#failed) return;
    if (this.#lanes.length < this.#concurrency) this.#open(value);
    else this.#waiting.push(value);
  }

  complete(): void {
    this.#ended = true;
    this.#endWhenDone();
  }

  stop(): void {
    this.#lanes = new Queue();
    this.#waiting = new Queue();
  }

  #open(value: unknown): void {
    const lane = new Lane();
    this.#lanes.push(lane);
    if (this.#lanes.length === 1 && !this.#handing) this.#direct = lane;
    const inner = new Observable<unknown>((subscriber) => this.#subscribe(lane, value, subscriber));
    const bound = this.#out.observe(inner, () => this.#close(lane));
    if (lane.ended || bound) return;
    lane.awaited = true;
    this.#awaited++;
    this.#holdWhenFull();
  }

  #subscribe(lane: Lane, value: unknown, subscriber: Subscriber<unknown>): void {
    // Order: an error waits for its turn like any output, so how it all ends does not depend on who was faster.
    const fail = (reason: unknown): void => {
      lane.failure = { reason };
      this.#failed = true;
      subscriber.complete();
    };
    let applied: Observable<unknown>;
    try {
      applied = from(this.#operator(of(value)));
    } catch (reason) {
      fail(reason);
      return;
    }
    subscribeWithin(subscriber, applied, {
      next: (output) => {
        if (lane === this.#direct) subscriber.next(output);
        else this.#park(lane, output, subscriber);
      },
      error: fail,
      complete: () => subscriber.complete(),
    });
  }

  #park(lane: Lane, output: unknown, subscriber: Subscriber<unknown>): void {
    if (this.#parked === maxParked) {
      const message =
        `${maxParked} outputs of perValue() wait for those of an earlier value. ` +
        'Say ordered: false, or let each value have fewer outputs';
      subscriber.error(new MillraceError('ERR_OUTPUT_BURST', message, { operator: 'perValue' }));
      return;
    }
    this.#parked++;
    lane.parked ??= new Queue();
    lane.parked.push(output);
  }

  #close(lane: Lane): void {
    lane.ended = true;
    if (lane.awaited) this.#awaited--;
    if (lane !== this.#direct) {
      this.#holdWhenFull();
      return;
    }
    this.#direct = undefined;
    if (!this.#isDue()) this.#settle();
    else {
      this.#handing = true;
      this.#out.iterate(this.#due(), this.#handed);
    }
  }

  /** Parked outputs whose turn has come; those that come meanwhile are among them. */
  *#due(): Generator<unknown> {
    do {
      this.#parked--;
      yield this.#lanes.first?.parked?.shift();
    } while (this.#isDue());
  }

  readonly #handed = (): void => {
    this.#handing = false;
    this.#settle();
  };

  /** Lets go of lanes that are through; true when the first one has outputs parked, else they pass from now on. */
  #isDue(): boolean {
    for (let lane = this.#lanes.first; lane !== undefined; lane = this.#lanes.first) {
      if (lane.parked !== undefined && lane.parked.length > 0) return true;
      if (lane.failure !== undefined) throw lane.failure.reason;
      if (!lane.ended) {
        this.#direct = lane;
        return false;
      }
      this.#lanes.shift();
    }
    return false;
  }

  // Waiting values are opened in a loop: thousands of inners that end at once are not so many calls deep.
  #settle(): void {
    if (this.#opening) return;
    this.#opening = true;
    try {
      while (this.#waiting.length > 0 && this.#lanes.length < this.#concurrency && !this.#failed) {
        this.#open(this.#waiting.shift());
      }
    } finally {
      this.#opening = false;
    }
    this.#holdWhenFull();
    this.#endWhenDone();
  }

  // An inner that reads a stream of this segment needs input to end, so it holds nothing back.
  #holdWhenFull(): void {
    const full = this.#awaited > 0 && (this.#failed || this.#lanes.length >= this.#concurrency);
    if (full === this.#held) return;
    this.#held = full;
    if (full) this.#out.hold();
    else this.#out.release();
  }

  #endWhenDone(): void {
    if (this.#ended && this.#lanes.length === 0 && this.#waiting.length === 0) this.#out.sendComplete();
  }
}

/** A kernel on a plain Observable: there is always room, and no input to hold back. */
function plainly(lower: Lower): Operator {
  return (source) =>
    new Observable((subscriber) => {
      const guarded = (work: () => void): void => {
        try {
          work();
        } catch (reason) {
          subscriber.error(reason);
        }
      };
      const error = (reason: unknown): void => subscriber.error(reason);
      const next = (value: unknown): void => subscriber.next(value);
      const kernel = lower({
        emit: next,
        sendComplete: () => subscriber.complete(),
        iterate: (iterator, done) =>
          guarded(() => {
            for (let step = iterator.next(); step.done !== true; step = iterator.next()) {
              subscriber.next(step.value);
              if (subscriber.closed) return;
            }
            done();
          }),
        observe(input, done) {
          let completed = false;
          const complete = (): void => {
            completed = true;
          };
          // Order: an inner is cleaned up before the next one opens, as in RxJS.
          subscribeWithin(subscriber, from(input), { next, error, complete }).add(() => completed && guarded(done));
          return false;
        },
        hold() {},
        release() {},
      });
      subscriber.add(() => kernel.stop?.());
      subscribeWithin(subscriber, source, {
        next: (value) => guarded(() => kernel.next(value)),
        error,
        complete: () => guarded(() => kernel.complete?.()),
      });
    });
}
