/**
 * A ring of bytes in one piece of shared memory, for a single producer and a single consumer.
 * Owns the layout of that memory and the order of every access to it.
 * Never blocks and wakes nobody: it says when a bell is due, channel.ts rings it.
 */

import { MillraceError } from './errors.js';

/*
 * The memory. Each control word has a cache line of its own, so that neither side's stores slow the other's.
 *
 *   byte  0         64        128       192       256       320       384       448       512
 *         +---------+---------+---------+---------+---------+---------+---------+---------+---- ~ ----+
 *         | written | read    | ended   | finished| room    | gener-  | granted | settled | data      |
 *         |         |         |         |         | wanted  | ation   |         | through | 2^n bytes |
 *         +---------+---------+---------+---------+---------+---------+---------+---------+---- ~ ----+
 *   set by  writer    reader    writer    reader    both      reset     (reserved, reader)  writer
 *
 *   written       bytes ever published             read       bytes ever released
 *   ended         1: nothing more is written       finished   1: nothing more is wanted
 *   roomWanted    1: the writer was refused        generation of the run that owns the ring
 *                 (writer sets, reader clears)
 *
 * An entry, 16-byte aligned and whole: it never wraps. What is before `length` is never read.
 *
 *         +0            +4                     +16                            +16 + length   multiple of 16
 *         | length i32  | unused               | the bytes of the caller      | unused     |
 *         | -1          | unused … up to the end of the data: "go on at its start"          |
 *
 * Invariants. Positions are running counts modulo 2^32, compared by signed difference; `position & (capacity - 1)`
 * is the place in the data.
 *   1. 0 <= written - read <= capacity; all 0: empty, all capacity: full; both are multiples of 16.
 *   2. Data from `read` to `written` is the reader's, the rest is the writer's. A position is moved by its owner
 *      alone and only forward, so each side may act on an old copy of the other's: it only errs to the safe side.
 *   3. An entry takes at most a quarter, and the end it may have to skip is less: half a ring free takes any entry.
 *   4. A writer that was refused has `roomWanted` set until a release leaves half the ring free, and that very
 *      release returns true.
 *
 * All control words are accessed sequentially consistent, which carries the plain bytes of the data with it:
 * what was written before `written` was stored is seen by whoever has loaded that `written`; what was read before
 * `read` was stored may be overwritten by whoever has loaded that `read`.
 */
const lineWords = 16;
const written = 0 * lineWords;
const read = 1 * lineWords;
const ended = 2 * lineWords;
const finished = 3 * lineWords;
const roomWanted = 4 * lineWords;
const generation = 5 * lineWords;
const granted = 6 * lineWords;
const settledThrough = 7 * lineWords;
const dataStart = 8 * lineWords * 4;

const align = 16;
const prefixBytes = 16;
const skipMark = -1;

/** The part of `Atomics` the ring and its bells use, sequentially consistent. A test hands in one that stops at each access. */
export interface AtomicOps {
  load(cells: Int32Array, index: number): number;
  store(cells: Int32Array, index: number, value: number): number;
  exchange(cells: Int32Array, index: number, value: number): number;
  wait(cells: Int32Array, index: number, value: number, ms: number): string;
  notify(cells: Int32Array, index: number): number;
}

const KiB = 1024;
const minDataBytes = 64 * KiB;
const maxDataBytes = 512 * KiB;
const exchangeBytes = 8 * 1024 * KiB;

/** Data bytes of each ring of an exchange of `pairs` directed executor pairs: 512 KiB, less when there are many. */
export function ringBytes(pairs: number): number {
  const limit = Math.min(maxDataBytes, exchangeBytes / pairs);
  return limit <= minDataBytes ? minDataBytes : 2 ** (31 - Math.clz32(limit));
}

/**
 * A new, empty ring. `dataBytes` is a power of two, at least 256; real rings take theirs from `ringBytes`.
 * `startPosition`, a multiple of 16, lets a test begin just below a wrap of the counts.
 */
export function createRing(dataBytes: number, startPosition = 0): SharedArrayBuffer {
  if (!(dataBytes >= 256 && dataBytes <= 2 ** 30 && 2 ** (31 - Math.clz32(dataBytes)) === dataBytes)) {
    throw new RangeError(`a ring needs a power of two of data bytes, 256 to 2^30, not ${dataBytes}`);
  }
  if (startPosition % align !== 0) {
    throw new RangeError(`a ring starts at a multiple of ${align}, not at ${startPosition}`);
  }
  const memory = new SharedArrayBuffer(dataStart + dataBytes);
  const words = new Int32Array(memory);
  Atomics.store(words, written, startPosition | 0);
  Atomics.store(words, read, startPosition | 0);
  return memory;
}

/**
 * Empties a ring for its next run. Only while nobody holds an end of it: the ends of the last run are gone, those
 * of the next are made afterwards, by threads that got the memory by a message sent after this call.
 */
