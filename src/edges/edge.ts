/**
 * Where values leave for something that asks: what all adapters have in common.
 * Owns the options of edges, the way to ask any Observable, and what waits between a push source and its reader.
 * Never hands out more than was asked for, and never anything after `unsubscribe`.
 */

import { type Observable, Subscription } from 'rxjs';
import { subscribeWithin } from '../../operators/within.js';
import { type Ask, Demand, type DemandObserver, type DemandSubscription } from '../../runtime/demand.js';
import { MillraceError } from '../../runtime/errors.js';
import { none } from '../../runtime/input.js';
import { checkKeys, isOptions, show } from '../../runtime/option.js';
import {
  checkOverflow,
  type Overflow,
  type OverflowOptions,
  type OverflowRule,
  Waiting,
} from '../../runtime/overflow.js';
import { unheard } from '../../runtime/unheard.js';
import { askOf, observableOf } from '../demand.js';

export interface EdgeOptions {
  /** Leaves the source and errors with the signal's reason. */
  readonly signal?: AbortSignal;
  /** For values that know no demand; default `auto`. What a topology, `pull` or a `from…` adapter returned is asked instead. */
  readonly overflow?: Overflow | OverflowOptions;
}

export interface CheckedEdge {
  readonly signal: AbortSignal | undefined;
  readonly overflow: OverflowRule;
}

const known = ['signal', 'overflow'] as const;

/** Checks the options of an adapter, `who`, which may have `more` of its own; throws ERR_OPTION. */
export function checkEdge(options: unknown, who: string, more: readonly string[] = []): CheckedEdge {
  if (!isOptions(options))
    throw new MillraceError('ERR_OPTION', `the options of ${who} must be an object, got ${show(options)}`);
  checkKeys(options, [...known, ...more], who);
  const { signal, overflow } = options as { readonly signal?: unknown; readonly overflow?: unknown };
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new MillraceError('ERR_OPTION', `signal of ${who} must be an AbortSignal, got ${show(signal)}`);
  return { signal, overflow: checkOverflow(overflow) };
}

/**
 * A way to ask `values`: its own, or, of a push source, one with a queue in between that `overflow` bounds. Each call of it is a
 * subscription of its own, so that of two readers of one shared source the slow one has a queue, and perhaps an overflow, of its
 * own and never slows the other. Order: what the queue holds comes before the end or the error of its source, but not before an
 * abort. What the source emits within `next` waits, however much was asked for.
 */
export function askable<T>(values: unknown, { signal, overflow }: CheckedEdge, who: string): Ask<T> {
  const source = observableOf<T>(values, who);
  const ask: Ask<T> =
    askOf(values as Observable<T>) ?? ((observer) => new Buffered(source, { signal, overflow }, observer, who));
  return signal === undefined ? ask : (observer) => new Abortable(ask, signal, observer);
}

/** The queue between a push source and who asks. */
class Buffered<T> implements DemandSubscription {
  readonly #observer: DemandObserver<T>;
  readonly #edge: CheckedEdge;
  readonly #who: string;
  readonly #waiting: Waiting;
  readonly #demand = new Demand();
  readonly #source = new Subscription();
  #subscribing = true;
  #handing = false;
  #over = false;
  /** The source has ended; its end waits behind its values. */
  #end: ((observer: DemandObserver<T>) => void) | undefined;

