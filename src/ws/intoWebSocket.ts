/**
 * intoWebSocket: values into a WebSocket, asked for as far as the socket gets rid of them.
 * Owns what is under way to the socket, and how the end of values closes it.
 * Never polls: the socket's own callbacks say that there is room.
 */

import type { Observable } from 'rxjs';
import type { WebSocket } from 'ws';
import { clock } from '../../runtime/clock.js';
import type { DemandObserver, DemandSubscription } from '../../runtime/demand.js';
import { MillraceError } from '../../runtime/errors.js';
import { show } from '../../runtime/option.js';
import { askable, type CheckedEdge, checkEdge, type EdgeOptions } from '../edges/edge.js';
import { checkSocket, claim, closeCodes, isOrderly, Line, showClose } from './line.js';

export interface IntoWebSocketOptions extends EdgeOptions {
  /** While the socket's `bufferedAmount` is at least this, no value is asked for; default 1 MiB. */
  readonly maxBufferedBytes?: number;
}

const who = 'intoWebSocket()';
const defaultMaxBufferedBytes = 1_048_576;
const capBytes = 4_194_304;

/**
 * Sent without a pause for the event loop: a source that always has a value, and a peer that always has room, would else keep
 * this thread for ever. A message counts for its payload and `frameBytes`. Less than the 1 MiB that wait by default would empty
 * the socket before it is filled, in writes of half the size.
 */
const turnBytes = 1_048_576;
const frameBytes = 128;
/** After so many bytes a value is sent with a callback, by which progress is heard: one for each costs as much as the value. */
const newsBytes = 16_384;

/**
 * Sends strings as text and bytes as binary messages; bytes must not be changed while they wait. It asks for one value after the other,
 * while less than `maxBufferedBytes` wait in the socket: what waits is less than that and one value. Values that know no demand
 * are bounded by `overflow`, from the call on, also while the socket is connecting.
 *
 * When the values end, the socket is closed with 1000 behind the last of them, and the promise resolves when the peer has
 * answered (within the socket's `closeTimeout`). A WebSocket has no half-close: what the peer has not sent by then is lost.
 * In all other cases it leaves the source, closes the socket, terminates it if the peer has not answered in 5 s, and rejects
 * when the socket is closed:
 * - with the error of the source (closed with 1011), with the reason of `signal` (1001)
 * - with `ERR_VALUE` for what is neither a string nor bytes (1011)
 * - with `ERR_OVERFLOW` if 4 MiB, or 4 × `maxBufferedBytes` if that is more, wait because others send on the socket too (1013)
 * - with `ERR_CLOSED` if the socket fails or is closed before the values have ended; `cause` is the socket's error
 *
 * ```ts
 * await intoWebSocket(pull(() => ['one', 'two']), new WebSocket('ws://127.0.0.1:8080'));
 * ```
 */
export function intoWebSocket(
  values: Observable<string | Uint8Array>,
  socket: WebSocket,
  options: IntoWebSocketOptions = {},
): Promise<void> {
  const edge = checkEdge(options, who, ['maxBufferedBytes']);
  const { maxBufferedBytes = defaultMaxBufferedBytes } = options;
  if (!(Number.isInteger(maxBufferedBytes) && maxBufferedBytes >= 1))
    throw new MillraceError(
      'ERR_OPTION',
      `maxBufferedBytes of ${who} must be a whole number of bytes, at least 1, got ${show(maxBufferedBytes)}`,
    );
  checkSocket(socket, who);
  const ask = askable<unknown>(values, edge, who);
  claim(socket, 'writes', who);
  if (Line.isOver(socket)) return Promise.reject(closedError('is closing or closed already'));
  return new Promise((resolve, reject) => {
    new Writing(socket, maxBufferedBytes, edge, { resolve, reject }).begin(ask);
  });
}

interface Settling {
  resolve(): void;
  reject(reason: unknown): void;
}

class Writing implements DemandObserver<unknown> {
  readonly #socket: WebSocket;
  readonly #maxBufferedBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #settling: Settling;
  readonly #line: Line;
  #asked: DemandSubscription | undefined;
  /** A value was asked for and has not come. */
  #asking = false;
  /** Inside a request. */
  #requesting = false;
  /** Callbacks that are to come: all that was sent before is written out then. */
  #news = 0;
  /** Sent since the last one that bears a callback. */
  #unheard = 0;
  /** Sent since the event loop had its last turn. */
  #turn = 0;
  #completed = false;
  #closing = false;
  #failure: { readonly reason: unknown } | undefined;

