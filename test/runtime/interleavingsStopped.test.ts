/**
 * A thread that stops where it is, held in the middle of a subscribe: a notification wakes it instead of a message.
 * No wait ends by time here, though a held thread waits 50 ms at most: what is missed would only come late, and show nowhere.
 */
import { describe, expect, test } from 'vitest';
import { type Findings, lateStores } from './fixtures/interleavings.js';
import {
  type Accesses,
  type Consuming,
  consumer,
  empty,
  full,
  linkOf,
  oneDecides,
  type Producing,
  play,
  producer,
  ringOf,
  type Start,
} from './fixtures/ringSides.js';

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

/** Its waits do not look at the word: what was said before they begin is lost. */
const blind: Accesses = (ops) => ({
  ...ops,
  wait: (cells, index, _value, ms) => ops.wait(cells, index, ops.load(cells, index), ms),
});
/** It notifies nobody. */
const mute: Accesses = (ops) => ({ ...ops, notify: () => 0 });

const stops = { stops: true } as const;

describe('a thread that stops where it is, every interleaving', () => {
  test('law: no frame and no end is slept over by a reader that stops (1 frame and an end, to an empty ring)', () => {
    const found = between({ start: empty, send: 1, consuming: stops });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[['ends'], [0, 'ended']]]);
    expect(found.interleavings).toBeGreaterThan(1e6);
  });

  test('law: no room is slept over by a writer that stops (2 frames to a full ring, 3 reads and no look after them)', () => {
    const found = between({ start: full, send: 2, producing: stops, consuming: { leaveAfter: 3 } });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[['ends'], [0, 1, 2]]]);
    expect(found.interleavings).toBeGreaterThan(1e9);
  });

  test('law: … nor that its reader has finished (2 frames to a full ring, 0 and 1 read)', () => {
    for (const finishAfter of [0, 1]) {
      const found = between({ start: full, send: 2, producing: stops, consuming: { finishAfter } });
      expect(found.stuck).toEqual([]);
      expect(found.ends).toEqual([[['finished', 'ends'], [0].slice(0, finishAfter)]]);
    }
  });

  test('law: two that stop wake each other (2 frames to a full ring, 3 reads)', () => {
    const found = between({ start: full, send: 2, producing: stops, consuming: { ...stops, leaveAfter: 3 } });
    expect(found.stuck).toEqual([]);
    expect(found.ends).toEqual([[['ends'], [0, 1, 2]]]);
    expect(found.interleavings).toBeGreaterThan(1e9);
  });

  test('law: … and the check sees it: without a look, with late stores, with a notification that is not sent or comes before the wait', () => {
    const frame = { start: empty, send: 1 };
    const room = { start: oneDecides, send: 1 };
    const leaveAfter = 1;
    expect(between({ ...frame, consuming: stops }).stuck).toEqual([]);
    expect(between({ ...room, producing: stops, consuming: { leaveAfter } }).stuck).toEqual([]);
    for (const accesses of [blind, lateStores])
      expect(between({ ...frame, consuming: { ...stops, accesses } }).stuck).not.toEqual([]);
    expect(between({ ...room, producing: { ...stops, accesses: blind }, consuming: { leaveAfter } }).stuck).not.toEqual(
      [],
    );
    for (const accesses of [mute, lateStores]) {
      expect(between({ ...frame, producing: { accesses }, consuming: stops }).stuck).not.toEqual([]);
      expect(between({ ...room, producing: stops, consuming: { leaveAfter, accesses } }).stuck).not.toEqual([]);
    }
    expect(between({ ...frame, consuming: { ...stops, look: 'never' } }).stuck).not.toEqual([]);
    expect(between({ ...room, producing: { ...stops, look: 'never' }, consuming: { leaveAfter } }).stuck).not.toEqual(
      [],
    );
  });
});
