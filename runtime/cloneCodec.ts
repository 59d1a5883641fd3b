/**
 * The codec 'clone': structured clone, which keeps cycles and shared identity.
 * Owns the estimate of a clone's size, and the refusal of what can be cloned within a thread but not written down.
 */

import { types } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { MillraceError } from './errors.js';
import { said } from './fault.js';
import { type CodecPair, checkedValues, type Decoder, type Encoded, type Encoder } from './payload.js';
import { isData } from './value.js';

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

  add(value: unknown): number {
    try {
      const copy: unknown = structuredClone(value);
      this.#bytes += weigh(copy);
      this.#values.push(copy);
      return this.#bytes;
    } catch (cause) {
      throw new MillraceError('ERR_VALUE', `value cannot be cloned: ${said(cause)}`, { cause });
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
    return checkedValues(count, () => deserialize(Uint8Array.prototype.slice.call(payload)));
  },
};

export const clone: CodecPair = { id: 2, encoder: () => new CloneEncoder(), decoder: () => cloneDecoder };

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
