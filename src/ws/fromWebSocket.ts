/**
 * fromWebSocket: what a WebSocket receives, as it is asked for.
 * Owns the messages that ws still delivers after pause(), and how a socket ends a stream.
 * Never resumes the socket without demand, except to close it.
 */

import type { Observable } from 'rxjs';
import type { RawData, WebSocket } from 'ws';
import { Demand, type DemandObserver, type DemandSubscription } from '../../runtime/demand.js';
import { MillraceError } from '../../runtime/errors.js';
import { checkKeys, isOptions, show } from '../../runtime/option.js';
import { Queue } from '../../runtime/queue.js';
import { Asked } from '../demand.js';
import { checkSocket, claim, closeCodes, isOrderly, isWritten, Line, showClose } from './line.js';

export interface FromWebSocketOptions {
  /** Bytes a message may have; default 1 MiB. */
  readonly maxPayload?: number;
}

type Message = string | Uint8Array;

const who = 'fromWebSocket()';
const defaultMaxPayload = 1_048_576;

/**
 * The messages of a socket of the package `ws`: text as strings, binary as bytes of their own. It has demand: without any the
 * socket is paused, and TCP makes the peer wait.
 *
 * It listens from the moment it is called, so call it where the socket is made; what arrives before it is asked for waits in the
 * peer. A paused socket still delivers what it has parsed of the same read: at most 64 KiB of frames wait here, and the message
 * that they complete (with perMessageDeflate, what 64 KiB inflate to). While it is paused, neither a close frame nor a pong is
 * read: a peer that closes is heard behind its messages.
 *
 * It completes when the peer closes with 1000, 1001 or no code. Any other end is `ERR_SOURCE`, with the code and the reason in the
 * message: a lost connection (1006), an error of the socket (`cause`), a message above `maxPayload` (closed with 1009), a socket
 * that is closing or closed already. One socket is one stream: a second subscription is `ERR_NOT_REPEATABLE`.
 * Unsubscribing closes the socket with 1000, and terminates it 5 s later if the peer does not answer; while intoWebSocket() sends
 * on the same socket, it only stops reading, and the socket is closed behind the last value.
 *
 * ```ts
 * server.on('connection', (socket) => fromWebSocket(socket).pipe(wordCount()).subscribe(console.log));
 * ```
 */
export function fromWebSocket(socket: WebSocket, options: FromWebSocketOptions = {}): Observable<string | Uint8Array> {
  checkSocket(socket, who);
  if (!isOptions(options))
    throw new MillraceError('ERR_OPTION', `the options of ${who} must be an object, got ${show(options)}`);
  checkKeys(options, ['maxPayload'], who);
  const { maxPayload = defaultMaxPayload } = options;
  if (!(Number.isInteger(maxPayload) && maxPayload >= 1))
    throw new MillraceError(
      'ERR_OPTION',
      `maxPayload of ${who} must be a whole number of bytes, at least 1, got ${show(maxPayload)}`,
    );
  claim(socket, 'reads', who);
  const reading = new Reading(socket, maxPayload);
  return new Asked<Message>((observer) => reading.ask(observer));
}

export class Reading implements DemandSubscription {
  readonly #socket: WebSocket;
  readonly #maxPayload: number;
  readonly #line: Line | undefined;
  readonly #waiting = new Queue<Message>();
  readonly #demand = new Demand();
  #observer: DemandObserver<Message> | undefined;
  #handing = false;
  #over = false;
  /** The stream has ended; its end waits behind its messages. */
  #end: ((observer: DemandObserver<Message>) => void) | undefined;

