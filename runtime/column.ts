/**
 * One column: the values that one leaf of a shape has in a batch, in the form they travel in.
 * Owns the layout of a column in a payload, and its reading. Never knows the shape it belongs to.
 */

import type { Memory } from './memory.js';
import { pack, unpack } from './packing.js';
import { damagedPayload } from './payload.js';
import type { Source } from './rowCode.js';
import { type Kind, leafKinds } from './shape.js';

/*
 * Little endian, without alignment; n is the count of the frame.
 *
 *   int32     n × 4 bytes
 *   float64   n × 8 bytes
 *   boolean   n × 1 byte
 *   string    width (1 byte: 1 ASCII, 2 UTF-16) | n × 4 bytes: length in code units | the text of all, one after the other
 *   any       length (4 bytes) | an array of n values as MessagePack
 *
 * UTF-16 units carry every string exactly, lone surrogates included; ASCII is what most strings are.
 */

const ascii = 1;
const utf16 = 2;
/** Strings of one slice of text: a string keeps the text of at most this many neighbours alive. */
const sliceStrings = 16;
/** Up to here V8 copies what `substring` returns, so that nothing is kept alive by it. */
const copiedUnits = 12;
const bufferedUnits = 1024 * 1024;
const nothing = new Uint8Array(0);

/** All fields in every column, so that generated code meets one hidden class. Arrays of other kinds stay empty. */
export class Column {
  readonly kind: Kind;
  ints: Int32Array = new Int32Array(0);
  floats: Float64Array = new Float64Array(0);
  flags: Uint8Array = new Uint8Array(0);
  lengths: Uint32Array = new Uint32Array(0);
  /** All strings, one after the other: V8 keeps a rope, and flattens it when it is written. */
  text = '';
  /** Snapshots. */
  values: unknown[] = [];
  #packed: Uint8Array = nothing;

  constructor(kind: Kind) {
    this.kind = kind;
  }

  /** Makes room for `capacity` values, keeping those that are there. */
  grow(capacity: number): void {
    switch (this.kind) {
      case leafKinds.int32:
        this.ints = grown(new Int32Array(capacity), this.ints);
        break;
      case leafKinds.float64:
        this.floats = grown(new Float64Array(capacity), this.floats);
        break;
      case leafKinds.boolean:
        this.flags = grown(new Uint8Array(capacity), this.flags);
        break;
      case leafKinds.string:
        this.lengths = grown(new Uint32Array(capacity), this.lengths);
        break;
    }
  }

  clear(): void {
    this.text = '';
    if (this.values.length > 0) this.values = [];
    this.#packed = nothing;
  }

  /** Bytes that `write`, which follows for the same values, may touch. */
  prepare(from: number, to: number): number {
    if (this.kind === leafKinds.any) {
      // A copy: the scratch of packing is used again by the next column.
      this.#packed = Buffer.from(pack(this.values.length === to - from ? this.values : this.values.slice(from, to)));
      return 4 + this.#packed.length;
    }
    if (this.kind !== leafKinds.string) return 8 * (to - from);
    const { length } = this.text;
    const lengths = 16 + 4 * (to - from);
    // Above the buffer that is kept it pays to look first. Else UTF-16 fits, and a part of UTF-8 long enough to tell.
    return length > bufferedUnits && Buffer.byteLength(this.text) === length ? lengths + length : lengths + 2 * length;
  }

