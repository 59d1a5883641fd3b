/**
 * Codecs: how the values of a batch become the payload of a frame, and values again.
 * Owns the pairs 'auto' (MessagePack), 'clone' (structured clone) and the user's own codec, and their ids.
 * Never writes a frame header; a payload is complete in itself, no state passes from one to the next.
 */

import { types } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { MillraceError } from './errors.js';
import { nearest, show } from './option.js';
import { pack, unpack } from './packing.js';
import { isData, type Meter, revive, snapshot } from './value.js';

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
  /** Throws ERR_VALUE and adds nothing if the value cannot travel. */
  add(value: unknown): void;
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

/** A codec of the user's: `encode` makes data of a value, at emission; `decode` makes the value of it, at arrival. */
export interface ValueCodec<T = unknown> {
  readonly name: string;
  encode(value: T): unknown;
  decode(plain: unknown): T;
}

export type Codec<T = unknown> = 'auto' | 'clone' | ValueCodec<T>;

/** Flag of a payload: it has escapes to undo. */
const escapedFlag = 1;

export function codecOf(codec: Codec = 'auto'): CodecPair {
  if (codec === 'auto') return auto;
  if (codec === 'clone') return clone;
  return { id: 3, encoder: () => new UserEncoder(codec), decoder: () => userDecoder(codec) };
}

export function checkCodec(codec: unknown, where: string): Codec {
  if (codec === undefined) return 'auto';
  if (codec === 'auto' || codec === 'clone' || isValueCodec(codec)) return codec;
  const near = typeof codec === 'string' ? nearest(codec, ['auto', 'clone']) : undefined;
  const hint =
    near === undefined ? "known are 'auto', 'clone' and { name, encode, decode }" : `did you mean '${near}'?`;
  throw new MillraceError('ERR_OPTION', `${where} has a codec that is not known, ${show(codec)}: ${hint}`);
}

function isValueCodec(codec: unknown): codec is ValueCodec {
  if (typeof codec !== 'object' || codec === null) return false;
  const { name, encode, decode } = codec as Record<keyof ValueCodec, unknown>;
  return typeof name === 'string' && typeof encode === 'function' && typeof decode === 'function';
}

class PackedEncoder implements Encoder {
  #values: unknown[] = [];
  readonly #meter: Meter = { bytes: 0, escaped: false };

  get count(): number {
    return this.#values.length;
  }

  get bytes(): number {
    return this.#meter.bytes;
  }

  add(value: unknown): void {
    this.#values.push(snapshot(value, this.#meter));
  }

  encode(from: number, to: number): Encoded {
    const values = this.#values;
    const all = from === 0 && to === values.length;
    return { payload: pack(all ? values : values.slice(from, to)), flags: this.#meter.escaped ? escapedFlag : 0 };
  }

  clear(): void {
    this.#values = [];
    this.#meter.bytes = 0;
    this.#meter.escaped = false;
  }
}

const packedDecoder: Decoder = {
  decode(payload, count, flags) {
    return checked(count, () => {
      const values = unpack(payload);
      return (flags & escapedFlag) === 0 ? values : revive(values);
    });
  },
};

const auto: CodecPair = { id: 1, encoder: () => new PackedEncoder(), decoder: () => packedDecoder };

class UserEncoder extends PackedEncoder {
  readonly #codec: ValueCodec;

  constructor(codec: ValueCodec) {
    super();
    this.#codec = codec;
  }

  override add(value: unknown): void {
    let plain: unknown;
    try {
      plain = this.#codec.encode(value);
    } catch (cause) {
      throw new MillraceError('ERR_VALUE', `codec ${show(this.#codec.name)} could not encode a value`, { cause });
    }
    super.add(plain);
  }
}

function userDecoder(codec: ValueCodec): Decoder {
  return {
    decode: packedDecoder.decode,
    arrived(plain) {
      try {
        return codec.decode(plain);
      } catch (cause) {
        throw new MillraceError('ERR_VALUE', `codec ${show(codec.name)} could not decode a value`, { cause });
      }
    },
  };
}

/** Structured clone: cycles and shared identity arrive; class instances arrive as plain objects, as everywhere. */
class CloneEncoder implements Encoder {
  #values: unknown[] = [];
  #bytes = 0;

  get count(): number {
    return this.#values.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(value: unknown): void {
    try {
      const copy: unknown = structuredClone(value);
      this.#bytes += weigh(copy);
      this.#values.push(copy);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new MillraceError('ERR_VALUE', `value cannot be cloned: ${why}`, { cause });
    }
  }

  encode(from: number, to: number): Encoded {
    return { payload: serialize(this.#values.slice(from, to)), flags: 0 };
  }

  clear(): void {
    this.#values = [];
    this.#bytes = 0;
  }
}

const cloneDecoder: Decoder = {
  decode(payload, count) {
    // Views of the result lie in the bytes it is read from, so it is read from a copy.
    return checked(count, () => deserialize(Uint8Array.prototype.slice.call(payload)));
  },
};

const clone: CodecPair = { id: 2, encoder: () => new CloneEncoder(), decoder: () => cloneDecoder };

/** Estimates the size of a clone. Throws for what can be cloned within a thread but not written down. */
function weigh(clone: unknown): number {
  let bytes = 0;
  const open = [clone];
  const seen = new Set<object>();
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) {
      bytes += typeof value === 'string' ? value.length + 2 : 9;
      continue;
    }
    if (seen.has(value)) continue;
    seen.add(value);
    bytes += 4;
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) {
      if (types.isSharedArrayBuffer('buffer' in value ? value.buffer : value)) {
        throw new TypeError('shared memory is passed in args, where it stays shared');
      }
      bytes += value.byteLength;
    } else if (types.isMap(value)) {
      for (const [key, item] of value) open.push(key, item);
    } else if (types.isSet(value)) {
      for (const item of value) open.push(item);
    } else {
      if (!isData(value)) serialize(value);
      for (const [key, item] of Object.entries(value)) {
        bytes += key.length + 2;
        open.push(item);
      }
    }
  }
  return bytes;
}

function checked(count: number, read: () => unknown): unknown[] {
  let values: unknown;
  try {
    values = read();
  } catch (cause) {
    throw new MillraceError('ERR_FRAME', 'the payload of a frame is damaged', { cause });
  }
  if (Array.isArray(values) && values.length === count) return values;
  const found = Array.isArray(values) ? `${values.length} values` : 'no list of values';
  throw new MillraceError('ERR_FRAME', `a frame announces ${count} values and holds ${found}`);
}
