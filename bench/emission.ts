/**
 * A value on its way into a ring, by each of the ways there are: the path of a batch of one, the general path with batches held
 * at one, and a loop that does by hand what has to be done for a frame. The same thread reads the frames, without decoding.
 */

import type { ChannelWriter } from '../runtime/channel.js';
import { type Kind, makerOf } from './values.js';

export type Emission = 'alone' | 'general' | 'bare';

// As built: what tsx makes of the sources is not what users run.
const built = <T>(file: string): Promise<T> => import(new URL(`../dist/runtime/${file}.js`, import.meta.url).href);
const { codecOf } = await built<typeof import('../runtime/codec.js')>('codec');
const { Target } = await built<typeof import('../runtime/target.js')>('target');
const { ChannelCounters, createCounters } = await built<typeof import('../runtime/metrics.js')>('metrics');
const { ringReader, ringWriter } = await built<typeof import('../runtime/channel.js')>('channel');
const { createRing } = await built<typeof import('../runtime/ring.js')>('ring');
const { headerBytes, kinds, writeHeader } = await built<typeof import('../runtime/frame.js')>('frame');
const { defaultBatch } = await built<typeof import('../runtime/batch.js')>('batch');
const { memoryOf } = await built<typeof import('../runtime/memory.js')>('memory');

const ringBytes = 512 * 1024;
const valuesAtOnce = 1_000;
/** Values between two looks of the reader; a hundred frames of these values are far from a full ring. */
const readEvery = 100;

/** Emits a thousand values and says so. */
export function emissionOf(kind: Kind, by: Emission): () => number {
  const memory = createRing(ringBytes);
  const silent = { asleep: false, ring() {} };
  const writer = ringWriter(memory, silent);
  const reader = ringReader(memory, silent);
  const make = makerOf(kind);
  const values = Array.from({ length: valuesAtOnce }, (_, i) => make(i));
  const emit = by === 'bare' ? bare(writer) : through(writer, by);
  return () => {
    for (let i = 0; i < valuesAtOnce; i++) {
      emit(values[i]);
      if (i % readEvery === readEvery - 1) while (reader.next() !== undefined) reader.release();
    }
    return valuesAtOnce;
  };
}

function through(writer: ChannelWriter, by: 'alone' | 'general'): (value: unknown) => void {
  const target = new Target({
    writer,
    codec: codecOf('auto'),
    rule: { ...defaultBatch, size: 1 },
    counters: new ChannelCounters(createCounters(0, 1), 0, 0),
    generation: 1,
    source: 0,
    onParked: () => {},
  });
  return by === 'alone' ? (value) => target.addAlone(value) : (value) => target.add(value, 0);
}

function bare(writer: ChannelWriter): (value: unknown) => void {
  const codec = codecOf('auto');
  const encoder = codec.encoder();
  let firstId = 0;
  return (value) => {
    encoder.add(value);
    const { payload, flags } = encoder.encode(0, 1);
    const bytes = headerBytes + payload.length;
    const frame = writer.reserve(bytes);
    if (frame === undefined) throw new Error('the ring is full');
    writeHeader(memoryOf(frame.buffer).view, frame.byteOffset, {
      kind: kinds.data,
      flags,
      codec: codec.id,
      generation: 1,
      source: 0,
      count: 1,
      bytes: payload.length,
      firstId: firstId++,
    });
    frame.set(payload, headerBytes);
    writer.commit(bytes);
    encoder.clear();
  };
}
