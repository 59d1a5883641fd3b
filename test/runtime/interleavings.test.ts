/**
 * The orders of ring.ts and channel.ts, proved for small cases by running them through every interleaving.
 * The bounds are in the names: how much each side does. What it does is in fixtures/ringSides.ts.
 */
import { describe, expect, test } from 'vitest';
import { createBell, createSleepCell, Sleeper } from '../../runtime/channel.js';
import { type AtomicOps, RingReader, RingWriter } from '../../runtime/ring.js';
import { explore, type Findings, lateStores, type Plain, type Side } from './fixtures/interleavings.js';
import {
  type Accesses,
  type Consuming,
  consumer,
  empty,
  exact,
  full,
  linkOf,
  look,
  oneDecides,
  type Producing,
  play,
  producer,
  ringOf,
  type Start,
  signed,
  take,
  write,
} from './fixtures/ringSides.js';

const plains: readonly Plain[] = ['early', 'late'];

describe('ring, every interleaving', () => {
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
        { plain },
      );
      const seen = found.ends.map(([, reader]) => reader);
      const allowed = [[], [0], [0, 1], [0, 1, 'ended']];
      expect(seen).toHaveLength(allowed.length);
      for (const each of allowed) expect(seen).toContainEqual(each);
      expect(found.interleavings).toBeGreaterThan(10_000);
    },
  );

  interface Hold {
    /** Tries to write, and reads: each side's bound. */
    readonly writes?: number;
    readonly reads?: number;
    /** What the reader does with an entry, and the writer with a value. */
    readonly taking?: typeof take;
    readonly writing?: typeof write;
    readonly accesses?: Accesses;
  }

  function hold(plain: Plain, start: Start, how: Hold = {}): Findings {
    const { writes = 5, reads = 3, taking = take, writing = write, accesses = exact } = how;
    const memory = ringOf(start);
    return explore(
      [memory],
      [
        (ops) => {
          const writer = new RingWriter(memory, accesses(ops));
          for (let i = 0; i < writes; i++) ops.see(writing(writer, start.full + i));
        },
        (ops) => {
          const reader = new RingReader(memory, ops);
          for (let i = 0; i < reads; i++) taking(ops, reader);
        },
      ],
      { plain },
    );
  }

  test.each(plains)(
    'law: an entry held is never overwritten (a full ring, 5 tries to write, 3 reads; plain code %s)',
    (plain) => {
      const found = hold(plain, full);
      for (const [, reader] of found.ends) expect(reader).toEqual([0, 1, 2]);
      const written = found.ends.map(([writer]) => writer?.filter(Boolean).length ?? 0);
      expect([Math.min(...written), Math.max(...written)]).toEqual([0, 3]);
      expect(found.interleavings).toBeGreaterThan(10_000);
    },
  );

  test.each(plains)(
    'law: … nor is one torn that skips the end of the data (3 entries, 3 tries to write, 4 reads; plain code %s)',
    (plain) => {
      const found = hold(plain, plain === 'early' ? oneDecides : signed(oneDecides), { writes: 3, reads: 4 });
      const seen = new Set(found.ends.map(([, reader]) => String(reader)));
      expect(seen).toEqual(new Set(['0,1,2', '0,1,2,3', '0,1,2,4', '0,1,2,5']));
      expect(found.interleavings).toBeGreaterThan(10_000);
    },
  );

  test('law: … and the check sees it (2 tries, 1 read): bytes written after their commit, or read after their release', () => {
    const readers = (plain: Plain, start: Start, how: Hold): readonly unknown[] =>
      hold(plain, start, { writes: 2, reads: 1, ...how }).ends.flatMap(([, reader]) => reader ?? []);
    const writing: typeof write = (writer, value) => {
      const room = writer.reserve(48);
      if (room !== undefined) writer.commit(48);
      room?.fill(value + 1);
      return room !== undefined;
    };
    const taking: typeof take = (ops, reader) => {
      const view = reader.next();
      if (view === undefined) return false;
      reader.release();
      look(ops, view);
      return true;
    };
    // A reader that is believed to have read everything: every load of a position gives what was written.
    const accesses: Accesses = (ops) => ({ ...ops, load: (cells, index) => ops.load(cells, index === 16 ? 0 : index) });
    const torn = (seen: unknown): boolean => String(seen).startsWith('torn');
    expect(readers('late', empty, { writing }).some(torn)).toBe(true);
    expect(readers('early', full, { taking }).some(torn)).toBe(true);
    expect(readers('early', full, { accesses }).some(torn)).toBe(true);
  });

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
    readonly send: number;
    readonly producing?: Partial<Producing>;
    readonly consuming?: Consuming;
  }

  function between({ start, send, producing, consuming }: Scenario): Findings {
    const link = linkOf(ringOf(start));
    return play(link, [producer(link, { from: start.full, send, ...producing }), consumer(link, consuming)]);
  }

  test('law: no frame and no end is slept over (2 frames and an end, to an empty ring)', () => {
    const found = between({ start: empty, send: 2 });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[['ends'], [0, 1, 'ended']]]);
    expect(found.interleavings).toBeGreaterThan(1e10);
  });

  test('law: no frame, no end and no room is slept over (1 frame and an end, to a full ring)', () => {
    const found = between({ start: full, send: 1 });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[['ends'], [0, 1, 2, 3, 4, 'ended']]]);
    expect(found.interleavings).toBeGreaterThan(1e10);
  });

  test('law: an end alone is not slept over, nor does a full ring keep it back (an end, to an empty and to a full ring)', () => {
    for (const start of [empty, full].flatMap((each) => [each, signed(each)])) {
      const found = between({ start, send: 0 });
      expect(found.stuck).toEqual([]);
      expect(found.ends).toEqual([[['ends'], [0, 1, 2, 3].slice(0, start.full).concat('ended' as never)]]);
      expect(found.interleavings).toBeGreaterThan(100);
    }
    expect(between({ start: empty, send: 0, consuming: { look: 'never' } }).stuck).not.toEqual([]);
    expect(between({ start: full, send: 0, producing: { accesses: lateStores } }).stuck).not.toEqual([]);
  });

  test('law: no room is slept over (2 frames to a full ring, 3 reads and no look after them)', () => {
    const found = between({ start: full, send: 2, consuming: { leaveAfter: 3 } });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[['ends'], [0, 1, 2]]]);
    expect(found.interleavings).toBeGreaterThan(1e9);
  });

  test('law: … nor if the last look is at the fill only (3 frames to a full ring, 4 reads)', () => {
    const found = between({ start: full, send: 3, producing: { look: 'fill' }, consuming: { leaveAfter: 4 } });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[['ends'], [0, 1, 2, 3]]]);
    expect(found.interleavings).toBeGreaterThan(1e9);
  });

  test('law: a writer that waits for room learns that its reader has finished (2 frames to a full ring, 0 and 1 read)', () => {
    for (const finishAfter of [0, 1]) {
      const found = between({ start: full, send: 2, consuming: { finishAfter } });
      expect(found.stuck).toEqual([]);
      expect(found.ends).toEqual([[['finished', 'ends'], [0].slice(0, finishAfter)]]);
      expect(found.interleavings).toBeGreaterThan(1000);
    }
  });

  test('law: … and a reader that reads on reads all that was sent, and the end (1 frame to 3 that leave no room, finished after 1 read)', () => {
    const found = between({ start: oneDecides, send: 1, consuming: { finishAfter: 1, readsOn: true } });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toHaveLength(2);
    expect(found.ends).toContainEqual([
      ['finished', 'ends'],
      [0, 1, 2, 'ended'],
    ]);
    expect(found.ends).toContainEqual([['ends'], [0, 1, 2, 3, 'ended']]);
    expect(found.interleavings).toBeGreaterThan(1e9);
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
    const late = { accesses: lateStores };
    const frame = { start: empty, send: 1 };
    const room = { start: oneDecides, send: 1, consuming: { leaveAfter: 1 } };
    const finish = { start: full, send: 2, consuming: { finishAfter: 1 } };
    for (const each of [frame, room, finish]) {
      expect(between(each).stuck).toEqual([]);
      const blind = {
        producing: { look: 'never' },
        consuming: { ...(each as Scenario).consuming, look: 'never' },
      } as const;
      expect(between({ ...each, ...blind }).stuck).not.toEqual([]);
    }
    expect(between({ ...frame, producing: late }).stuck).not.toEqual([]);
    expect(between({ ...frame, consuming: late }).stuck).not.toEqual([]);
    expect(between({ ...room, consuming: { ...room.consuming, ...late } }).stuck).not.toEqual([]);
    expect(between({ ...finish, producing: late }).stuck).not.toEqual([]);
  });
});
