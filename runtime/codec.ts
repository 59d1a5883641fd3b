/**
 * Codecs by name: 'auto', 'clone' and the user's own.
 * Owns their ids, the check of the option, and the user's functions around 'auto'. Never writes a frame header.
 */

import { AutoEncoder, auto, autoDecoder } from './autoCodec.js';
import { clone } from './cloneCodec.js';
import { MillraceError } from './errors.js';
import { nearest, show } from './option.js';
import type { CodecPair, Decoder } from './payload.js';

/** A codec of the user's: `encode` makes data of a value, at emission; `decode` makes the value of it, at arrival. */
export interface ValueCodec<T = unknown> {
  readonly name: string;
  encode(value: T): unknown;
  decode(plain: unknown): T;
}

export type Codec<T = unknown> = 'auto' | 'clone' | ValueCodec<T>;

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

class UserEncoder extends AutoEncoder {
  readonly #codec: ValueCodec;

  constructor(codec: ValueCodec) {
    super();
    this.#codec = codec;
  }

  override add(value: unknown): number {
    let plain: unknown;
    try {
      plain = this.#codec.encode(value);
    } catch (cause) {
      throw new MillraceError('ERR_VALUE', `codec ${show(this.#codec.name)} could not encode a value`, { cause });
    }
    return super.add(plain);
  }
}

function userDecoder(codec: ValueCodec): Decoder {
  return {
    decode: autoDecoder.decode,
    arrived(plain) {
      try {
        return codec.decode(plain);
      } catch (cause) {
        throw new MillraceError('ERR_VALUE', `codec ${show(codec.name)} could not decode a value`, { cause });
      }
    },
  };
}
