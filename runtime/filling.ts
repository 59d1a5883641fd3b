/**
 * How full a batch is, when it has to leave, and how large the next one may become.
 * Owns the count, the time of the oldest value and the size in force. Never holds a value, never reads time.
 *
 *   size 'auto':  a batch that leaves because it is full: + 1, up to `maxAutoSize`
 *                 one that leaves by age or by request, not full: halved, down to 1 (C-152 … C-156)
 *                 one that leaves for any other reason says nothing about how fast values come
 */

import type { BatchRule } from './batch.js';
import type { FlushReason } from './metrics.js';

/** Values in a batch of size 'auto'; above it a frame gains nothing. */
export const maxAutoSize = 1_024;

export class Filling {
  readonly #rule: BatchRule;
  readonly #maxSize: number;
  readonly #maxMs: number;
  #size: number;
  #count = 0;
  #openedMs = 0;
  #lastMs = 0;

  /** A batch of size 'auto' never becomes larger than `maxSize`. */
  constructor(rule: BatchRule, maxSize: number = maxAutoSize) {
    this.#rule = rule;
    this.#maxSize = maxSize;
    this.#size = rule.size === 'auto' ? 1 : rule.size;
    // A value that may be `latencyMs` old must not wait longer for others.
    this.#maxMs = Math.min(rule.flushMs, rule.latencyMs);
  }

  /** Values that wait. */
  get count(): number {
    return this.#count;
  }

  /** Values in a full batch, now. */
  get size(): number {
    return this.#size;
  }

  /** When the oldest value has to leave; Infinity without one. */
  get deadlineMs(): number {
    return this.#count === 0 ? Number.POSITIVE_INFINITY : this.#openedMs + this.#maxMs;
  }

  /** A value came. True: the batch is full. */
  add(nowMs: number): boolean {
    if (this.#count === 0) this.#openedMs = nowMs;
    this.#lastMs = nowMs;
    return ++this.#count >= this.#size;
  }

  /** The batch has left. */
  left(reason: FlushReason): void {
    const count = this.#count;
    this.#count = 0;
    if (this.#rule.size === 'auto' && count > 0) this.#adapt(reason, count);
  }

  #adapt(reason: FlushReason, count: number): void {
    const { latencyMs } = this.#rule;
    // A batch that is full leaves with its last value.
    const ageMs = this.#lastMs - this.#openedMs;
    if (reason === 'size') {
      // The size at which values of this rate would be just old enough.
      if (ageMs > latencyMs) this.#size = Math.max(1, Math.floor((count * latencyMs) / ageMs));
      else if ((ageMs * (count + 1)) / count <= latencyMs) this.#size = Math.min(this.#maxSize, this.#size + 1);
    } else if ((reason === 'age' || reason === 'explicit') && count < this.#size) {
      this.#size = Math.max(1, this.#size >> 1);
    }
  }
}
