/**
 * Values into a sink: a Node Writable or a Web WritableStream, as fast as it takes them.
 * Owns the sink until it is closed, and the subscription. Never writes where the sink has said that it is full.
 */

import { finished, Writable } from 'node:stream';
import type { Observable } from 'rxjs';
import type { Ask, DemandSubscription } from '../../runtime/demand.js';
import { MillraceError } from '../../runtime/errors.js';
import { show } from '../../runtime/option.js';
import { askable, checkEdge, type EdgeOptions } from './edge.js';

/**
 * Writes all values, ends the sink, and resolves when it has finished. One value is asked for at a time, when the sink has room.
 * An error of the source, or the reason of an aborted `signal`, destroys the sink and rejects; an error or an early end of the sink
 * unsubscribes the source and rejects. `process.stdout` and `process.stderr` stay open.
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
  const ask = askable<T>(values, checkEdge(options, 'into()'), 'into()');
  return new Promise((resolve, reject) => new Pour(ask, mouthOf(sink), resolve, reject).begin());
}

/** A sink of either kind. */
interface Mouth<T> {
  /** Hears once that the sink has ended, by error or by itself. */
  watch(over: (reason: unknown) => void): void;
  /** Calls back, at once or later, when there is room for another value. Throws what the sink throws. */
  write(value: T, room: () => void): void;
  /** Closes it; calls back when it has finished. */
  close(done: () => void): void;
  abort(reason: unknown): void;
  /** Lets go of it. */
  leave(): void;
}

class Pour<T> {
  readonly #ask: Ask<T>;
  readonly #mouth: Mouth<T>;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  #asked: DemandSubscription | undefined;
  #over = false;

  constructor(ask: Ask<T>, mouth: Mouth<T>, resolve: () => void, reject: (reason: unknown) => void) {
    this.#ask = ask;
    this.#mouth = mouth;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const mouth = this.#mouth;
    mouth.watch((reason) => this.#fail(reason, () => mouth.leave()));
    if (this.#over) return;
    const asked = this.#ask({
      next: (value) => this.#write(value),
      error: (reason) =>
        this.#fail(reason, () => {
          mouth.abort(reason);
          mouth.leave();
        }),
      complete: () => this.#close(),
    });
    this.#asked = asked;
    if (this.#over) asked.unsubscribe();
    else asked.request(1);
  }

  #write(value: T): void {
    try {
      this.#mouth.write(value, () => {
        if (!this.#over) this.#asked?.request(1);
      });
    } catch (reason) {
      this.#fail(reason, () => {
        this.#mouth.abort(reason);
        this.#mouth.leave();
      });
    }
  }

  #close(): void {
    this.#mouth.close(() => {
      if (this.#over) return;
      this.#over = true;
      this.#mouth.leave();
      this.#resolve();
    });
  }

  #fail(reason: unknown, letGo: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#asked?.unsubscribe();
    letGo();
    this.#reject(reason);
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

class NodeMouth<T> implements Mouth<T> {
  readonly #sink: Writable;
  readonly #stays: boolean;
  #stopWatching: () => void = () => {};
  #drained: (() => void) | undefined;
  #closed: (() => void) | undefined;

  constructor(sink: Writable) {
    this.#sink = sink;
    this.#stays = sink === process.stdout || sink === process.stderr;
  }

  watch(over: (reason: unknown) => void): void {
    this.#sink.on('drain', this.#onDrain);
    this.#stopWatching = finished(this.#sink, { readable: false }, (error) => {
      if (error == null && this.#closed !== undefined) this.#closed();
      else over(error ?? new MillraceError('ERR_CLOSED', 'the sink of into() has ended before its values'));
    });
  }

  readonly #onDrain = (): void => {
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.();
  };

  write(value: T, room: () => void): void {
    if (this.#sink.write(value)) room();
    else this.#drained = room;
  }

  close(done: () => void): void {
    this.#closed = done;
    if (this.#stays) this.#sink.write('', () => done());
    else this.#sink.end();
  }

  abort(reason: unknown): void {
    // What it says of it is no news.
    this.#sink.on('error', () => {});
    if (!this.#stays) this.#sink.destroy(reason as Error);
  }

  leave(): void {
    this.#stopWatching();
    this.#sink.off('drain', this.#onDrain);
  }
}

class WebMouth<T> implements Mouth<T> {
  readonly #writer: WritableStreamDefaultWriter<T>;

  constructor(writer: WritableStreamDefaultWriter<T>) {
    this.#writer = writer;
  }

  watch(over: (reason: unknown) => void): void {
    this.#writer.closed.then(
      () => over(new MillraceError('ERR_CLOSED', 'the sink of into() has ended before its values')),
      over,
    );
  }

  write(value: T, room: () => void): void {
    const writer = this.#writer;
    // A write that fails errors the stream, which `closed` tells.
    writer.write(value).catch(() => {});
    if ((writer.desiredSize ?? 0) > 0) room();
    else writer.ready.then(room, () => {});
  }

  close(done: () => void): void {
    // Its failure is told by `closed` as well; its success, here, before that of `closed`.
    this.#writer.close().then(done, () => {});
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
