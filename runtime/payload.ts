/**
 * The contract of a codec: values in, the payload of a frame out, and back.
 * Owns the flags of a payload and the check that a frame holds what it announces. Never writes a frame header.
 */

import { MillraceError } from './errors.js';

/** The payload lies in scratch and is valid until the next encode on this thread: the caller copies it. */
export interface Encoded {
  readonly payload: Uint8Array;
  readonly flags: number;
}

/** The open batch of a channel, as snapshots: what is added later changes does not arrive. */
export interface Encoder {
  readonly count: number;
  /** Estimate of the encoded size of all values added. */
  readonly bytes: number;
  /** Returns `bytes`. Throws ERR_VALUE and adds nothing if the value cannot travel. */
  add(value: unknown): number;
  /** The values `from` to `to`, exclusive, as one payload. */
  encode(from: number, to: number): Encoded;
  clear(): void;
}

export interface Decoder {
  /** The payload may lie in memory that is reused right after: nothing of the result does. */
  decode(payload: Uint8Array, count: number, flags: number): unknown[];
  /** The user's part of decoding, value by value as they are taken: user code never runs while a frame is held. */
  arrived?(plain: unknown): unknown;
}

export interface CodecPair {
  /** The number in the frame header. */
  readonly id: number;
  encoder(): Encoder;
  decoder(): Decoder;
}

/** Flag of a payload: it has escapes to undo. */
export const escapedFlag = 1;
/** Flag of a payload: it is made of columns, not of MessagePack. */
export const columnsFlag = 2;

export function damagedPayload(what: string, cause?: unknown): MillraceError {
  return new MillraceError('ERR_FRAME', `the payload of a frame is damaged: ${what}`, { cause });
}

/** What `read` returns, provided it is a list of `count` values. Throws ERR_FRAME otherwise. */
export function checkedValues(count: number, read: () => unknown): unknown[] {
  let values: unknown;
  try {
    values = read();
  } catch (cause) {
    throw cause instanceof MillraceError ? cause : damagedPayload('it cannot be read', cause);
  }
  if (Array.isArray(values) && values.length === count) return values;
  const found = Array.isArray(values) ? `${values.length} values` : 'no list of values';
  throw damagedPayload(`it announces ${count} values and holds ${found}`);
}
