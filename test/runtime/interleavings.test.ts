/**
 * The orders of ring.ts and channel.ts, proved for small cases by running them through every interleaving.
 * In a ring of 256 bytes four of the largest entries fill it; an entry is its number, written all over.
 */
import { describe, expect, test } from 'vitest';
import { createBell, createSleepCell, ringReader, ringWriter, Sleeper } from '../../runtime/channel.js';
import { type AtomicOps, createRing, RingReader, RingWriter } from '../../runtime/ring.js';
import { explore, type Findings, lateStores, type Ops, type Plain, type Side } from './fixtures/interleavings.js';

interface Writer {
  reserve(bytes: number): Uint8Array | undefined;
  commit(bytes: number): void;
}

function write(writer: Writer, value: number): boolean {
  const room = writer.reserve(48);
  room?.fill(value);
  if (room !== undefined) writer.commit(48);
  return room !== undefined;
}

/** How a side makes its accesses. */
type Accesses = (ops: Ops) => AtomicOps;
const exact: Accesses = (ops) => ops;

interface Start {
  /** Entries that are there: 0 to `full` - 1. */
  readonly full: number;
  /** The count to begin with, about to wrap. */
  readonly at: number;
}

const empty: Start = { full: 0, at: 2 ** 32 - 64 };
const full: Start = { full: 4, at: 2 ** 32 - 64 };
/** Three entries, and an end of 48 bytes that the fourth must skip: it is refused, and one release leaves half free. */
const oneDecides: Start = { full: 3, at: 2 ** 32 - 240 };

function ringOf(start: Start): SharedArrayBuffer {
  const memory = createRing(256, start.at);
  const writer = new RingWriter(memory);
  for (let value = 0; value < start.full; value++) expect(write(writer, value)).toBe(true);
  return memory;
}

const plains: readonly Plain[] = ['early', 'late'];

describe('ring, every interleaving', () => {
  /** Takes an entry if there is one. Others may go on between the look at its first byte and that at the rest. */
  function take(ops: Ops, reader: RingReader): boolean {
    const view = reader.next();
    if (view === undefined) return false;
    const first = view[0];
    ops.see(first);
    ops.pause();
    if (view.some((byte) => byte !== first)) ops.see(`torn: ${view.join()}`);
    reader.release();
    return true;
  }

  test.each(plains)(
    'law: ended is never said while an entry is unread (2 entries, an end, 6 looks; plain code %s)',
    (plain) => {
      const memory = ringOf(empty);
      const found = explore(
        [memory],
        [
          (ops) => {
            const writer = new RingWriter(memory, ops);
            write(writer, 0);
            write(writer, 1);
            writer.end();
          },
          (ops) => {
            const reader = new RingReader(memory, ops);
            for (let look = 0; look < 6; look++) {
              if (take(ops, reader)) continue;
              if (reader.ended) {
                ops.see('ended');
                return;
              }
            }
          },
        ],
        plain,
      );
      const seen = found.ends.map(([, reader]) => reader);
      const allowed = [[], [0], [0, 1], [0, 1, 'ended']];
      expect(seen).toHaveLength(allowed.length);
      for (const each of allowed) expect(seen).toContainEqual(each);
      expect(found.interleavings).toBeGreaterThan(10_000);
    },
  );

  test.each(plains)(
    'law: an entry held is never overwritten (a full ring, 5 tries to write, 3 reads; plain code %s)',
    (plain) => {
      const memory = ringOf(full);
      const found = explore(
        [memory],
        [
          (ops) => {
            const writer = new RingWriter(memory, ops);
            for (let value = 4; value < 9; value++) ops.see(write(writer, value));
          },
          (ops) => {
            const reader = new RingReader(memory, ops);
            for (let i = 0; i < 3; i++) take(ops, reader);
          },
        ],
        plain,
      );
      for (const [, reader] of found.ends) expect(reader).toEqual([0, 1, 2]);
      const written = found.ends.map(([writer]) => writer?.filter(Boolean).length ?? 0);
      expect([Math.min(...written), Math.max(...written)]).toEqual([0, 3]);
      expect(found.interleavings).toBeGreaterThan(10_000);
    },
  );

  /** The bell always pokes, and the writer asks again only when poked. */
  function refuse(start: Start, send: number, reads: number, producer = exact, consumer = exact): Findings {
    const memory = ringOf(start);
    // Late stores are late, not lost: a load lets the last one through.
    const end = (atomics: AtomicOps): number => atomics.load(new Int32Array(memory), 0);
    return explore(
      [memory],
      [
        (ops) => {
          const atomics = producer(ops);
          const writer = new RingWriter(memory, atomics);
          for (let i = 0; i < send; i++) while (!write(writer, start.full + i)) ops.sleep();
          end(atomics);
        },
        (ops) => {
          const atomics = consumer(ops);
          const reader = new RingReader(memory, atomics);
          for (let i = 0; i < reads; i++) {
            ops.see(reader.next()?.[0]);
            if (reader.release()) ops.poke(0);
          }
          end(atomics);
        },
      ],
    );
  }

  test('law: a refusal is answered by a release that returns true (3 entries to a full ring, 4 reads)', () => {
    const found = refuse(full, 3, 4);
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[[], [0, 1, 2, 3]]]);
    expect(found.interleavings).toBeGreaterThan(1e6);
  });

  test('law: … also if one release decides, and both orders are needed for it: with late stores it is missed', () => {
    expect(refuse(oneDecides, 1, 1).stuck).toEqual([]);
    expect(refuse(oneDecides, 1, 1, lateStores).stuck).not.toEqual([]);
    expect(refuse(oneDecides, 1, 1, exact, lateStores).stuck).not.toEqual([]);
  });
});

