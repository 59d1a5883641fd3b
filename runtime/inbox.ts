/**
 * Debatching: the frames of all channels of an executor as single values.
 * Owns the decoded rest of one frame. Takes frames from the channels in turn, so no channel waits for more than one frame of another.
 * Never keeps ring memory: a frame is decoded and released before its first value is handed out.
 */

import type { ChannelReader } from './channel.js';
import type { Fault } from './fault.js';
import { decodeFault } from './faultFrame.js';
import { type Header, headerBytes, kinds, lastPart, readHeader } from './frame.js';
import { type Input, none } from './input.js';
import { memoryOf } from './memory.js';
import type { ChannelCounters } from './metrics.js';
import type { Decoder } from './payload.js';

export interface InboxChannel {
  readonly reader: ChannelReader;
  readonly decoder: Decoder;
  readonly generation: number;
  readonly counters: Pick<ChannelCounters, 'received'>;
}

interface Lane extends InboxChannel {
  /** Pieces of a frame that was too long for the ring. */
  parts: Uint8Array[];
  ended: boolean;
}

export class Inbox implements Input {
  readonly #lanes: readonly Lane[];
  readonly #onFault: (fault: Fault) => void;
  #values: readonly unknown[] = [];
  #at = 0;
  /** The user's part of decoding the values at hand. */
  #arrived: ((plain: unknown) => unknown) | undefined;
  #turn = 0;
  #open: number;
  #finished = false;

  constructor(channels: readonly InboxChannel[], onFault: (fault: Fault) => void) {
    this.#lanes = channels.map((channel) => ({ ...channel, parts: [], ended: false }));
    this.#open = channels.length;
    this.#onFault = onFault;
  }

  // A fault read on the way may have finished this inbox.
  take(): unknown {
    while (this.#at >= this.#values.length) if (this.#finished || !this.#load()) return none;
    const value = this.#values[this.#at++];
    return this.#arrived === undefined ? value : this.#arrived(value);
  }

  /** Reads as far as is possible without handing out a value: an end or a fault that comes next is heard now. */
  look(): void {
    while (this.#at >= this.#values.length && !this.#finished && this.#load());
  }

  get ended(): boolean {
    return this.#finished || (this.#at >= this.#values.length && this.#open === 0);
  }

  finish(): void {
    for (const lane of this.#lanes) if (!lane.ended) lane.reader.finish();
    this.#finished = true;
  }

  drain(): void {}

  // The producers learn of it later: what is on its way is read, so that none of them waits for room, and counted.
  discard(): number {
    let count = this.#values.length - this.#at;
    this.#values = [];
    this.#at = 0;
    for (const lane of this.#lanes) {
      const { reader, parts } = lane;
      parts.length = 0;
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
        const { kind, flags, count: values } = headerOf(frame);
        // A frame that travels in pieces holds a single value.
        count += kind === kinds.part ? flags & lastPart : values;
        release(lane, frame);
      }
    }
    return count;
  }

  /** Reads the next frame of the channels in turn. */
  #load(): boolean {
    this.#values = [];
    this.#at = 0;
    if (this.#open === 0) return false;
    for (let i = 0; i < this.#lanes.length; i++) {
      const index = (this.#turn + i) % this.#lanes.length;
      const lane = this.#lanes[index] as Lane;
      if (lane.ended || !this.#read(lane)) continue;
      this.#turn = index + 1;
      return true;
    }
    return false;
  }

  #read(lane: Lane): boolean {
    const frame = lane.reader.next();
    if (frame === undefined) {
      if (lane.reader.ended) {
        lane.ended = true;
        this.#open--;
      }
      return false;
    }
    const header = headerOf(frame);
    const payload = frame.subarray(headerBytes, headerBytes + header.bytes);
    // A frame of an older run in a ring that was used again.
    if (header.generation !== lane.generation) {
      lane.reader.release();
      return true;
    }
    if (header.kind === kinds.data) {
      this.#unpack(lane.decoder, payload, header);
      release(lane, frame);
      return true;
    }
    const copy = payload.slice();
    release(lane, frame);
    if (header.kind === kinds.error) this.#onFault(decodeFault(copy));
    else this.#takePart(lane, copy, (header.flags & lastPart) !== 0);
    return true;
  }

  #unpack(decoder: Decoder, payload: Uint8Array, { count, flags }: Header): void {
    this.#values = decoder.decode(payload, count, flags);
    this.#arrived = decoder.arrived;
  }

  /** The pieces form a frame of their own, header included. */
  #takePart(lane: Lane, piece: Uint8Array, last: boolean): void {
    lane.parts.push(piece);
    if (!last) return;
    const whole = Buffer.concat(lane.parts);
    lane.parts = [];
    const header = headerOf(whole);
    const payload = whole.subarray(headerBytes, headerBytes + header.bytes);
    if (header.kind === kinds.error) this.#onFault(decodeFault(payload));
    else this.#unpack(lane.decoder, payload, header);
  }
}

function release({ reader, counters }: Lane, frame: Uint8Array): void {
  counters.received(frame.byteLength);
  reader.release();
}

function headerOf(frame: Uint8Array): Header {
  return readHeader(memoryOf(frame.buffer).view, frame.byteOffset, frame.byteOffset + frame.byteLength);
}
