/**
 * A ring is used again with a new generation: whatever an older run has left in it, and in the cells of its threads,
 * none of it is met by the new one. What is left is taken from every end of an older run whose sides stop anywhere.
 */
import { describe, expect, test } from 'vitest';
import { RingReader, RingWriter, resetRing } from '../../runtime/ring.js';
import { explore, type Findings, type Plain, type Side } from './fixtures/interleavings.js';
import { type Consuming, consumer, fill, linkOf, look, play, producer, ringOf, write } from './fixtures/ringSides.js';

/** Of the older run, unlike those of the new: 0, 1, 2 … */
const old = 100;
const oldGeneration = 2 ** 32 - 1;
const newGeneration = 2 ** 32 - 2;

/** The control words that mean something to the ends of a ring. */
const words = { read: 16, ended: 32, finished: 48, roomWanted: 64, generation: 80 } as const;

type Image = readonly [ring: Uint8Array, producerCell: Uint8Array, consumerCell: Uint8Array];

const link = linkOf(ringOf({ full: 0, at: 0 }));
const parts = [link.memory, link.producerCell, link.consumerCell].map((memory) => new Uint8Array(memory));

function restore(image: readonly Uint8Array[]): void {
  for (const [i, bytes] of image.entries()) parts[i]?.set(bytes);
}

/** Adds what memory holds now, once. */
function remember(images: Map<string, Image>): void {
  const image = parts.map((part) => part.slice()) as unknown as Image;
  images.set(image.map((part) => Buffer.from(part).toString('latin1')).join('|'), image);
}

/** What the older run leaves: 4 entries or 5 written, up to 2 read; its counts wrap in the new run, or have just wrapped. */
const leftovers: readonly Image[] = (() => {
  const images = new Map<string, Image>();
  restore([new Uint8Array(ringOf({ full: 0, at: 2 ** 32 - 320 }))]);
  resetRing(link.memory, oldGeneration);
  fill(link.memory, 4, old);
  const sides = [producer(link, { from: old + 4, send: 1 }), consumer(link, { finishAfter: 2 })];
  play(link, sides, {
    mayVanish: [0, 1],
    left: () => {
      remember(images);
    },
  });
  return [...images.values()];
})();

/**
 * The distinct beginnings of a new run, reset as it should be, or so that one word keeps what it held. Each thread may
 * count as asleep: the cell is its own, not the ring's.
 */
function beginnings(forgotten?: keyof typeof words): readonly Image[] {
  const images = new Map<string, Image>();
  for (const leftover of leftovers) {
    restore(leftover);
    const cells = new Int32Array(link.memory);
    const kept = forgotten === undefined ? 0 : (cells[words[forgotten]] ?? 0);
    resetRing(link.memory, newGeneration);
    if (forgotten !== undefined) cells[words[forgotten]] = kept;
    for (const asleep of [0, 1, 2, 3]) {
      new Int32Array(link.producerCell)[0] = asleep & 1;
      new Int32Array(link.consumerCell)[0] = asleep >> 1;
      remember(images);
    }
  }
  return [...images.values()];
}

test('what is left: every word set and unset, frames unread, counts below the wrap and at it', () => {
  const cells = leftovers.map(([ring]) => new Int32Array(ring.buffer));
  for (const word of [words.ended, words.finished, words.roomWanted]) {
    expect(new Set(cells.map((each) => each[word]))).toEqual(new Set([0, 1]));
  }
  expect(new Set(cells.map((each) => each[0]))).toEqual(new Set([-64, 0]));
  const unread = cells.map((each) => (each[0] ?? 0) - (each[words.read] ?? 0));
  expect(new Set(unread)).toEqual(new Set([128, 192, 256]));
  expect(new Set(leftovers.map(([, producerCell]) => producerCell[0]))).toEqual(new Set([0, 1]));
  expect(beginnings()).toHaveLength(12);
});