describe('channel, every interleaving', () => {
  interface Scenario {
    readonly start: Start;
    /** Frames the producer sends before it ends. */
    readonly send: number;
    /** Frames after which the consumer says `finish`, or just leaves. Without them it reads to the end. */
    readonly finishAfter?: number;
    readonly leaveAfter?: number;
    /** How each side looks before it sleeps: the producer may also look at the fill instead of asking again. */
    readonly look?: 'again' | 'fill' | 'never';
    readonly producer?: Accesses;
    readonly consumer?: Accesses;
  }

  function play(scenario: Scenario): Findings {
    const { start, send, finishAfter, leaveAfter, look = 'again' } = scenario;
    const memory = ringOf(start);
    const [producerCell, consumerCell] = [createSleepCell(), createSleepCell()];

    const producer: Side = (ops) => {
      const atomics = (scenario.producer ?? exact)(ops);
      const sleeper = new Sleeper(producerCell, atomics);
      const bell = createBell(consumerCell, () => ops.poke(1), atomics);
      const writer = ringWriter(memory, bell, atomics);
      for (let value = start.full; value < start.full + send; ) {
        if (write(writer, value)) {
          value += 1;
          continue;
        }
        sleeper.fallAsleep();
        if (look !== 'never' && writer.finished) {
          ops.see('finished');
          return;
        }
        if (look === 'again' && write(writer, value)) value += 1;
        else if (look !== 'fill' || writer.fill > 128) ops.sleep();
        sleeper.wakeUp();
      }
      writer.end();
      // Late stores are late, not lost: a load lets the last one through.
      atomics.load(new Int32Array(producerCell), 0);
    };

    const consumer: Side = (ops) => {
      const atomics = (scenario.consumer ?? exact)(ops);
      const sleeper = new Sleeper(consumerCell, atomics);
      const bell = createBell(producerCell, () => ops.poke(0), atomics);
      const reader = ringReader(memory, bell, atomics);
      let taken = 0;
      const take = (): boolean => {
        const frame = reader.next();
        if (frame === undefined) return false;
        ops.see(frame[0]);
        taken += 1;
        reader.release();
        return true;
      };
      for (;;) {
        if (taken === leaveAfter) return;
        if (taken === finishAfter) {
          reader.finish();
          return;
        }
        if (take()) continue;
        if (reader.ended) {
          ops.see('ended');
          return;
        }
        sleeper.fallAsleep();
        if (look === 'never' || !(take() || reader.ended)) ops.sleep();
        sleeper.wakeUp();
      }
    };
    return explore([memory, producerCell, consumerCell], [producer, consumer]);
  }

  test('law: no frame and no end is slept over (2 frames and an end, to an empty ring)', () => {
    const found = play({ start: empty, send: 2 });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[[], [0, 1, 'ended']]]);
    expect(found.interleavings).toBeGreaterThan(1e10);
  });

  test('law: no frame, no end and no room is slept over (1 frame and an end, to a full ring)', () => {
    const found = play({ start: full, send: 1 });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[[], [0, 1, 2, 3, 4, 'ended']]]);
    expect(found.interleavings).toBeGreaterThan(1e10);
  });

  test('law: no room is slept over (2 frames to a full ring, 3 reads and no look after them)', () => {
    const found = play({ start: full, send: 2, leaveAfter: 3 });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[[], [0, 1, 2]]]);
    expect(found.interleavings).toBeGreaterThan(1e9);
  });

  test('law: … nor if the last look is at the fill only (3 frames to a full ring, 4 reads)', () => {
    const found = play({ start: full, send: 3, leaveAfter: 4, look: 'fill' });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[[], [0, 1, 2, 3]]]);
    expect(found.interleavings).toBeGreaterThan(1e9);
  });

  test('law: a writer that waits for room learns that its reader has finished (2 frames to a full ring, 1 read)', () => {
    const found = play({ start: full, send: 2, finishAfter: 1 });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[['finished'], [0]]]);
    expect(found.interleavings).toBeGreaterThan(1e5);
  });

  test('law: of two threads that ring at once, one pokes', () => {
    const cell = createSleepCell();
    new Sleeper(cell).fallAsleep();
    const publisher: Side = (ops) => createBell(cell, () => ops.see('poke'), ops).ring();
    const found = explore([cell], [publisher, publisher]);
    expect(found.ends).toHaveLength(2);
    expect(found.ends).toContainEqual([['poke'], []]);
    expect(found.ends).toContainEqual([[], ['poke']]);
  });

  test('law: each order is needed: without a look, or with late stores, some side sleeps for ever', () => {
    const late = lateStores;
    const frame = { start: empty, send: 1 };
    const room = { start: oneDecides, send: 1, leaveAfter: 1 };
    const finish = { start: full, send: 2, finishAfter: 1 };
    for (const each of [frame, room, finish]) {
      expect(play(each).stuck).toEqual([]);
      expect(play({ ...each, look: 'never' }).stuck).not.toEqual([]);
    }
    expect(play({ ...frame, producer: late }).stuck).not.toEqual([]);
    expect(play({ ...frame, consumer: late }).stuck).not.toEqual([]);
    expect(play({ ...room, consumer: late }).stuck).not.toEqual([]);
    expect(play({ ...finish, producer: late }).stuck).not.toEqual([]);
  });
});