  constructor(socket: WebSocket, maxPayload: number) {
    this.#socket = socket;
    this.#maxPayload = maxPayload;
    if (Line.isOver(socket)) {
      this.#end = (to) => to.error(failure('is closing or closed already'));
      return;
    }
    this.#line = new Line(socket, {
      opened: () => this.#flow(),
      failed: (reason) => this.#ended((to) => to.error(failed(reason))),
      closed: (code, reason) =>
        this.#ended((to) => (isOrderly(code) ? to.complete() : to.error(failure(showClose(code, reason))))),
    });
    socket.on('message', this.#received);
    this.#flow();
  }

  /** Messages that came without demand. */
  get waiting(): number {
    return this.#waiting.length;
  }

  ask(observer: DemandObserver<Message>): DemandSubscription {
    if (this.#observer !== undefined) {
      const message = `${who} was subscribed a second time: one socket is one stream, share() its values`;
      observer.error(new MillraceError('ERR_NOT_REPEATABLE', message));
      return { request: () => {}, unsubscribe: () => {} };
    }
    this.#observer = observer;
    this.#hand();
    return this;
  }

  request(n: number): void {
    if (this.#over) return;
    this.#demand.request(n);
    this.#hand();
  }

  unsubscribe(): void {
    if (this.#over) return;
    this.#over = true;
    while (this.#waiting.length > 0) this.#waiting.shift();
    if (this.#end !== undefined) return;
    this.#socket.off('message', this.#received);
    if (isWritten(this.#socket)) {
      this.#line?.detach();
      this.#line?.resume();
    } else this.#line?.leave(closeCodes.normal);
  }

  readonly #received = (data: RawData, isBinary: boolean): void => {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : data;
    if (bytes.byteLength > this.#maxPayload) {
      const size = `${bytes.byteLength} bytes, more than maxPayload (${this.#maxPayload})`;
      const reason = failure(`received a message of ${size}, and was closed with code 1009`);
      this.#ended((to) => to.error(reason), closeCodes.tooBig);
      return;
    }
    // A copy: what ws hands over is a view into what was read at once, other messages beside it.
    const message = isBinary ? new Uint8Array(bytes) : bytes.toString();
    const observer = this.#observer;
    const waits = this.#handing || this.#waiting.length > 0 || this.#demand.left === 0 || observer === undefined;
    if (waits) this.#waiting.push(message);
    else this.#give(message, observer);
    // Nothing else to do: the rule for a reader that asks without end.
    if (!waits && this.#end === undefined && this.#demand.left > 0 && this.#waiting.length === 0) return;
    this.#hand();
  };

  #give(message: Message, observer: DemandObserver<Message>): void {
    this.#handing = true;
    this.#demand.spend();
    observer.next(message);
    this.#handing = false;
  }

  #hand(): void {
    const observer = this.#observer;
    if (this.#handing || this.#over) return;
    this.#handing = true;
    while (observer !== undefined && this.#demand.left > 0 && this.#waiting.length > 0) {
      this.#demand.spend();
      observer.next(this.#waiting.shift() as Message);
    }
    this.#handing = false;
    if (this.#over) return;
    if (this.#end === undefined) this.#flow();
    else if (observer !== undefined && this.#waiting.length === 0) {
      this.#over = true;
      this.#end(observer);
    }
  }

  #flow(): void {
    if (this.#demand.left > 0) this.#line?.resume();
    else this.#line?.pause();
  }

  #ended(end: (observer: DemandObserver<Message>) => void, code: number = closeCodes.failed): void {
    if (this.#over || this.#end !== undefined) return;
    this.#end = end;
    this.#socket.off('message', this.#received);
    this.#line?.leave(code);
    this.#hand();
  }
}

function failed(reason: Error): MillraceError {
  const { code } = reason as { readonly code?: unknown };
  const advice =
    code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
      ? ": a message was larger than the socket's own maxPayload, and it was closed with code 1009"
      : `: ${reason.message}`;
  return failure(`failed${advice}`, { cause: reason });
}

function failure(what: string, options: { readonly cause?: unknown } = {}): MillraceError {
  return new MillraceError('ERR_SOURCE', `the socket of ${who} ${what}`, options);
}
