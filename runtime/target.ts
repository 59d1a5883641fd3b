/**
 * Output batching for one consumer: the open batch, and the frames that found no room.
 * Owns the rule that order is kept: while frames are parked, later ones queue behind them.
 * Never waits and never reads time: `nowMs` is an argument.
 */

import type { BatchRule } from './batch.js';
import type { ChannelWriter } from './channel.js';
import { Filling } from './filling.js';
import { headerBytes, type Kind, kinds, lastPart, writeHeader } from './frame.js';
import { memoryOf } from './memory.js';
import type { ChannelCounters, FlushReason } from './metrics.js';
import type { CodecPair, Encoder } from './payload.js';

export interface TargetOptions {
  readonly writer: ChannelWriter;
  readonly codec: CodecPair;
  readonly rule: BatchRule;
  readonly counters: ChannelCounters;
  readonly generation: number;
  /** Number of the producing executor, for the frame header. */
  readonly source: number;
  /** Told when parked bytes change, so that the executor knows whether it has room. */
  readonly onParked: (bytes: number) => void;
}

interface Parked {
  readonly bytes: Uint8Array;
  readonly reason: FlushReason;
  readonly count: number;
  /** Where the next piece begins, of a frame too long for the ring. */
  sent: number;
  /** Bytes that its pieces have taken so far, their headers among them. */
  taken: number;
}

export class Target {
  readonly #options: TargetOptions;
  readonly #writer: ChannelWriter;
  readonly #encoder: Encoder;
  readonly #rule: BatchRule;
  /** A queue with a moving head: a push source without demand may park very many frames. */
  #parked: (Parked | undefined)[] = [];
  #parkedFrom = 0;
  /** Longest frame of a batch; longer ones hold a single value. */
  readonly #maxPayload: number;
  readonly #filling: Filling;
  readonly #counters: ChannelCounters;
  /** What every header says. */
  readonly #codec: number;
  readonly #generation: number;
  readonly #source: number;
  readonly #maxFrame: number;
  #firstId = 0;
  #ending = false;
  #ended = false;

  constructor(options: TargetOptions) {
    this.#options = options;
    this.#writer = options.writer;
    this.#encoder = options.codec.encoder();
    this.#rule = options.rule;
    this.#filling = new Filling(options.rule);
    this.#counters = options.counters;
    this.#codec = options.codec.id;
    this.#generation = options.generation;
    this.#source = options.source;
    this.#maxFrame = options.writer.maxFrame;
    this.#maxPayload = Math.min(options.rule.bytes, (options.writer.maxFrame >> 2) - headerBytes);
  }

  /** Values wait in the batch. */
  get open(): boolean {
    return this.#filling.count > 0;
  }

