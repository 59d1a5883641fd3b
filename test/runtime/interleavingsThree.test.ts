/**
 * Three threads: one that sleeps, and two that wake it, through channels of its own with each of them.
 * One cell serves both, so what one says must not swallow what the other has to say.
 */
import { describe, expect, test } from 'vitest';
import { createBell, createSleepCell, ringReader, ringWriter, Sleeper } from '../../runtime/channel.js';
import type { AtomicOps } from '../../runtime/ring.js';
import { explore, type Findings, lateStores, type Ops, type Side } from './fixtures/interleavings.js';
import { type Accesses, empty, exact, oneDecides, ringOf, write } from './fixtures/ringSides.js';

/** What one of the others does once: sends a frame, ends, finishes, or reads the entry that makes room for one more. */
const deeds = ['frame', 'end', 'finish', 'room'] as const;
type Deed = (typeof deeds)[number];

interface Sleeping {
  /** Channels it looks at before it sleeps. */
  readonly looks?: number;
  readonly accesses?: Accesses;
}

/** Side 0 waits for a deed of side 1 and for one of side 2. */
function meet(pair: readonly [Deed, Deed], sleeping: Sleeping = {}, others: Accesses = exact): Findings {
  const { looks = 2, accesses = exact } = sleeping;
  const cell = createSleepCell();
  const links = pair.map((deed) => ({
    deed,
    memory: ringOf(deed === 'room' || deed === 'finish' ? oneDecides : empty),
  }));

  /** True once what it waits for has come. */
  function waiting(deed: Deed, memory: SharedArrayBuffer, atomics: AtomicOps): () => boolean {
    const silent = createBell(createSleepCell(), () => {});
    if (deed === 'room' || deed === 'finish') {
      const writer = ringWriter(memory, silent, atomics);
      return () => (deed === 'room' ? write(writer, 3) : writer.finished);
    }
    const reader = ringReader(memory, silent, atomics);
    return () => (deed === 'frame' ? reader.next() !== undefined : reader.ended);
  }

  const sleeper: Side = (ops) => {
    const atomics = accesses(ops);
    const own = new Sleeper(cell, atomics);
    const open = new Map(links.map(({ deed, memory }, i) => [i + 1, waiting(deed, memory, atomics)]));
    const step = (count: number): boolean => {
      for (const [number, come] of open) {
        if (number > count || !come()) continue;
        ops.see(number);
        open.delete(number);
        return true;
      }
      return false;
    };
    while (open.size > 0) {
      if (step(2)) continue;
      own.fallAsleep();
      if (!step(looks)) ops.sleep();
      own.wakeUp();
    }
  };

  const waker = ({ deed, memory }: (typeof links)[number]): Side => {
    const act = (ops: Ops, atomics: AtomicOps): void => {
      const bell = createBell(cell, () => ops.poke(0), atomics);
      if (deed === 'frame') write(ringWriter(memory, bell, atomics), 0);
      else if (deed === 'end') ringWriter(memory, bell, atomics).end();
      else if (deed === 'finish') ringReader(memory, bell, atomics).finish();
      else {
        const reader = ringReader(memory, bell, atomics);
        reader.next();
        reader.release();
      }
    };
    return (ops) => {
      const atomics = others(ops);
      act(ops, atomics);
      // Late stores are late, not lost: a load lets the last one through.
      atomics.load(new Int32Array(cell), 0);
    };
  };

  return explore([cell, ...links.map(({ memory }) => memory)], [sleeper, ...links.map(waker)]);
}

const long = process.env['MILLRACE_LONG'] === '1';
const pairs: readonly (readonly [Deed, Deed])[] = long
  ? deeds.flatMap((one, i) => deeds.slice(i).map((other) => [one, other] as const))
  : [
      ['frame', 'frame'],
      ['frame', 'room'],
      ['end', 'finish'],
    ];

describe('three threads, every interleaving', () => {
  test.each(pairs)('law: neither is slept over (1 %s and 1 %s)', (...pair) => {
    const found = meet(pair);
    expect(found.stuck).toEqual([]);
    expect(found.ends).toHaveLength(2);
    expect(found.ends).toContainEqual([[1, 2], [], []]);
    expect(found.ends).toContainEqual([[2, 1], [], []]);
    expect(found.interleavings).toBeGreaterThan(1e9);
  });

  test('law: … and the check sees it (1 frame and 1 frame): with a look at one of the two, or late stores on either side', () => {
    const pair = ['frame', 'frame'] as const;
    expect(meet(pair, { looks: 1 }).stuck).not.toEqual([]);
    expect(meet(pair, { accesses: lateStores }).stuck).not.toEqual([]);
    expect(meet(pair, {}, lateStores).stuck).not.toEqual([]);
  });
});
