/**
 * Values of any form as one list of MessagePack: the open batch of snapshots, its payload, and values again.
 * Owns nothing else; what may travel is value.ts's to say, how it is packed packing.ts's.
 */

import { revive } from './escape.js';
import { pack, unpack } from './packing.js';
import { checkedValues, type Encoded, escapedFlag } from './payload.js';
import { type Meter, snapshot } from './value.js';

export class PackedBatch {
  #values: unknown[] = [];
  readonly #meter: Meter = { bytes: 0, escaped: false };

  get count(): number {
    return this.#values.length;
  }

  get bytes(): number {
    return this.#meter.bytes;
  }

  /** Returns `bytes`. Throws ERR_VALUE and adds nothing if the value cannot travel. */
  add(value: unknown): number {
    this.#values.push(snapshot(value, this.#meter));
    return this.#meter.bytes;
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

export function readPacked(payload: Uint8Array, count: number, flags: number): unknown[] {
  return checkedValues(count, () => {
    const values = unpack(payload);
    return (flags & escapedFlag) === 0 ? values : revive(values);
  });
}
