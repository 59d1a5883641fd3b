/**
 * Values of one shape as columns: the open batch of them, their payload, and values again.
 * Owns the payload's layout around the columns, the scratch it is written into and the code made for each shape.
 * Never decides whether columns are used: autoCodec.ts does.
 */

import { Column, ColumnReader } from './column.js';
import { revive } from './escape.js';
import { type Memory, memoryOf } from './memory.js';
import { columnsFlag, damagedPayload, type Encoded, escapedFlag } from './payload.js';
import { compileRebuild, compileTakeApart, notAtAll, type Rebuild, type Taker } from './rowCode.js';
import { type Kind, leafKinds, leavesOf, parseShape, type Shape } from './shape.js';
import type { Meter } from './value.js';

/*
 *   length of the descriptor (4 bytes) | descriptor, UTF-8 | column | column …
 */

/** Code is kept for this many shapes a thread; the one made first goes first. */
const keptShapes = 256;
const firstCapacity = 128;
const keptBytes = 1024 * 1024;

/** What was made for a key, of which there are few; bounded, since keys come from values and frames. */
class Kept<T> {
  readonly #made = new Map<string, T>();

  of(key: string, make: () => T): T {
    let made = this.#made.get(key);
    if (made === undefined) {
      made = make();
      if (this.#made.size >= keptShapes) this.#made.delete(this.#made.keys().next().value as string);
      this.#made.set(key, made);
    }
    return made;
  }
}

const takers = new Kept<ReturnType<typeof compileTakeApart> | null>();

/** Values of one shape. Empty it is worth keeping: its arrays are used again. */
export class ColumnBatch {
  readonly shape: Shape;
  readonly #descriptor: Buffer;
  readonly #columns: readonly Column[];
  readonly #meter: Meter = { bytes: 0, escaped: false };
  readonly #taker: Taker;
  #capacity = 0;
  #bytes = 0;
  count = 0;

  /** undefined: no code can be made here. */
  static of(shape: Shape): ColumnBatch | undefined {
    const descriptor = JSON.stringify(shape);
    const make = takers.of(descriptor, () => compileTakeApart(shape) ?? null);
    return make ? new ColumnBatch(shape, descriptor, make) : undefined;
  }

  private constructor(shape: Shape, descriptor: string, make: NonNullable<ReturnType<typeof compileTakeApart>>) {
    this.shape = shape;
    this.#descriptor = Buffer.from(descriptor);
    this.#columns = leavesOf(shape).map((kind) => new Column(kind));
    this.#taker = make(this.#columns, this.#meter);
  }

  /** Estimate of the encoded size. */
  get bytes(): number {
    return this.#bytes + this.#meter.bytes;
  }

  /**
   * Taken: the estimated size of all, above 0. Below: it does not fit (rowCode.ts, `misfitOf`). A value that cannot be read
   * does not fit either; a snapshot of it says why. What is not taken changes nothing.
   */
  add(value: unknown): number {
    const at = this.count;
    const meter = this.#meter;
    const { bytes, escaped } = meter;
    if (at === this.#capacity) this.#grow();
    let taken = notAtAll;
    try {
      taken = this.#taker.takeApart(value, at);
    } catch {}
    if (taken < 0) {
      meter.bytes = bytes;
      meter.escaped = escaped;
      return taken;
    }
    this.count = at + 1;
    this.#bytes += taken;
    return this.#bytes + meter.bytes;
  }

  encode(from: number, to: number): Encoded {
    const descriptor = this.#descriptor;
    let room = 4 + descriptor.length;
    for (const column of this.#columns) room += column.prepare(from, to);
    const memory = scratch(room);
    memory.view.setUint32(0, descriptor.length, true);
    memory.bytes.set(descriptor, 4);
    let at = 4 + descriptor.length;
    for (const column of this.#columns) at = column.write(memory, at, from, to);
    const flags = columnsFlag | (this.#meter.escaped ? escapedFlag : 0);
    return { payload: memory.bytes.subarray(0, at), flags };
  }

  clear(): void {
    for (const column of this.#columns) column.clear();
    this.#taker.forget();
    this.#bytes = 0;
    this.#meter.bytes = 0;
    this.#meter.escaped = false;
    this.count = 0;
  }

  #grow(): void {
    this.#capacity = Math.max(firstCapacity, this.#capacity * 2);
    for (const column of this.#columns) column.grow(this.#capacity);
  }
}

let kept: Memory = memoryOf(new ArrayBuffer(64 * 1024));

function scratch(bytes: number): Memory {
  if (bytes <= kept.bytes.length) return kept;
  const memory = memoryOf(new ArrayBuffer(bytes * 2));
  if (bytes * 2 <= keptBytes) kept = memory;
  return memory;
}

interface Reading {
  readonly kinds: readonly Kind[];
  readonly rebuild: Rebuild;
}

const readings = new Kept<Reading>();

/** The values of a payload of columns. Throws ERR_FRAME for what is none; reads nothing outside of it. */
export function readColumns(payload: Uint8Array, count: number, flags: number): unknown[] {
  const memory = memoryOf(payload.buffer);
  const start = payload.byteOffset;
  const end = start + payload.byteLength;
  const at = start + 4;
  const length = payload.byteLength < 4 ? 0 : memory.view.getUint32(start, true);
  if (length === 0 || length > end - at) throw damagedPayload('it has no descriptor of its columns');
  const descriptor = memory.bytes.toString('latin1', at, at + length);
  const { kinds, rebuild } = readings.of(descriptor, () => readingOf(Buffer.from(descriptor, 'latin1').toString()));
  const reader = new ColumnReader(memory, at + length, end, count);
  const escaped = (flags & escapedFlag) !== 0;
  const sources = kinds.map((kind) => {
    const source = reader.next(kind);
    return escaped && kind === leafKinds.any ? (revive(source) as readonly unknown[]) : source;
  });
  if (!reader.done) throw damagedPayload(`its columns end at byte ${reader.at} instead of ${end}`);
  return rebuild(memory.view, count, sources);
}

function readingOf(descriptor: string): Reading {
  const shape = parseShape(descriptor);
  if (shape === undefined) throw damagedPayload('the descriptor of its columns cannot be read');
  return { kinds: leavesOf(shape), rebuild: compileRebuild(shape) };
}
