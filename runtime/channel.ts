/**
 * A channel: what one executor has written for another, an interface with two ends, and its form in shared memory.
 * Owns the doorbells: how a thread falls asleep and who wakes it.
 * Never blocks. No code outside this file and ring.ts may assume shared memory, or that a commit is seen at once.
 */

import { type AtomicOps, RingReader, type RingState, RingWriter, ringState } from './ring.js';

/*
 * Falling asleep. Each thread has one cell (64 bytes, a cache line of its own). Its first word says: 0 awake, 1 asleep, 2
 * stopped. "Asleep" means that it has gone back, or is about to go back, to its event loop and will not look at its channels
 * by itself; "stopped" that it stands still where it is, and a notification wakes it instead of a message.
 *
 *   the thread                                   any thread that feeds it, or drains what it has written
 *   S1  asleep <- 1 or 2 (Sleeper.fallAsleep)    P1  publish: written, read, ended or finished <- …
 *   S2  look once more at every channel          P2  if asleep is not 0, exchange it for 0  (Bell.ring)
 *   S3  found nothing: back to the event loop    P3  if that gave 1: poke, once; if 2: notify
 *       found something: asleep <- 0 and go on
 *           (Sleeper.wakeUp)
 *
 * All are sequentially consistent. If S1 comes before P2, the publisher sees it and pokes. If P2 comes before S1, then
 * P1 comes before S2 and the look finds what was published. So nothing published stays unseen by a sleeping thread.
 *
 * To look means: `next` and `ended` of every reader; `reserve` again (or `finished`) of every writer that was refused.
 * A poke says "look", no more: it may arrive late and find nothing. A thread woken by anything calls `wakeUp` first.
 * A running thread is never poked, and of several publishers the exchange lets one poke. A stopped thread waits on the word
 * as long as it is 2, so a notification that comes before it waits is not lost.
 *
 * The other words, each written by the owner alone:
 *   held    1: the thread is held in the middle of a subscribe; its event loop does not turn
 *   beats   how often it has begun to look at its channels: it stands still while it is stuck in a value
 */

const asleep = 0;
const held = 1;
const beats = 2;

const stopped = 2;

/** How others wake a thread. */
export interface Bell {
  /** Whether the thread sleeps, so that waiting for a fuller batch gains nothing. */
  readonly asleep: boolean;
  /** Pokes the thread if it sleeps. Call it after what it shall see is published. */
  ring(): void;
}

/** The cell of one thread, awake. */
export function createSleepCell(): SharedArrayBuffer {
  return new SharedArrayBuffer(64);
}

/**
 * The bell of the thread that owns `cell`. `poke` sends it something its event loop will receive; on the thread
 * itself it schedules a look.
 */
export function createBell(cell: ArrayBufferLike, poke: () => void, atomics: AtomicOps = Atomics): Bell {
  const words = new Int32Array(cell);
  return {
    get asleep() {
      return atomics.load(words, asleep) !== 0;
    },
    ring() {
      // Order: P1 before P2, which is the caller's part. The load keeps a running thread's line unshared.
      if (atomics.load(words, asleep) === 0) return;
      const was = atomics.exchange(words, asleep, 0);
      if (was === 1) poke();
      else if (was === stopped) atomics.notify(words, asleep);
    },
  };
}

/** How the owner of a cell is, at a moment that may be past. */
export interface Posture {
  readonly asleep: boolean;
  /** Held in the middle of a subscribe, so that what waits for its event loop waits longer. */
  readonly held: boolean;
  /** How often it has begun to look at its channels. */
  readonly beats: number;
}

export function postureOf(cell: ArrayBufferLike): Posture {
  const words = new Int32Array(cell);
  const load = (word: number): number => Atomics.load(words, word);
  return { asleep: load(asleep) !== 0, held: load(held) === 1, beats: load(beats) };
}

/** The owner's side of a cell. */
export class Sleeper {
  readonly #words: Int32Array;
  readonly #atomics: AtomicOps;
  #beats = 0;

  constructor(cell: ArrayBufferLike, atomics: AtomicOps = Atomics) {
    this.#words = new Int32Array(cell);
    this.#atomics = atomics;
  }

  /** From now on the bell pokes. Look once more at everything before returning to the event loop. */
  fallAsleep(): void {
    // Order: S1 before S2.
    this.#atomics.store(this.#words, asleep, 1);
  }

