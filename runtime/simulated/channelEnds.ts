/**
 * The ends of a simulated thread's channels: those of rings, which the weather calls full at times, and which a dead thread no
 * longer moves.
 * Owns what was last seen of each, by which a run that stands still can say who waits for whom.
 */

import type { ChannelReader, ChannelWriter } from '../channel.js';
import { ChannelCounters, type FlushReason } from '../metrics.js';
import type { BodyOptions } from './body.js';

export class CutWriter implements ChannelWriter {
  readonly maxFrame: number;
  readonly id: string;
  /** It was refused when it last asked for room. */
  waits = false;
  ended = false;
  readonly #writer: ChannelWriter;
  readonly #options: BodyOptions;
  #fullUntilMs = 0;
  /** A look is to come because of a refusal. */
  #looks = false;

  constructor(writer: ChannelWriter, id: string, options: BodyOptions) {
    this.maxFrame = writer.maxFrame;
    this.#writer = writer;
    this.id = id;
    this.#options = options;
  }

  get finished(): boolean {
    return this.#writer.finished;
  }

  get readerAsleep(): boolean {
    return this.#writer.readerAsleep;
  }

  get fill(): number {
    return this.#writer.fill;
  }

  fullFor(ms: number): void {
    this.#fullUntilMs = this.#options.world.nowMs + ms;
  }

  reserve(bytes: number): Uint8Array | undefined {
    const room = this.#isFull() ? undefined : this.#writer.reserve(bytes);
    this.waits = room === undefined;
    return room;
  }

  // Whoever is told that there is no room is told when there is: here by a look at that time. One look is enough: each asks
  // for room several times, and looks that bring more looks would become more and more.
  #isFull(): boolean {
    const { world, lane, look } = this.#options;
    if (lane.dead) return true;
    const untilFull = this.#fullUntilMs - world.nowMs;
    const { fullChance, lateMs } = world.weather;
    // To a thread that is held the look would not come.
    if (untilFull <= 0 && (lane.held || !world.random.chance(fullChance))) return false;
    const inMs = Math.max(untilFull, world.random.next() * lateMs);
    if (this.#looks) return true;
    this.#looks = true;
    lane.in(inMs, 'room', () => {
      this.#looks = false;
      look();
    });
    return true;
  }

  commit(bytes: number): void {
    if (!this.#options.lane.dead) this.#writer.commit(bytes);
  }

  end(): void {
    this.ended = true;
    if (!this.#options.lane.dead) this.#writer.end();
  }
}

export class CutReader implements ChannelReader {
  readonly id: string;
  /** It was empty when it was last looked at, and has not ended. */
  waits = false;
  finished = false;
  readonly #reader: ChannelReader;
  readonly #options: BodyOptions;

  constructor(reader: ChannelReader, id: string, options: BodyOptions) {
    this.#reader = reader;
    this.id = id;
    this.#options = options;
  }

  next(): Uint8Array | undefined {
    const frame = this.#options.lane.dead ? undefined : this.#reader.next();
    this.waits = frame === undefined;
    return frame;
  }

  release(): void {
    if (!this.#options.lane.dead) this.#reader.release();
  }

  get ended(): boolean {
    return !this.#options.lane.dead && this.#reader.ended;
  }

  finish(): void {
    this.finished = true;
    if (!this.#options.lane.dead) this.#reader.finish();
  }
}

export class HeardCounters extends ChannelCounters {
  readonly #onSent: (reason: FlushReason, values: number) => void;

  constructor(
    memory: SharedArrayBuffer,
    executors: number,
    channel: number,
    onSent: (reason: FlushReason, values: number) => void,
  ) {
    super(memory, executors, channel);
    this.#onSent = onSent;
  }

  override sent(reason: FlushReason, values: number, frames: number, bytes: number): void {
    super.sent(reason, values, frames, bytes);
    this.#onSent(reason, values);
  }
}
