/**
 * Values into a sink: a Node Writable or a Web WritableStream, as fast as it takes them.
 * Owns the sink until it is closed, and the subscription. Never writes where the sink has said that it is full.
 */

import { finished, Writable } from 'node:stream';
import type { Observable } from 'rxjs';
import { clock } from '../../runtime/clock.js';
import type { Ask, DemandSubscription } from '../../runtime/demand.js';
import { MillraceError } from '../../runtime/errors.js';
import { show } from '../../runtime/option.js';
import { askable, checkEdge, type EdgeOptions } from './edge.js';

/**
 * Writes all values, ends the sink, and resolves when it has finished. One value is asked for at a time, when the sink has room.
 * An error of the source, or the reason of an aborted `signal`, destroys the sink and rejects; an error or an early end of the sink
 * unsubscribes the source and rejects (`ERR_CLOSED`, if it was ended by somebody else). `process.stdout` and `process.stderr` stay
 * open. A `null` for a Node sink is `ERR_VALUE`.
 *
 * ```ts
 * await into(lines.pipe(parsed(), map((row) => `${JSON.stringify(row)}\n`)), createWriteStream('out.ndjson'));
 * ```
 *
 * Wrong options, and what is no sink, throw `ERR_OPTION`.
 */
export function into<T>(
  values: Observable<T>,
  sink: Writable | WritableStream<T>,
  options: EdgeOptions = {},
): Promise<void> {
  const edge = checkEdge(options, 'into()');
  const ask = askable<T>(values, edge, 'into()');
  const mouth = mouthOf<T>(sink);
  return new Promise((resolve, reject) => new Pour(ask, mouth, edge.signal, resolve, reject).begin());
}

/** Written without a pause for the event loop, at most. */
const turnValues = 1_024;

/** A sink of either kind. */
interface Mouth<T> {
  /** Hears once that the sink is over: finished as `close` asked, or for a reason. False: it takes nothing any more. */
  watch(finished: () => void, over: (reason: unknown) => void): boolean;
  /** Calls back, at once or later, when there is room for a value; not before it was watched. */
  room(then: () => void): void;
  /** Throws what the sink throws. */
  write(value: T): void;
  close(): void;
  abort(reason: unknown): void;
  /** Lets go of it. */
  leave(): void;
}

class Pour<T> {
  readonly #ask: Ask<T>;
  readonly #mouth: Mouth<T>;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  #asked: DemandSubscription | undefined;
  /** Values since the event loop last had its turn. */
  #turn = 0;
  #over = false;

  constructor(
    ask: Ask<T>,
    mouth: Mouth<T>,
    signal: AbortSignal | undefined,
    resolve: () => void,
    reject: (reason: unknown) => void,
  ) {
    this.#ask = ask;
    this.#mouth = mouth;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const takes = this.#mouth.watch(this.#finished, (reason) => this.#fail(reason));
    if (!takes || this.#over) return;
    const asked = this.#ask({
      next: (value) => this.#write(value),
      error: (reason) => this.#abort(reason),
      complete: () => this.#close(),
    });
    this.#asked = asked;
    if (this.#over) asked.unsubscribe();
    else this.#mouth.room(this.#more);
  }

  readonly #more = (): void => {
    if (!this.#over) this.#asked?.request(1);
  };

  #write(value: T): void {
    try {
      this.#mouth.write(value);
    } catch (reason) {
      this.#abort(reason);
      return;
    }
    if (++this.#turn < turnValues) this.#mouth.room(this.#more);
    else this.#nextTurn();
  }

  // A source that always has a value and a sink that always has room would else keep this thread for ever, and a signal unheard.
  #nextTurn(): void {
    this.#turn = 0;
    clock.soon(() => {
      if (!this.#over) this.#mouth.room(this.#more);
    });
  }

  // The source has ended and hears no signal any more, but a sink may take its time.
  #close(): void {
    this.#signal?.addEventListener('abort', this.#aborted);
    this.#mouth.close();
  }

  readonly #aborted = (): void => this.#abort(this.#signal?.reason);

  readonly #finished = (): void => {
    if (this.#leave()) this.#resolve();
  };

  #abort(reason: unknown): void {
    if (this.#over) return;
    this.#mouth.abort(reason);
    this.#fail(reason);
  }

  #fail(reason: unknown): void {
    if (this.#leave()) this.#reject(reason);
  }

  #leave(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#signal?.removeEventListener('abort', this.#aborted);
    this.#asked?.unsubscribe();
    this.#mouth.leave();
    return true;
  }
}

