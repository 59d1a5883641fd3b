/**
 * pull: a source that is asked. Inside `build` it begins a segment of its own; elsewhere it is an Observable with demand.
 * Owns the brand by which a topology finds the demand of its input. Never reads ahead.
 */

import { Observable, type Subscriber } from 'rxjs';
import { checkFunction } from '../operators/cut.js';
import { Flow } from '../operators/flow.js';
import { type PullNode, recordingNow } from '../operators/recording.js';
import { feedOf, type MakePullable, type Pullable } from '../runtime/feed.js';
import { type Input, none } from '../runtime/input.js';

export type { Pullable } from '../runtime/feed.js';

/**
 * A source made anew for every subscription and asked for a value only when there is room for it.
 * `make` may return an iterable, an async iterable, a generator, a Node or a Web readable; `signal` is aborted when the run
 * ends before the source does. What it throws is `ERR_SOURCE`.
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

class Pull<T> extends Observable<T> {
  readonly #make: MakePullable<T>;

  constructor(make: MakePullable<T>) {
    super((subscriber) => drive(make, subscriber));
    this.#make = make;
  }

  /** The feed of `source`, if it is one of ours: a topology asks it instead of subscribing. */
  static feedOf(source: Observable<unknown>): ((wake: () => void) => Input) | undefined {
    if (!(#make in source)) return undefined;
    const make = source.#make;
    return (wake) => feedOf(make, wake);
  }
}

export function feedOfPull(source: Observable<unknown>): ((wake: () => void) => Input) | undefined {
  return Pull.feedOf(source);
}

/** A plain subscription asks without end. */
function drive<T>(make: MakePullable<T>, subscriber: Subscriber<T>): () => void {
  const input = feedOf(make, run);
  let running = false;
  function run(): void {
    if (running) return;
    running = true;
    try {
      while (!subscriber.closed) {
        const value = input.take();
        if (value === none) break;
        subscriber.next(value as T);
      }
      if (input.ended) subscriber.complete();
    } catch (reason) {
      subscriber.error(reason);
    }
    running = false;
  }
  run();
  return () => input.finish();
}