  /** As `fallAsleep`, for a thread that stops where it is, by `stop`. */
  fallStill(): void {
    // Order: S1 before S2.
    this.#atomics.store(this.#words, asleep, stopped);
  }

  /** After `fallStill` and the look: stands still until the bell rings, `ms` at most. */
  stop(ms: number): void {
    this.#atomics.wait(this.#words, asleep, stopped, ms);
  }

  hold(on: boolean): void {
    Atomics.store(this.#words, held, on ? 1 : 0);
  }

  /** It begins to look. */
  beat(): void {
    this.#beats = (this.#beats + 1) | 0;
    Atomics.store(this.#words, beats, this.#beats);
  }

  /** From now on the bell is silent. Look at everything afterwards. */
  wakeUp(): void {
    // Order: before the looks that follow. A bell rung up to here has been answered by them.
    this.#atomics.store(this.#words, asleep, 0);
  }
}

/** The producer's end. Frames are bytes to it. */
export interface ChannelWriter {
  /** The longest frame in bytes; a longer one is a programming error. */
  readonly maxFrame: number;
  /** Whether the reader wants no more. */
  readonly finished: boolean;
  readonly readerAsleep: boolean;
  /** Bytes written and not yet released, as far as known here. */
  readonly fill: number;
  /** Room for a frame, to be written in place; none: the bell of this side is rung when there is room again. */
  reserve(bytes: number): Uint8Array | undefined;
  /** Sends the first `bytes` bytes of what was reserved, and wakes the reader. */
  commit(bytes: number): void;
  /** Says that nothing follows, and wakes the reader. */
  end(): void;
}

/** The consumer's end. */
export interface ChannelReader {
  /** The oldest frame, in place until `release`; none: the bell of this side is rung when there is one. */
  next(): Uint8Array | undefined;
  /** Gives the frame's bytes back, before user code runs; wakes a writer that waits for room. */
  release(): void;
  /** Whether the writer has ended and every frame was released. */
  readonly ended: boolean;
  /** Tells the writer that no more is wanted, and wakes it. What is there can be read all the same. */
  finish(): void;
}

/** What anybody may see of a channel, at a moment that may be past. */
export type ChannelState = RingState;

export function channelState({ memory }: { readonly memory: ArrayBufferLike }): ChannelState {
  return ringState(memory);
}

/** The producer's end of a ring; `readerBell` is that of the consumer's thread. */
export function ringWriter(memory: ArrayBufferLike, readerBell: Bell, atomics: AtomicOps = Atomics): ChannelWriter {
  return new RingChannelWriter(new RingWriter(memory, atomics), readerBell);
}

/** The consumer's end of a ring; `writerBell` is that of the producer's thread. */
export function ringReader(memory: ArrayBufferLike, writerBell: Bell, atomics: AtomicOps = Atomics): ChannelReader {
  return new RingChannelReader(new RingReader(memory, atomics), writerBell);
}

class RingChannelWriter implements ChannelWriter {
  readonly maxFrame: number;
  readonly #ring: RingWriter;
  readonly #readerBell: Bell;

  constructor(ring: RingWriter, readerBell: Bell) {
    this.maxFrame = ring.maxEntry;
    this.#ring = ring;
    this.#readerBell = readerBell;
  }

  get finished(): boolean {
    return this.#ring.finished;
  }

  get readerAsleep(): boolean {
    return this.#readerBell.asleep;
  }

  get fill(): number {
    return this.#ring.fill;
  }

  reserve(bytes: number): Uint8Array | undefined {
    return this.#ring.reserve(bytes);
  }

  commit(bytes: number): void {
    this.#ring.commit(bytes);
    // Order: P1, then P2.
    this.#readerBell.ring();
  }

  end(): void {
    this.#ring.end();
    // Order: P1, then P2.
    this.#readerBell.ring();
  }
}

class RingChannelReader implements ChannelReader {
  readonly #ring: RingReader;
  readonly #writerBell: Bell;

  constructor(ring: RingReader, writerBell: Bell) {
    this.#ring = ring;
    this.#writerBell = writerBell;
  }

  next(): Uint8Array | undefined {
    return this.#ring.next();
  }

  release(): void {
    // Order: P1, then P2.
    if (this.#ring.release()) this.#writerBell.ring();
  }

  get ended(): boolean {
    return this.#ring.ended;
  }

  finish(): void {
    this.#ring.finish();
    // Order: P1, then P2.
    this.#writerBell.ring();
  }
}