export function resetRing(memory: ArrayBufferLike, nextGeneration: number): void {
  const words = new Int32Array(memory);
  Atomics.store(words, read, Atomics.load(words, written));
  for (const word of [ended, finished, roomWanted, granted, settledThrough]) Atomics.store(words, word, 0);
  Atomics.store(words, generation, nextGeneration | 0);
}

/** The producer's end; one thread has it. */
export class RingWriter {
  /** Data bytes of the ring. */
  readonly capacity: number;
  /** The longest entry in bytes: with its length word a quarter of the ring. */
  readonly maxEntry: number;
  /** Of the run the ring belonged to when this end was made, unsigned. */
  readonly generation: number;
  readonly #memory: ArrayBufferLike;
  readonly #words: Int32Array;
  readonly #atomics: AtomicOps;
  #written: number;
  /** `read` as last loaded; loaded again only when by this copy there is no room. */
  #readSeen: number;
  /** The position at which the reserved entry begins, and how long it may become; -1: none is reserved. */
  #start = 0;
  #reserved = -1;
  #open = true;

  constructor(memory: ArrayBufferLike, atomics: AtomicOps = Atomics) {
    this.#memory = memory;
    this.#words = new Int32Array(memory);
    this.#atomics = atomics;
    this.capacity = memory.byteLength - dataStart;
    this.maxEntry = longestEntry(this.capacity);
    this.generation = atomics.load(this.#words, generation) >>> 0;
    this.#written = atomics.load(this.#words, written);
    this.#readSeen = atomics.load(this.#words, read);
  }

  /**
   * Room for one entry, to be written in place and committed; none: the ring is too full, and a later `release`
   * of the reader will return true. Whatever was reserved before and not committed is forgotten.
   */
  reserve(bytes: number): Uint8Array | undefined {
    if (!(bytes >= 0 && bytes <= this.maxEntry && this.#open)) throw this.#misuse('reserve', bytes);
    const size = entryBytes(bytes);
    const tail = this.capacity - (this.#written & (this.capacity - 1));
    const skip = tail < size ? tail : 0;
    this.#reserved = -1;
    if (!this.#hasRoom(skip + size)) return undefined;
    this.#start = (this.#written + skip) | 0;
    this.#reserved = bytes;
    return new Uint8Array(this.#memory, dataStart + (this.#start & (this.capacity - 1)) + prefixBytes, bytes);
  }

  #hasRoom(bytes: number): boolean {
    const limit = this.capacity - bytes;
    if (((this.#written - this.#readSeen) | 0) <= limit) return true;
    this.#readSeen = this.#atomics.load(this.#words, read);
    if (((this.#written - this.#readSeen) | 0) <= limit) return true;
    // Order: the wish before the last look. The reader stores `read`, then looks at the wish: either it sees the
    // wish, or this load sees its `read`. The other way round both could miss and the writer would wait for ever.
    this.#atomics.store(this.#words, roomWanted, 1);
    this.#readSeen = this.#atomics.load(this.#words, read);
    return ((this.#written - this.#readSeen) | 0) <= limit;
  }

  /** Publishes the first `bytes` bytes of what was reserved. */
  commit(bytes: number): void {
    if (!(bytes >= 0 && bytes <= this.#reserved)) throw this.#misuse('commit', bytes);
    const mask = this.capacity - 1;
    if (this.#start !== this.#written) this.#words[(dataStart + (this.#written & mask)) >> 2] = skipMark;
    this.#words[(dataStart + (this.#start & mask)) >> 2] = bytes;
    this.#reserved = -1;
    this.#written = (this.#start + entryBytes(bytes)) | 0;
    // Order: after the last byte of the entry; a skip mark and the entry behind it appear at once.
    this.#atomics.store(this.#words, written, this.#written);
  }

  /** Says that no entry will follow. May be said twice. */
  end(): void {
    this.#open = false;
    this.#reserved = -1;
    // Order: after `written` of the last entry; see `ended` of the reader.
    this.#atomics.store(this.#words, ended, 1);
  }

  /** Whether the reader wants no more. */
  get finished(): boolean {
    return this.#atomics.load(this.#words, finished) === 1;
  }

  /** Bytes in use now: entries not yet released, with length words and skipped ends. */
  get fill(): number {
    this.#readSeen = this.#atomics.load(this.#words, read);
    return (this.#written - this.#readSeen) | 0;
  }

  #misuse(call: string, bytes: number): Error {
    if (!this.#open) return new Error(`${call}(${bytes}) after end()`);
    if (call === 'reserve') return new RangeError(`reserve(${bytes}): an entry has 0 to ${this.maxEntry} bytes`);
    if (this.#reserved < 0) return new Error(`commit(${bytes}) without a reservation`);
    return new RangeError(`commit(${bytes}) of ${this.#reserved} reserved bytes`);
  }
}

/** The consumer's end; one thread has it. */
export class RingReader {
  /** Of the run the ring belonged to when this end was made, unsigned. */
  readonly generation: number;
  readonly #memory: ArrayBufferLike;
  readonly #words: Int32Array;
  readonly #atomics: AtomicOps;
  readonly #capacity: number;
  readonly #maxEntry: number;
  #read: number;
  /** `written` as last loaded; loaded again only when by this copy the ring is empty. */
  #writtenSeen: number;
  /** What `release` gives back: the entry last handed out, with the end skipped before it; 0: none is out. */
  #taken = 0;

  constructor(memory: ArrayBufferLike, atomics: AtomicOps = Atomics) {
    this.#memory = memory;
    this.#words = new Int32Array(memory);
    this.#atomics = atomics;
    this.#capacity = memory.byteLength - dataStart;
    this.#maxEntry = longestEntry(this.#capacity);
    this.generation = atomics.load(this.#words, generation) >>> 0;
    this.#read = atomics.load(this.#words, read);
    this.#writtenSeen = atomics.load(this.#words, written);
  }

  /** The oldest entry, in place: valid until `release`, and the same one until then. None: nothing is there now. */
  next(): Uint8Array | undefined {
    let at = this.#read;
    if (at === this.#writtenSeen) {
      // Order: before the entry is looked at; see `commit`.
      this.#writtenSeen = this.#atomics.load(this.#words, written);
      if (at === this.#writtenSeen) return undefined;
    }
    const mask = this.#capacity - 1;
    let skipped = 0;
    let length = this.#words[(dataStart + (at & mask)) >> 2] as number;
    if (length === skipMark) {
      skipped = this.#capacity - (at & mask);
      at = (at + skipped) | 0;
      length = this.#words[dataStart >> 2] as number;
    }
    if (!(length >= 0 && length <= this.#maxEntry)) {
      throw new MillraceError('ERR_FRAME', `an entry of a ring has length ${length}: its memory was damaged`);
    }
    this.#taken = skipped + entryBytes(length);
    return new Uint8Array(this.#memory, dataStart + (at & mask) + prefixBytes, length);
  }

  /**
   * Gives the bytes of the last `next` back to the writer; call it before user code runs.
   * True: the writer was refused and half the ring is free now, so its bell is to be rung.
   */
  release(): boolean {
    if (this.#taken === 0) throw new Error('release() without an entry from next()');
    this.#read = (this.#read + this.#taken) | 0;
    this.#taken = 0;
    // Order: after the last byte of the entry was read, and before the wish is looked at; see `#hasRoom`.
    this.#atomics.store(this.#words, read, this.#read);
    if (this.#atomics.load(this.#words, roomWanted) === 0) return false;
    // Order: the wish is cleared before the fill is judged. Judged first, a writer could fill the room and wish
    // again in between, and the clearing would take that second wish away unanswered.
    this.#atomics.store(this.#words, roomWanted, 0);
    this.#writtenSeen = this.#atomics.load(this.#words, written);
    if (((this.#writtenSeen - this.#read) | 0) <= this.#capacity >> 1) return true;
    this.#atomics.store(this.#words, roomWanted, 1);
    return false;
  }

  /** Whether the writer has ended and every entry was released. Once true, it stays so. */
  get ended(): boolean {
    // Order: `ended` before `written`. The other way round an entry published between the two loads, and then
    // ended, would be missed for good.
    if (this.#atomics.load(this.#words, ended) === 0) return false;
    return this.#atomics.load(this.#words, written) === this.#read;
  }

  /** Tells the writer that no more is wanted. What is there, or still comes, can be read all the same. */
  finish(): void {
    this.#atomics.store(this.#words, finished, 1);
  }
}

/** What anybody may see of a ring, each word as it was at some moment of the call. */
export interface RingState {
  readonly capacity: number;
  readonly fill: number;
  /** The writer found no room, and the reader has not made any since. */
  readonly refused: boolean;
  /** The writer has ended, or the reader wants no more. */
  readonly over: boolean;
}

export function ringState(memory: ArrayBufferLike): RingState {
  const words = new Int32Array(memory, 0, dataStart >> 2);
  const from = Atomics.load(words, read);
  const over = Atomics.load(words, ended) === 1 || Atomics.load(words, finished) === 1;
  const refused = Atomics.load(words, roomWanted) === 1;
  return { capacity: memory.byteLength - dataStart, fill: (Atomics.load(words, written) - from) | 0, refused, over };
}

/** What an entry of `bytes` takes of the ring. */
function entryBytes(bytes: number): number {
  return prefixBytes + ((bytes + align - 1) & -align);
}

function longestEntry(capacity: number): number {
  return (capacity >> 2) - prefixBytes;
}
