/**
 * pull: a source that is asked. Inside `build` it begins a segment of its own; elsewhere it is an Observable with demand.
 * Owns the brand by which a topology finds the demand of its input. Never reads ahead.
 */

import type { Observable } from 'rxjs';
import { checkFunction } from '../operators/cut.js';
import { Flow } from '../operators/flow.js';
import { type PullNode, recordingNow } from '../operators/recording.js';
import { added, type DemandObserver, type DemandSubscription } from '../runtime/demand.js';
import { feedOf, type MakePullable, type Pullable } from '../runtime/feed.js';
import { type Input, none } from '../runtime/input.js';
import { Asked } from './demand.js';

export type { Pullable } from '../runtime/feed.js';

/**
 * A source made anew for every subscription and asked for a value only when there is room for it.
 * `make` may return an iterable, an async iterable, a generator, a Node or a Web readable; `signal` is aborted when the run
 * ends before the source does. What it throws is `ERR_SOURCE` in a topology; elsewhere it arrives as it is.
 *
 * ```ts
 * const lines = pull(() => createInterface({ input: createReadStream('app.log') }));
 * lines.pipe(wordCount()).subscribe(console.log);
 * ```
 */
export function pull<T>(make: (signal: AbortSignal) => Pullable<T>): Observable<T> {
  checkFunction(make, 'the argument of pull()');
  const recording = recordingNow();
  if (recording === undefined) return new Pull<T>(make);
  const feed = (wake: () => void): Input => feedOf(make, wake);
  return new Flow<T>(recording.add<PullNode>({ kind: 'pull', parents: [], feed }));
}

class Pull<T> extends Asked<T> {
  readonly #make: MakePullable<T>;

  constructor(make: MakePullable<T>) {
    super((observer) => new Driven(make, observer));
    this.#make = make;
  }

  /** The feed of `source`, if it is one of ours: a topology takes from it without a step in between. */
  static feedOf(source: Observable<unknown>): ((wake: () => void) => Input) | undefined {
    if (!(#make in source)) return undefined;
    const make = source.#make;
    return (wake) => feedOf(make, wake);
  }
}

export function feedOfPull(source: Observable<unknown>): ((wake: () => void) => Input) | undefined {
  return Pull.feedOf(source);
}

/** A source outside a topology, driven by demand. That it has ended is seen when it is asked: whatever it is, it is never asked ahead. */
class Driven<T> implements DemandSubscription {
  readonly #observer: DemandObserver<T>;
  readonly #feed: Input;
  /** Asked for and not handed over. */
  #left = 0;
  #running = false;
  #over = false;

  constructor(make: MakePullable<T>, observer: DemandObserver<T>) {
    this.#observer = observer;
    this.#feed = feedOf(make, () => this.#run());
  }

  request(n: number): void {
    if (this.#over) return;
    this.#left = added(this.#left, n);
    this.#run();
  }

  unsubscribe(): void {
    if (this.#over) return;
    this.#over = true;
    this.#feed.finish();
  }

  #run(): void {
    if (this.#running || this.#over) return;
    this.#running = true;
    const feed = this.#feed;
    // What the observer throws is not the source's error: observers do not throw (demand.ts).
    try {
      while (this.#left > 0 && !this.#over) {
        const value = feed.take();
        if (value !== none) {
          this.#left--;
          this.#observer.next(value as T);
          continue;
        }
        if (feed.ended) this.#ended(() => this.#observer.complete());
        break;
      }
    } catch (reason) {
      this.#ended(() => this.#observer.error(reason));
    }
    this.#running = false;
  }

  #ended(end: () => void): void {
    if (this.#over) return;
    this.#over = true;
    end();
  }
}