  constructor(socket: WebSocket, maxBufferedBytes: number, { signal }: CheckedEdge, settling: Settling) {
    this.#socket = socket;
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#signal = signal;
    this.#settling = settling;
    this.#line = new Line(socket, {
      opened: () => this.#go(),
      failed: (reason) => this.#fail(closedError(`failed: ${reason.message}`, { cause: reason }), closeCodes.failed),
      closed: (code, reason) => this.#closed(code, reason),
    });
  }

  begin(ask: (observer: DemandObserver<unknown>) => DemandSubscription): void {
    // Before the source hears of it: 1001 tells the peer more than the error of a source would.
    this.#signal?.addEventListener('abort', this.#abort);
    if (this.#signal?.aborted === true) {
      this.#abort();
      return;
    }
    this.#asked = ask(this);
    if (this.#failure === undefined) this.#go();
    else this.#asked.unsubscribe();
  }

  next(value: unknown): void {
    this.#asking = false;
    if (this.#failure !== undefined) return;
    // What comes within the request comes while nobody else sends.
    const bufferedAmount = this.#requesting ? 0 : this.#socket.bufferedAmount;
    const cap = Math.max(capBytes, 4 * this.#maxBufferedBytes);
    if (!(typeof value === 'string' || value instanceof Uint8Array)) this.#fail(valueError(value), closeCodes.failed);
    else if (!this.#line.isOpen) this.#leave();
    else if (bufferedAmount > cap) this.#fail(overflowed(bufferedAmount, cap), closeCodes.tryLater);
    else {
      this.#send(value);
      this.#go();
    }
  }

  #send(value: string | Uint8Array): void {
    const bytes = frameBytes + value.length;
    if (this.#turn === 0) clock.soon(this.#turned);
    this.#turn += bytes;
    this.#unheard += bytes;
    if (this.#unheard < newsBytes) {
      this.#socket.send(value);
      return;
    }
    this.#unheard = 0;
    this.#news++;
    this.#socket.send(value, this.#sent);
  }

  error(reason: unknown): void {
    this.#fail(reason, closeCodes.failed);
  }

  complete(): void {
    this.#asking = false;
    this.#completed = true;
    this.#go();
  }

  readonly #abort = (): void => this.#fail(this.#signal?.reason, closeCodes.goingAway);

  // What it failed with, the socket says by 'error' or 'close'.
  readonly #sent = (): void => {
    this.#news--;
    this.#go();
  };

  /** Asks for the next value, or ends behind the last. */
  #go(): void {
    if (!this.#line.isOpen || this.#failure !== undefined || this.#asking) return;
    if (this.#completed) {
      // Closed when all is written out: how long the peer may take to answer counts from then.
      if (this.#news > 0 || (this.#unheard > 0 && this.#socket.bufferedAmount > 0)) this.#awaitNews();
      else {
        this.#closing = true;
        this.#line.close(closeCodes.normal);
      }
    } else if (this.#socket.bufferedAmount >= this.#maxBufferedBytes) this.#awaitNews();
    else if (this.#turn < turnBytes) {
      this.#asking = true;
      const outermost = !this.#requesting;
      this.#requesting = true;
      this.#asked?.request(1);
      if (outermost) this.#requesting = false;
    }
  }

  // Where nothing that waits bears a callback, a ping is written behind it that does.
  #awaitNews(): void {
    if (this.#news > 0) return;
    this.#news++;
    this.#unheard = 0;
    this.#socket.ping(undefined, undefined, this.#sent);
  }

  readonly #turned = (): void => {
    this.#turn = 0;
    this.#go();
  };

  #fail(reason: unknown, code: number): void {
    if (this.#failure !== undefined) return;
    this.#failure = { reason };
    this.#leave();
    this.#line.leave(code);
  }

  #leave(): void {
    this.#asked?.unsubscribe();
  }

  #closed(code: number, reason: string): void {
    this.#signal?.removeEventListener('abort', this.#abort);
    if (this.#failure === undefined && this.#closing && isOrderly(code)) {
      this.#settling.resolve();
      return;
    }
    const early = this.#closing ? '' : ' before the values had ended';
    this.#failure ??= { reason: closedError(`${showClose(code, reason)}${early}`) };
    this.#leave();
    this.#settling.reject(this.#failure.reason);
  }
}

function closedError(what: string, options: { readonly cause?: unknown } = {}): MillraceError {
  return new MillraceError('ERR_CLOSED', `the socket of ${who} ${what}`, options);
}

function valueError(value: unknown): MillraceError {
  return new MillraceError(
    'ERR_VALUE',
    `${who} sends strings and Uint8Array, got ${show(value)}: map() it to one of them`,
  );
}

function overflowed(bufferedAmount: number, cap: number): MillraceError {
  return new MillraceError(
    'ERR_OVERFLOW',
    `${bufferedAmount} bytes wait in the socket of ${who}, more than ${cap}: the peer does not read, and something else sends on this socket ` +
      'without regard to bufferedAmount',
  );
}
