/**
 * The codec 'auto': columns while values have one shape, MessagePack for everything else.
 * Owns the decision, batch by batch, and its hysteresis. Never changes what arrives: both ways carry the same values.
 */

import { ColumnBatch, readColumns } from './columns.js';
import { PackedBatch, readPacked } from './packedBatch.js';
import { type CodecPair, checkedValues, columnsFlag, type Decoder, type Encoded, type Encoder } from './payload.js';
import { misfitOf } from './rowCode.js';
import { leafKinds, learn, type Shape, widen } from './shape.js';
import { snapshot } from './value.js';

/** A stream that keeps changing its shape is looked at again after at most this many batches. */
const longestPause = 64;

/*
 *            first value of a batch has a shape
 *   resting ────────────────────────────────────▶ columns ──▶ batch leaves: pause halved
 *      ▲                                             │
 *      │ after `pause` batches                       │ a value has other keys, or is no object:
 *      │                                             ▼ the batch is repacked, pause doubled
 *      └───────────────────────────────────────── packed
 *
 * A value that only needs a wider column (a fraction among integers, null among strings) widens the shape, and the batch
 * stays columns: each widening loses a kind, so it comes to rest.
 */
export class AutoEncoder implements Encoder {
  readonly #packed = new PackedBatch();
  #columns: ColumnBatch | undefined;
  /** Whether the open batch is columns; false while it is empty. */
  #inColumns = false;
  /** Batches until a shape is looked for again. */
  #pausedFor = 0;
  #pause = 0;

  get count(): number {
    return this.#inColumns ? (this.#columns as ColumnBatch).count : this.#packed.count;
  }

  get bytes(): number {
    return this.#inColumns ? (this.#columns as ColumnBatch).bytes : this.#packed.bytes;
  }

  add(value: unknown): number {
    if (this.#inColumns) {
      const bytes = (this.#columns as ColumnBatch).add(value);
      return bytes > 0 ? bytes : this.#change(value, bytes);
    }
    const packs = this.#pausedFor > 0 || this.#packed.count > 0;
    return packs ? this.#packed.add(value) : this.#begin(value);
  }

  encode(from: number, to: number): Encoded {
    return this.#inColumns ? (this.#columns as ColumnBatch).encode(from, to) : this.#packed.encode(from, to);
  }

  clear(): void {
    if (this.#inColumns) {
      (this.#columns as ColumnBatch).clear();
      this.#inColumns = false;
      this.#pause >>= 1;
    } else {
      this.#packed.clear();
      if (this.#pausedFor > 0) this.#pausedFor--;
    }
  }

  /** The first value of a batch: in the shape of the batch before, or in one of its own. */
  #begin(value: unknown): number {
    let bytes = this.#columns?.add(value) ?? 0;
    if (bytes <= 0) {
      const shape = learn(value);
      const columns = shape && ColumnBatch.of(shape);
      bytes = columns?.add(value) ?? 0;
      if (bytes <= 0) return this.#rest(value);
      this.#columns = columns;
    }
    this.#inColumns = true;
    return bytes;
  }

  /** The value does not fit the batch. If it cannot travel at all, this throws and the batch stays as it was. */
  #change(value: unknown, misfit: number): number {
    const columns = this.#columns as ColumnBatch;
    const shape = widened(columns.shape, misfit);
    const wider = shape && ColumnBatch.of(shape);
    snapshot(value, { bytes: 0, escaped: false });
    const values = valuesOf(columns);
    columns.clear();
    if (wider !== undefined && values.every((taken) => wider.add(taken) > 0)) {
      this.#columns = wider;
      return this.add(value);
    }
    this.#inColumns = false;
    for (const taken of values) this.#packed.add(taken);
    return this.#rest(value);
  }

  /** Packs from here, and looks for no shape for some batches. */
  #rest(value: unknown): number {
    const bytes = this.#packed.add(value);
    this.#pause = Math.min(longestPause, Math.max(1, this.#pause * 2));
    this.#pausedFor = this.#pause;
    return bytes;
  }
}

function widened(shape: Shape, misfit: number): Shape | undefined {
  const { node, isNumber } = misfitOf(misfit);
  if (node > 0) return widen(shape, node, isNumber);
  return shape === leafKinds.int32 && isNumber ? leafKinds.float64 : undefined;
}

function valuesOf(columns: ColumnBatch): unknown[] {
  const { payload, flags } = columns.encode(0, columns.count);
  return readColumns(payload, columns.count, flags);
}

const decoder: Decoder = {
  decode(payload, count, flags) {
    if ((flags & columnsFlag) === 0) return readPacked(payload, count, flags);
    return checkedValues(count, () => readColumns(payload, count, flags));
  },
};

export const autoDecoder: Decoder = decoder;
export const auto: CodecPair = { id: 1, encoder: () => new AutoEncoder(), decoder: () => decoder };
