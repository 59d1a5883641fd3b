import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Bell,
  type ChannelReader,
  type ChannelWriter,
  createBell,
  createSleepCell,
  ringReader,
  ringWriter,
  Sleeper,
} from '../../runtime/channel.js';
import { createRing } from '../../runtime/ring.js';

const silent: Bell = { asleep: false, ring: () => {} };

describe('bell', () => {
  test('law: a running thread is never poked, a sleeping one is poked once', () => {
    const calls = fc.array(fc.constantFrom('ring', 'fallAsleep', 'wakeUp'), { maxLength: 40 });
    fc.assert(
      fc.property(calls, (made) => {
        const cell = createSleepCell();
        const sleeper = new Sleeper(cell);
        let pokes = 0;
        const bells = [createBell(cell, () => pokes++), createBell(cell, () => pokes++)];
        let sleeps = false;
        let expected = 0;
        for (const [i, call] of made.entries()) {
          expect(bells[0]!.asleep).toBe(sleeps);
          if (call === 'ring') {
            bells[i % 2]!.ring();
            if (sleeps) expected += 1;
            sleeps = false;
          } else {
            sleeper[call as 'fallAsleep' | 'wakeUp']();
            sleeps = call === 'fallAsleep';
          }
          expect(pokes).toBe(expected);
        }
      }),
    );
  });

  test('what is published is published before the bell rings', () => {
    const memory = createRing(256);
    const heard: unknown[] = [];
    const look = (what: () => unknown): Bell => ({ asleep: true, ring: () => heard.push(what()) });
    const reader: ChannelReader = ringReader(
      memory,
      look(() => ['finished', writer.finished]),
    );
    const writer: ChannelWriter = ringWriter(
      memory,
      look(() => [reader.next()?.[0], reader.ended]),
    );
    expect(writer.readerAsleep).toBe(true);
    expect(writer.maxFrame).toBe(48);
    writer.reserve(1)!.fill(7);
    expect(reader.next()).toBeUndefined();
    writer.commit(1);
    expect(writer.fill).toBe(32);
    reader.release();
    writer.end();
    reader.finish();
    expect(heard).toEqual([
      [7, false],
      [undefined, true],
      ['finished', true],
    ]);
  });

  test('release rings only for a writer that was refused, and when half the ring is free', () => {
    const memory = createRing(256);
    let rings = 0;
    const writer = ringWriter(memory, silent);
    const reader = ringReader(memory, { asleep: true, ring: () => rings++ });
    const fill = () => {
      for (let i = 0; i < 9; i++) if (writer.reserve(48) !== undefined) writer.commit(48);
    };
    const heard = () => {
      reader.next();
      reader.release();
      return rings;
    };
    fill();
    expect([heard(), heard(), heard(), heard()]).toEqual([0, 1, 1, 1]);
    for (let i = 0; i < 4; i++) {
      writer.reserve(48);
      writer.commit(48);
    }
    expect([heard(), heard(), heard(), heard()]).toEqual([1, 1, 1, 1]);
  });
});

describe('both ends on one thread', () => {
  test('law: everything arrives, in order, whoever is asked first', () => {
    const turns = fc.array(fc.nat(99), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(fc.nat(40), turns, (count, order) => {
        const memory = createRing(256, 2 ** 32 - 128);
        const cells = [createSleepCell(), createSleepCell()];
        const sleepers = cells.map((cell) => new Sleeper(cell));
        // The event loop: sides that have been poked, taken in random order.
        const due = new Set([0, 1]);
        const bells = cells.map((cell, side) => createBell(cell, () => due.add(side)));
        const writer = ringWriter(memory, bells[1]!);
        const reader = ringReader(memory, bells[0]!);
        const got: number[] = [];
        let sent = 0;
        let ended = false;
        const looks = [
          (): boolean => {
            const room = sent < count ? writer.reserve(48) : undefined;
            if (room === undefined) return false;
            room.fill(sent++);
            writer.commit(48);
            if (sent === count) writer.end();
            return true;
          },
          (): boolean => {
            ended = reader.ended;
            const frame = reader.next();
            if (frame === undefined) return false;
            got.push(frame[47]!);
            reader.release();
            return true;
          },
        ];
        if (count === 0) writer.end();
        for (let turn = 0; due.size > 0; turn++) {
          const side = [...due][order[turn % order.length]! % due.size]!;
          due.delete(side);
          sleepers[side]!.wakeUp();
          do {
            while (looks[side]!()) sleepers[side]!.wakeUp();
            sleepers[side]!.fallAsleep();
          } while (looks[side]!());
        }
        expect(got).toEqual(Array.from({ length: count }, (_, i) => i));
        expect(ended).toBe(true);
      }),
    );
  });
});
