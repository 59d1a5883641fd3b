/**
 * A source an executor reads by itself: iterables, async iterables, generators, Node and Web readables.
 * Owns the iterator and the signal it was made with; it is made at the first `take`, and asked only then: demand decides.
 * Never reads ahead: at most the one value asked for waits here.
 */

import { finished, Readable } from 'node:stream';
import { MillraceError } from './errors.js';
import { type Input, none } from './input.js';
import { show } from './option.js';
import { unheard } from './unheard.js';

export type Pullable<T> = Iterable<T> | AsyncIterable<T> | ReadableStream<T> | Readable;
export type MakePullable<T> = (signal: AbortSignal) => Pullable<T>;

/** `wake` is called when a value that `take` did not have has come. */
export function feedOf(make: MakePullable<unknown>, wake: () => void): Input {
  return new Feed(make, wake);
}

/** One way of asking: what `take` of each kind of source is. */
interface Tap {
  take(): unknown;
  readonly ended: boolean;
  close(): void;
}

class Feed implements Input {
  readonly #make: MakePullable<unknown>;
  readonly #wake: () => void;
  readonly #controller = new AbortController();
  #tap: Tap | undefined;
  #finished = false;
  #taking = false;

  constructor(make: MakePullable<unknown>, wake: () => void) {
    this.#make = make;
    this.#wake = wake;
  }

  take(): unknown {
    if (this.#finished) return none;
    this.#taking = true;
    try {
      this.#tap ??= tapOf(this.#make(this.#controller.signal), this.#wake);
      const value = this.#finished ? none : this.#tap.take();
      if (!this.#finished) return value;
    } catch (reason) {
      // It ended by itself: what has thrown is not told to return as well.
      this.#finished = true;
      throw reason;
    } finally {
      this.#taking = false;
    }
    this.#close();
    return none;
  }

  get ended(): boolean {
    return this.#finished || this.#tap?.ended === true;
  }

  finish(): void {
    if (this.ended) return;
    this.#finished = true;
    this.#controller.abort();
    // Finished by its own code, it is closed when that has returned: a running generator cannot be.
    if (!this.#taking) this.#close();
  }

  #close(): void {
    try {
      this.#tap?.close();
    } catch (reason) {
      // The run no longer listens to this source.
      unheard('a pull()', reason);
    }
  }

  drain(): void {
    this.finish();
  }

  discard(): number {
    return 0;
  }
}

function tapOf(source: Pullable<unknown>, wake: () => void): Tap {
  if (source instanceof Readable) return new ReadableTap(source, wake);
  if (source instanceof ReadableStream) return new AsyncTap(chunksOf(source), wake);
  if (typeof source === 'string') throw notPullable(source);
  const candidate = source as Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined;
  const asynchronous = candidate?.[Symbol.asyncIterator]?.();
  if (asynchronous !== undefined) return new AsyncTap(asynchronous, wake);
  const iterator = candidate?.[Symbol.iterator]?.();
  if (iterator !== undefined) return new IteratorTap(iterator);
  throw notPullable(source);
}

function notPullable(source: unknown): MillraceError {
  const message = `the function given to pull() must return an iterable, an async iterable or a readable stream, got ${show(source)}`;
  return new MillraceError('ERR_SOURCE', message);
}

class IteratorTap implements Tap {
  readonly #iterator: Iterator<unknown>;
  ended = false;

  constructor(iterator: Iterator<unknown>) {
    this.#iterator = iterator;
  }

  take(): unknown {
    if (this.ended) return none;
    const { done, value } = this.#iterator.next();
    if (done !== true) return value;
    this.ended = true;
    return none;
  }

  close(): void {
    this.#iterator.return?.();
  }
}

class AsyncTap implements Tap {
  readonly #iterator: AsyncIterator<unknown>;
  readonly #wake: () => void;
  #asked = false;
  #ready: unknown = none;
  #failed: { readonly reason: unknown } | undefined;
  ended = false;

  constructor(iterator: AsyncIterator<unknown>, wake: () => void) {
    this.#iterator = iterator;
    this.#wake = wake;
  }

  take(): unknown {
    if (this.#failed !== undefined) throw this.#failed.reason;
    const value = this.#ready;
    this.#ready = none;
    if (value === none && !this.#asked && !this.ended) this.#ask();
    return value;
  }

  #ask(): void {
    this.#asked = true;
    // As `for await`, which also takes an iterator whose next() returns no promise.
    Promise.resolve(this.#iterator.next()).then(
      ({ done, value }) => {
        this.#asked = false;
        if (done === true) this.ended = true;
        else this.#ready = value;
        this.#wake();
      },
      (reason: unknown) => {
        this.#failed = { reason };
        this.#wake();
      },
    );
  }

  close(): void {
    this.#iterator.return?.()?.then(undefined, (reason: unknown) => unheard('a pull()', reason));
  }
}

/** As the stream's own iterator, but closed also while a chunk is awaited, where that one would wait for the chunk first. */
function chunksOf(stream: ReadableStream<unknown>): AsyncIterator<unknown> {
  const reader = stream.getReader();
  let released = false;
  return {
    next: async () => {
      const { done, value } = await reader.read();
      if (!done) return { done, value };
      released = true;
      reader.releaseLock();
      return { done, value: undefined };
    },
    return: async () => {
      // Left when it has ended and before that was heard.
      if (!released) await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

/** Node streams are read chunk by chunk where they stand, which is several times cheaper than their async iterator. */
class ReadableTap implements Tap {
  readonly #stream: Readable;
  #over = false;
  #failed: { readonly reason: unknown } | undefined;
  ended = false;

  constructor(stream: Readable, wake: () => void) {
    this.#stream = stream;
    stream.on('readable', wake);
    finished(stream, { writable: false }, (error) => {
      this.#over = true;
      if (error) this.#failed = { reason: error };
      wake();
    });
  }

  take(): unknown {
    if (this.ended) return none;
    const chunk: unknown = this.#stream.read();
    if (chunk !== null) return chunk;
    if (this.#failed !== undefined) throw this.#failed.reason;
    this.ended = this.#over;
    return none;
  }

  close(): void {
    this.#stream.destroy();
  }
}