function mouthOf<T>(sink: unknown): Mouth<T> {
  if (isWritable(sink)) return new NodeMouth(sink);
  const { getWriter } = (sink ?? {}) as Partial<WritableStream<T>>;
  if (typeof getWriter !== 'function') {
    const message = `into() takes a Node Writable or a WritableStream, got ${show(sink)}`;
    throw new MillraceError('ERR_OPTION', message);
  }
  const stream = sink as WritableStream<T>;
  if (stream.locked)
    throw new MillraceError('ERR_OPTION', 'the sink of into() is locked: somebody else has its writer');
  return new WebMouth(stream.getWriter());
}

function isWritable(sink: unknown): sink is Writable {
  const { write, end, on } = (sink ?? {}) as Partial<Writable>;
  return sink instanceof Writable || [write, end, on].every((method) => typeof method === 'function');
}

function endedEarly(): MillraceError {
  return new MillraceError('ERR_CLOSED', 'the sink of into() has ended before its values');
}

class NodeMouth<T> implements Mouth<T> {
  readonly #sink: Writable;
  readonly #stays: boolean;
  #finished: () => void = () => {};
  #stopWatching: () => void = () => {};
  #drained: (() => void) | undefined;
  #full: boolean;
  #closing = false;

  constructor(sink: Writable) {
    this.#sink = sink;
    this.#stays = sink === process.stdout || sink === process.stderr;
    this.#full = sink.writableNeedDrain === true;
  }

  watch(done: () => void, over: (reason: unknown) => void): boolean {
    const sink = this.#sink;
    if (sink.writableEnded === true && !sink.destroyed) {
      over(endedEarly());
      return false;
    }
    this.#finished = done;
    sink.on('drain', this.#onDrain);
    this.#stopWatching = finished(sink, { readable: false }, (error) => {
      if (error == null && this.#closing) done();
      else over(error ?? endedEarly());
    });
    // Of one that is destroyed, this tells in a moment.
    return sink.writable !== false;
  }

  readonly #onDrain = (): void => {
    const drained = this.#drained;
    this.#drained = undefined;
    this.#full = false;
    drained?.();
  };

  room(then: () => void): void {
    if (this.#full) this.#drained = then;
    else then();
  }

  write(value: T): void {
    if (value === null)
      throw new MillraceError('ERR_VALUE', 'into() got null, which a Node stream does not take: map() or filter() it');
    this.#full = !this.#sink.write(value);
  }

  close(): void {
    this.#closing = true;
    if (!this.#stays) this.#sink.end();
    else
      this.#sink.write('', (error) => {
        if (error == null) this.#finished();
      });
  }

  abort(reason: unknown): void {
    const sink = this.#sink;
    if (this.#stays || sink.destroyed) return;
    // What it says of it is no news.
    const hush = (): void => {};
    sink.on('error', hush);
    sink.once('close', () => sink.off('error', hush));
    sink.destroy(reason as Error);
  }

  leave(): void {
    this.#stopWatching();
    this.#sink.off('drain', this.#onDrain);
  }
}

class WebMouth<T> implements Mouth<T> {
  readonly #writer: WritableStreamDefaultWriter<T>;
  #closing = false;

  constructor(writer: WritableStreamDefaultWriter<T>) {
    this.#writer = writer;
  }

  watch(done: () => void, over: (reason: unknown) => void): boolean {
    this.#writer.closed.then(() => (this.#closing ? done() : over(endedEarly())), over);
    return true;
  }

  room(then: () => void): void {
    const writer = this.#writer;
    // Of a stream that has ended or failed, `closed` tells.
    if ((writer.desiredSize ?? 0) > 0) then();
    else writer.ready.then(then, () => {});
  }

  write(value: T): void {
    // A write that fails errors the stream, which `closed` tells.
    this.#writer.write(value).catch(() => {});
  }

  close(): void {
    this.#closing = true;
    this.#writer.close().catch(() => {});
  }

  abort(reason: unknown): void {
    this.#writer.abort(reason).catch(() => {});
  }

  leave(): void {
    this.#writer.releaseLock();
    this.#writer.closed.catch(() => {});
    this.#writer.ready.catch(() => {});
  }
}