describe('ring, a new generation', () => {
  /** 2 entries and an end, 4 looks; each end of it, by each beginning. */
  function run(images: readonly Image[], plain: Plain): readonly Findings[] {
    return images.map((image) => {
      restore(image);
      const writing: Side = (ops) => {
        const writer = new RingWriter(link.memory, ops);
        ops.see(writer.generation);
        ops.see(writer.finished);
        for (const value of [0, 1]) ops.see(write(writer, value));
        writer.end();
      };
      const reading: Side = (ops) => {
        const reader = new RingReader(link.memory, ops);
        ops.see(reader.generation);
        for (let i = 0; i < 4; i++) {
          const view = reader.next();
          if (view !== undefined) {
            look(ops, view);
            ops.see(reader.release());
          } else if (reader.ended) {
            ops.see('ended');
            return;
          }
        }
      };
      return explore([link.memory], [writing, reading], { plain });
    });
  }

  const wanted = [newGeneration, 0, false, 1, false, 'ended'];

  /** Ends at which something old was seen. */
  function haunted(found: Findings): readonly unknown[] {
    return found.ends.filter(([writer, reader = []]) => {
      const asNew = String(writer) === String([newGeneration, false, true, true]);
      return !(asNew && String(reader) === String(wanted.slice(0, reader.length)));
    });
  }

  // Of equal rings with other cells, one is enough here.
  const awake = (images: readonly Image[]): readonly Image[] =>
    images.filter(([, one, other]) => one[0] === 0 && other[0] === 0);

  test.each(['early', 'late'] as const)(
    'law: nothing of an older run is seen (2 entries and an end, 4 looks, after each older run; plain code %s)',
    (plain) => {
      const found = run(awake(beginnings()), plain);
      expect(found.length).toBeGreaterThan(1);
      for (const each of found) {
        expect(haunted(each)).toEqual([]);
        expect(each.stuck).toEqual([]);
        expect(each.ends).toHaveLength(4);
        expect(each.interleavings).toBeGreaterThan(10_000);
      }
    },
  );

  test.each(Object.keys(words) as (keyof typeof words)[])(
    'law: … and the check sees a reset that forgets %s',
    (word) => {
      expect(run(awake(beginnings(word)), 'early').flatMap(haunted)).not.toEqual([]);
    },
  );
});

describe('channel, a new generation', () => {
  interface Scenario {
    /** Entries of the new run that are there already. */
    readonly full: number;
    readonly send: number;
    /** Sides to which a poke of the older run is still on its way: it arrives at any time. */
    readonly pokes: readonly number[];
    readonly consuming?: Consuming;
  }

  /** One entry below the wrap, with the last older run that stopped there, whoever counts as asleep. */
  const below = beginnings()
    .filter(([ring]) => new Int32Array(ring.buffer)[0] === -64)
    .slice(-4);

  function run(images: readonly Image[], { full, send, pokes, consuming }: Scenario): readonly Findings[] {
    return images.map((image) => {
      restore(image);
      fill(link.memory, full);
      const late = pokes.map(
        (target): Side =>
          (ops) =>
            ops.poke(target),
      );
      return play(link, [producer(link, { from: full, send }), consumer(link, consuming), ...late]);
    });
  }

  test('law: no frame and no end is slept over (1 frame and an end, an older poke to the reader, each cell 0 or 1)', () => {
    const found = run(below, { full: 0, send: 1, pokes: [1] });
    expect(found).toHaveLength(4);
    for (const { stuck, ends, interleavings } of found) {
      expect(stuck).toEqual([]);
      expect(ends).toEqual([[['ends'], [0, 'ended'], []]]);
      expect(interleavings).toBeGreaterThan(1e9);
    }
  });

  test('law: no room is slept over (1 frame to a full ring, 2 reads, an older poke to each, each cell 0 or 1)', () => {
    const found = run(below, { full: 4, send: 1, pokes: [0, 1], consuming: { leaveAfter: 2 } });
    expect(found).toHaveLength(4);
    for (const { stuck, ends, interleavings } of found) {
      expect(stuck).toEqual([]);
      expect(ends).toEqual([[['ends'], [0, 1], [], []]]);
      expect(interleavings).toBeGreaterThan(1e11);
    }
  });

  test('law: … and the check sees it: who takes a poke for a frame ends too early, who does not look sleeps for ever', () => {
    const one = { full: 0, send: 1, pokes: [1] };
    const [trusting] = run(below, { ...one, consuming: { trusts: true } });
    expect(trusting?.ends).toContainEqual([['ends'], ['ended'], []]);
    const [blind] = run(below, { ...one, pokes: [], consuming: { look: 'never' } });
    expect(blind?.stuck).not.toEqual([]);
  });
});