  constructor(values: Observable<T>, edge: CheckedEdge, observer: DemandObserver<T>, who: string) {
    this.#observer = observer;
    this.#edge = edge;
    this.#who = who;
    this.#waiting = new Waiting(edge.overflow);
    subscribeWithin(this.#source, values, {
      next: (value) => this.#next(value),
      error: (reason: unknown) => this.#ended((to) => to.error(reason)),
      complete: () => this.#ended((to) => to.complete()),
    });
    this.#subscribing = false;
  }

  request(n: number): void {
    if (this.#over) return;
    this.#demand.request(n);
    this.#hand();
  }

  unsubscribe(): void {
    this.#over = true;
    this.#waiting.clear();
    this.#left();
  }

  #next(value: T): void {
    if (this.#over || this.#end !== undefined) return;
    // Aborted while it is being subscribed, when nobody can unsubscribe yet.
    if (this.#edge.signal?.aborted === true) this.#left();
    else if (this.#waiting.length === 0 && this.#demand.left > 0 && !this.#handing) this.#give(value);
    else if (!this.#waiting.offer(value)) this.#full();
  }

  // Who asks lives on this very event loop: whoever is held here waits for something that cannot come.
  #full(): void {
    const { strategy } = this.#edge.overflow;
    const held = strategy === 'block' || (strategy === 'auto' && this.#subscribing);
    const reason = held ? heldAt(this.#who) : this.#waiting.overflowed(`the source of ${this.#who}`);
    this.#ended((to) => to.error(reason));
    this.#left();
  }

  // What its clean-up throws is not for whoever has left: as when a run lets go of its input.
  #left(): void {
    try {
      this.#source.unsubscribe();
    } catch (reason) {
      unheard(`the source of ${this.#who}`, reason);
    }
  }

  #ended(end: (observer: DemandObserver<T>) => void): void {
    this.#end ??= end;
    this.#hand();
  }

  #give(value: T): void {
    this.#demand.spend();
    this.#handing = true;
    try {
      this.#observer.next(value);
    } finally {
      this.#handing = false;
    }
    // What came or was asked for meanwhile.
    if (this.#waiting.length > 0) this.#hand();
    else if (this.#end !== undefined) this.#finish();
  }

  #hand(): void {
    if (this.#handing) return;
    this.#handing = true;
    try {
      while (this.#demand.left > 0 && !this.#over) {
        const value = this.#waiting.take();
        if (value === none) break;
        this.#demand.spend();
        this.#observer.next(value as T);
      }
    } finally {
      this.#handing = false;
    }
    if (this.#end !== undefined && this.#waiting.length === 0) this.#finish();
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#end?.(this.#observer);
  }
}

/** Why a source that would be held where only the event loop it holds could help is given up. */
export function heldAt(who: string): MillraceError {
  return new MillraceError(
    'ERR_HELD',
    `the source of ${who} is to be held until there is room, but ${who} can only take values when it has returned to the event loop: it would wait for ever. ` +
      'Give it demand: pull(() => iterable) instead of from(iterable), fromRequest(), fromPublisher(); or say what shall become of its values by `overflow`',
  );
}

/** Ends what was asked when a signal is aborted. */
class Abortable<T> implements DemandSubscription {
  readonly #signal: AbortSignal;
  readonly #asked: DemandSubscription | undefined;
  #over = false;
  #handing = false;
  /** Aborted within `next`, which returns before the error comes. */
  #aborted = false;
  readonly #abort: () => void;

  constructor(ask: Ask<T>, signal: AbortSignal, observer: DemandObserver<T>) {
    this.#signal = signal;
    this.#abort = () => {
      if (this.#over) return;
      this.unsubscribe();
      if (this.#handing) this.#aborted = true;
      else observer.error(signal.reason);
    };
    if (signal.aborted) {
      this.#abort();
      return;
    }
    signal.addEventListener('abort', this.#abort, { once: true });
    this.#asked = ask({
      next: (value) => {
        if (this.#over) return;
        this.#handing = true;
        try {
          observer.next(value);
        } finally {
          this.#handing = false;
        }
        if (this.#aborted) observer.error(signal.reason);
      },
      error: (reason) => this.#ended(() => observer.error(reason)),
      complete: () => this.#ended(() => observer.complete()),
    });
    if (this.#over) this.#asked.unsubscribe();
  }

  request(n: number): void {
    if (!this.#over) this.#asked?.request(n);
  }

  unsubscribe(): void {
    this.#aborted = false;
    this.#leave();
    this.#asked?.unsubscribe();
  }

  #ended(end: () => void): void {
    if (this.#over) return;
    this.#leave();
    end();
  }

  #leave(): void {
    this.#over = true;
    this.#signal.removeEventListener('abort', this.#abort);
  }
}