  /** Frames are parked. */
  get #waiting(): boolean {
    return this.#parked.length > this.#parkedFrom;
  }

  /** The consumer wants no more. */
  get finished(): boolean {
    return this.#writer.finished;
  }

  /** Everything was sent and the end announced. */
  get ended(): boolean {
    return this.#ended;
  }

  /** When the oldest value must leave; Infinity without an open batch. */
  get deadlineMs(): number {
    return this.#filling.deadlineMs;
  }

  /**
   * Takes a value into the open batch, as a snapshot; false: the consumer wants no more, which is looked at once a batch.
   * Throws ERR_VALUE.
   */
  add(value: unknown, nowMs: number): boolean {
    const filling = this.#filling;
    if (filling.count === 0 && this.#writer.finished) return this.#drop();
    const bytes = this.#encoder.add(value);
    const full = filling.add(nowMs);
    if (!full && bytes < this.#maxPayload) return true;
    this.flush(full ? 'size' : 'bytes');
    return !this.#writer.finished;
  }

  /** As `add`, for a batch of one: there is no open batch, no deadline, nothing to flush. */
  addAlone(value: unknown): boolean {
    if (this.#writer.finished) return this.#drop();
    const encoder = this.#encoder;
    encoder.add(value);
    const { payload, flags } = encoder.encode(0, 1);
    this.#send(kinds.data, payload, flags, 1, 'size');
    encoder.clear();
    return true;
  }

  #drop(): false {
    this.#counters.dropped(1);
    return false;
  }

  /** Sends what has come of age. */
  flushDue(nowMs: number): void {
    if (nowMs >= this.#filling.deadlineMs) this.flush('age');
  }

  /** Sends what there is because its reader sleeps. Asked between slices: per value it would wake the reader for each one. */
  flushAsleep(): void {
    if (!this.#rule.idle || this.#filling.count === 0 || this.#waiting) return;
    if (this.#writer.readerAsleep) this.flush('asleep');
  }

  /** Sends what there is because the executor has nothing more to do. Says whether anything was sent. */
  flushIdle(): boolean {
    if (!this.#rule.idle || this.#filling.count === 0) return false;
    this.flush('idle');
    return true;
  }

  flush(reason: FlushReason): void {
    const { count } = this.#filling;
    if (count === 0) return;
    if (this.#writer.finished) this.#counters.dropped(count);
    else this.#sendBatch(0, count, reason);
    this.#encoder.clear();
    this.#filling.left(reason);
  }

  /** Appends a frame of another kind, such as an error, behind what was emitted. */
  sendFrame(kind: Kind, payload: Uint8Array, reason: FlushReason): void {
    this.#send(kind, payload, 0, 0, reason);
  }

  /** Nothing follows: the end is announced as soon as everything is sent. */
  end(reason: FlushReason): void {
    this.flush(reason);
    this.#ending = true;
    this.#settle();
  }

  /** Sends what is parked, as far as there is room. Says whether anything was sent. */
  pump(): boolean {
    if (!this.#waiting) return false;
    if (this.#writer.finished) {
      this.#discardParked();
      return true;
    }
    let progress = false;
    for (let first = this.#parked[this.#parkedFrom]; first !== undefined && this.#write(first); ) {
      progress = true;
      this.#parked[this.#parkedFrom++] = undefined;
      this.#options.onParked(-first.bytes.length);
      first = this.#parked[this.#parkedFrom];
    }
    // Sent frames are let go of in large steps: each is moved once at most.
    if (this.#parkedFrom * 2 > this.#parked.length) {
      this.#parked = this.#parked.slice(this.#parkedFrom);
      this.#parkedFrom = 0;
    }
    this.#settle();
    return progress;
  }

  // The estimate that filled the batch may have been low: a batch above its bytes is halved, a single value travels alone.
  #sendBatch(from: number, to: number, reason: FlushReason): void {
    const { payload, flags } = this.#encoder.encode(from, to);
    if (payload.length > this.#maxPayload && to - from > 1) {
      const middle = (from + to) >> 1;
      const why = reason === 'size' ? 'bytes' : reason;
      this.#sendBatch(from, middle, why);
      this.#sendBatch(middle, to, why);
      return;
    }
    this.#send(kinds.data, payload, flags, to - from, reason);
  }

  /** Into the ring at once if it can be, else as a frame of its own that waits. */
  #send(kind: Kind, payload: Uint8Array, flags: number, count: number, reason: FlushReason): void {
    const writer = this.#writer;
    const bytes = headerBytes + payload.length;
    const room = this.#waiting || bytes > this.#maxFrame ? undefined : writer.reserve(bytes);
    const frame = room ?? new Uint8Array(bytes);
    writeHeader(memoryOf(frame.buffer).view, frame.byteOffset, {
      kind,
      flags,
      codec: this.#codec,
      generation: this.#generation,
      source: this.#source,
      count,
      bytes: payload.length,
      firstId: this.#firstId,
    });
    frame.set(payload, headerBytes);
    this.#firstId = (this.#firstId + count) >>> 0;
    if (room === undefined) {
      this.#sendLater({ bytes: frame, reason, count, sent: 0, taken: 0 });
      return;
    }
    // Order: before the commit, so that whoever has read a frame finds it counted.
    this.#counters.sent(reason, count, 1, bytes);
    writer.commit(bytes);
  }

  #sendLater(frame: Parked): void {
    if (!this.#waiting && this.#write(frame)) return;
    this.#parked.push(frame);
    this.#options.onParked(frame.bytes.length);
  }

  /** Writes a frame, or the pieces of one, as far as there is room; true when all of it is in the ring. */
  #write(frame: Parked): boolean {
    const { bytes, count, reason } = frame;
    if (bytes.length > this.#writer.maxFrame) {
      while (frame.sent < bytes.length) if (!this.#writePart(frame)) return false;
      return true;
    }
    const room = this.#writer.reserve(bytes.length);
    if (room === undefined) return false;
    room.set(bytes);
    this.#commit(bytes.length, count, reason);
    return true;
  }

  #commit(bytes: number, count: number, reason: FlushReason): void {
    this.#tally(bytes, count, reason);
    this.#writer.commit(bytes);
  }

  // Order: before the commit, so that whoever has read a frame finds it counted.
  #tally(bytes: number, count: number, reason: FlushReason): void {
    this.#counters.sent(reason, count, 1, bytes);
  }

  /** A frame longer than the ring takes keeps its place: its pieces follow each other through the same ring. */
  #writePart(entry: Parked): boolean {
    const { bytes } = entry;
    const length = Math.min(this.#writer.maxFrame - headerBytes, bytes.length - entry.sent);
    const room = this.#writer.reserve(headerBytes + length);
    if (room === undefined) return false;
    const flags = entry.sent + length === bytes.length ? lastPart : 0;
    const header = {
      kind: kinds.part,
      flags,
      codec: this.#codec,
      generation: this.#generation,
      source: this.#source,
      count: 0,
      bytes: length,
      firstId: 0,
    };
    writeHeader(memoryOf(room.buffer).view, room.byteOffset, header);
    room.set(bytes.subarray(entry.sent, entry.sent + length), headerBytes);
    entry.sent += length;
    entry.taken += headerBytes + length;
    if (flags === lastPart) this.#tally(entry.taken, entry.count, entry.reason);
    this.#writer.commit(headerBytes + length);
    return true;
  }

  #discardParked(): void {
    const parked = this.#parked.slice(this.#parkedFrom) as Parked[];
    this.#parked = [];
    this.#parkedFrom = 0;
    for (const { bytes, count } of parked) {
      this.#counters.dropped(count);
      this.#options.onParked(-bytes.length);
    }
    this.#settle();
  }

  #settle(): void {
    if (!this.#ending || this.#ended || this.#waiting) return;
    this.#ended = true;
    this.#writer.end();
  }
}
