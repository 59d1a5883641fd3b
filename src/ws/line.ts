/**
 * A socket of `ws` as both adapters see it: that it opens, fails and closes, and how it is closed within a bound.
 * Owns the listeners for that, who reads and who writes a socket, and which codes end a stream in order.
 * Never imports `ws`: the socket is given. Never reads or sends.
 */

import type { WebSocket } from 'ws';
import { clock } from '../../runtime/clock.js';
import { MillraceError } from '../../runtime/errors.js';
import { show } from '../../runtime/option.js';

const connecting = 0;
const open = 1;
const closing = 2;
const closed = 3;

/** How long the peer of a socket that is left or has failed may take to answer. */
const closeMs = 5_000;

/** Close codes of RFC 6455 §7.4.1. */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  none: 1005,
  lost: 1006,
  tooBig: 1009,
  failed: 1011,
  tryLater: 1013,
} as const;

const methods = ['on', 'off', 'send', 'ping', 'close', 'terminate', 'pause', 'resume'] as const;

/** Refuses what is no socket of `ws`; throws ERR_OPTION. */
export function checkSocket(socket: unknown, who: string): void {
  const given = (typeof socket === 'object' && socket !== null ? socket : {}) as Readonly<Record<string, unknown>>;
  const missing = [
    ...methods.filter((name) => typeof given[name] !== 'function').map((name) => `${name}()`),
    ...['readyState', 'bufferedAmount'].filter((name) => typeof given[name] !== 'number'),
  ];
  if (missing.length > 0)
    throw new MillraceError(
      'ERR_OPTION',
      `${who} takes a WebSocket of the package ws (8.21.1 or later), got ${show(socket)}, which lacks ${missing.join(', ')}`,
    );
  if (given['binaryType'] === 'blob')
    throw new MillraceError('ERR_OPTION', `${who} takes a socket of binaryType "nodebuffer", got "blob"`);
}

const reading = new WeakSet<WebSocket>();
const writing = new WeakSet<WebSocket>();

/** One socket is one stream in each direction; throws ERR_OPTION. */
export function claim(socket: WebSocket, role: 'reads' | 'writes', who: string): void {
  const claimed = role === 'reads' ? reading : writing;
  if (claimed.has(socket))
    throw new MillraceError(
      'ERR_OPTION',
      `${who} was called with this socket before: one socket is one stream, share() its values`,
    );
  claimed.add(socket);
}

/** Whether values still go into the socket: then it is closed behind them, not by who has stopped reading. */
export function isWritten(socket: WebSocket): boolean {
  return writing.has(socket);
}

/** Whether a close code is that of an end, not of a failure. */
export function isOrderly(code: number): boolean {
  return code === closeCodes.normal || code === closeCodes.goingAway || code === closeCodes.none;
}

/** A close code as part of a sentence. */
export function showClose(code: number, reason: string): string {
  const said = reason === '' ? '' : ` (${show(reason)})`;
  return code === closeCodes.lost ? 'was lost without a close frame (1006)' : `was closed with code ${code}${said}`;
}

export interface LineEvents {
  opened(): void;
  failed(reason: Error): void;
  /** The last one. No listener of the line is left. */
  closed(code: number, reason: string): void;
}

export class Line {
  readonly #socket: WebSocket;
  readonly #events: LineEvents;
  /** Whether there is, or was, a connection: without one, ws can neither pause nor resume. */
  #connected: boolean;
  #cancel: (() => void) | undefined;

  /** Of a socket that is neither closing nor closed: `isOver`. */
  constructor(socket: WebSocket, events: LineEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#connected = socket.readyState === open;
    if (!this.#connected) socket.on('open', this.#opened);
    socket.on('error', this.#failed);
    socket.on('close', this.#closed);
  }

  /** Closing or closed: its events may have been, or come too soon for who is called now. */
  static isOver(socket: WebSocket): boolean {
    return socket.readyState === closing || socket.readyState === closed;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === open;
  }

  pause(): void {
    if (this.#connected && !this.#socket.isPaused) this.#socket.pause();
  }

  resume(): void {
    if (this.#connected && this.#socket.isPaused) this.#socket.resume();
  }

  /** Begins to close; the peer may take as long as the socket's own `closeTimeout`. */
  close(code: number): void {
    const { readyState } = this.#socket;
    // Before there is a connection there is nobody to tell a code.
    if (readyState === connecting) this.#socket.terminate();
    else if (readyState === open) this.#socket.close(code);
    // The peer's answer is read as all else is.
    this.resume();
  }

  /** Closes, and gives up on a peer that does not answer. */
  leave(code: number): void {
    this.close(code);
    if (this.#socket.readyState === closed) return;
    this.#cancel ??= clock.later(closeMs, () => this.#socket.terminate(), 'idle');
  }

  /** Hears no more. For sockets that another line listens to. */
  detach(): void {
    this.#cancel?.();
    this.#socket.off('open', this.#opened);
    this.#socket.off('error', this.#failed);
    this.#socket.off('close', this.#closed);
  }

  readonly #opened = (): void => {
    this.#connected = true;
    this.#socket.off('open', this.#opened);
    this.#events.opened();
  };

  // Stays until the socket is closed: an 'error' that nobody listens to ends the process.
  readonly #failed = (reason: Error): void => this.#events.failed(reason);

  readonly #closed = (code: number, reason: Buffer): void => {
    this.detach();
    writing.delete(this.#socket);
    this.#events.closed(code, reason.toString());
  };
}