  /** Writes the values `from` to `to`, exclusive, at `at`; returns where it ended. There is room. */
  write({ bytes, view }: Memory, at: number, from: number, to: number): number {
    switch (this.kind) {
      case leafKinds.int32:
        for (let i = from; i < to; i++, at += 4) view.setInt32(at, this.ints[i] as number, true);
        return at;
      case leafKinds.float64:
        for (let i = from; i < to; i++, at += 8) view.setFloat64(at, this.floats[i] as number, true);
        return at;
      case leafKinds.boolean:
        bytes.set(this.flags.subarray(from, to), at);
        return at + to - from;
      case leafKinds.string:
        return this.#writeText(bytes, view, at, from, to);
      case leafKinds.any:
        view.setUint32(at, this.#packed.length, true);
        bytes.set(this.#packed, at + 4);
        return at + 4 + this.#packed.length;
    }
  }

  #writeText(bytes: Buffer, view: DataView, at: number, from: number, to: number): number {
    const start = at + 1;
    let end = start;
    for (let i = from; i < to; i++, end += 4) view.setUint32(end, this.lengths[i] as number, true);
    const text = this.#textOf(from, to);
    let written = bytes.write(text, end, 'utf8');
    const isAscii = written === text.length;
    if (!isAscii) written = bytes.write(text, end, 'utf16le');
    bytes[at] = isAscii ? ascii : utf16;
    return end + written;
  }

  #textOf(from: number, to: number): string {
    const before = sum(this.lengths, 0, from);
    const end = before + sum(this.lengths, from, to);
    return before === 0 && end === this.text.length ? this.text : this.text.slice(before, end);
  }
}

function sum(lengths: Uint32Array, from: number, to: number): number {
  let total = 0;
  for (let i = from; i < to; i++) total += lengths[i] as number;
  return total;
}

function grown<T extends Int32Array | Float64Array | Uint8Array | Uint32Array>(next: T, old: T): T {
  next.set(old as never);
  return next;
}

/** Reads columns one after the other; none reaches beyond the payload. Throws ERR_FRAME. */
export class ColumnReader {
  readonly #memory: Memory;
  readonly #count: number;
  readonly #end: number;
  at: number;

  constructor(memory: Memory, at: number, end: number, count: number) {
    this.#memory = memory;
    this.at = at;
    this.#end = end;
    this.#count = count;
  }

  get done(): boolean {
    return this.at === this.#end;
  }

  next(kind: Kind): Source {
    switch (kind) {
      case leafKinds.int32:
        return this.#skip(4 * this.#count);
      case leafKinds.float64:
        return this.#skip(8 * this.#count);
      case leafKinds.boolean:
        return this.#skip(this.#count);
      case leafKinds.string:
        return this.#strings();
      case leafKinds.any:
        return this.#any();
    }
  }

  #skip(bytes: number): number {
    const at = this.at;
    if (bytes > this.#end - at) {
      throw damagedPayload(`a column of ${bytes} bytes at byte ${at} does not end before ${this.#end}`);
    }
    this.at = at + bytes;
    return at;
  }

  #any(): readonly unknown[] {
    const { bytes, view } = this.#memory;
    const length = view.getUint32(this.#skip(4), true);
    const at = this.#skip(length);
    const values = unpack(bytes.subarray(at, at + length));
    if (Array.isArray(values) && values.length === this.#count) return values;
    throw damagedPayload(`a column holds no list of ${this.#count} values`);
  }

  #strings(): readonly string[] {
    const { view } = this.#memory;
    const width = view.getUint8(this.#skip(1));
    if (width !== ascii && width !== utf16) throw damagedPayload(`characters of ${width} bytes`);
    const lengthsAt = this.#skip(4 * this.#count);
    let units = 0;
    let longest = 0;
    for (let i = 0; i < this.#count; i++) {
      const length = view.getUint32(lengthsAt + 4 * i, true);
      units += length;
      if (length > longest) longest = length;
    }
    const textAt = this.#skip(units * width);
    return this.#split(lengthsAt, textAt, width, longest <= copiedUnits ? this.#count : sliceStrings);
  }

  #split(lengthsAt: number, textAt: number, width: number, together: number): readonly string[] {
    const { bytes, view } = this.#memory;
    const strings: string[] = [];
    let end = textAt;
    for (let i = 0; i < this.#count; ) {
      const last = Math.min(this.#count, i + together);
      const start = end;
      for (let k = i; k < last; k++) end += width * view.getUint32(lengthsAt + 4 * k, true);
      const text = bytes.toString(width === ascii ? 'latin1' : 'utf16le', start, end);
      for (let from = 0; i < last; i++) {
        const to = from + view.getUint32(lengthsAt + 4 * i, true);
        strings.push(text.substring(from, to));
        from = to;
      }
    }
    return strings;
  }
}
