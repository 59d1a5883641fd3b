import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codecOf } from '../../runtime/codec.js';
import type { Fault } from '../../runtime/fault.js';
import { Inbox } from '../../runtime/inbox.js';
import { none } from '../../runtime/input.js';
import { ChannelCounters, createCounters } from '../../runtime/metrics.js';
import { dataFrame, errorFrame, FakeReader, inParts } from './fixtures/channels.js';

const generation = 1;

function inboxOf(readers: readonly FakeReader[], onFault: (fault: Fault) => void = () => {}): Inbox {
  const decoder = codecOf().decoder();
  const counters = new ChannelCounters(createCounters(0, 1), 0, 0);
  return new Inbox(
    readers.map((reader) => ({ reader, decoder, generation, counters })),
    onFault,
  );
}

const readersOf = (count: number): FakeReader[] => Array.from({ length: count }, () => new FakeReader());

function takeAll(inbox: Inbox): unknown[] {
  const values: unknown[] = [];
  for (let value = inbox.take(); value !== none; value = inbox.take()) values.push(value);
  return values;
}

describe('inbox', () => {
  test('law: values of a channel come once and in order, whole or in pieces, and ended holds exactly then', () => {
    const frame = fc.record({ values: fc.array(fc.nat(), { maxLength: 4 }), piece: fc.constantFrom(0, 1, 7, 40) });
    const script = fc.array(fc.tuple(fc.nat(2), frame), { maxLength: 30 });
    fc.assert(
      fc.property(script, (sent) => {
        const readers = readersOf(3);
        const inbox = inboxOf(readers);
        const expected: unknown[][] = [[], [], []];
        const got: unknown[][] = [[], [], []];
        const look = () => {
          for (const [lane, value] of takeAll(inbox) as [number, number][]) got[lane]!.push(value);
        };
        for (const [i, [lane, { values, piece }]] of sent.entries()) {
          const whole = dataFrame(values.map((value) => [lane, value]));
          readers[lane]!.frames.push(...(piece === 0 ? [whole] : inParts(whole, piece)));
          expected[lane]!.push(...values);
          if (i % 3 === 0) look();
        }
        for (const reader of readers) {
          expect(inbox.ended).toBe(false);
          reader.closed = true;
        }
        look();
        expect(got).toEqual(expected);
        expect(inbox.ended).toBe(true);
        expect(inbox.take()).toBe(none);
      }),
    );
  });

  test('law: channels are read in turn: none waits for more than one frame of each other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 5 }), fc.integer({ min: 1, max: 6 }), (count, frames) => {
        const readers = readersOf(count);
        for (const [lane, reader] of readers.entries())
          for (let i = 0; i < frames; i++) reader.frames.push(dataFrame([lane]));
        const order = takeAll(inboxOf(readers));
        expect(order).toEqual(Array.from({ length: frames }, () => [...readers.keys()]).flat());
      }),
    );
  });

  test('a frame is released before its first value is handed out, and nothing of a value lies in it', () => {
    const [reader] = readersOf(1) as [FakeReader];
    reader.frames.push(dataFrame([Buffer.from('abc'), 'text']));
    const inbox = inboxOf([reader]);
    expect(inbox.take()).toEqual(Buffer.from('abc'));
    expect(reader.released).toBe(1);
    expect(inbox.take()).toBe('text');
  });

  test('frames of an older run are dropped', () => {
    const [reader] = readersOf(1) as [FakeReader];
    reader.frames.push(dataFrame(['old'], 0), errorFrame('old', 0), ...inParts(dataFrame(['old']), 5, 0));
    reader.frames.push(dataFrame(['new']));
    const faults: Fault[] = [];
    expect(takeAll(inboxOf([reader], (fault) => faults.push(fault)))).toEqual(['new']);
    expect(faults).toEqual([]);
  });

  test('a fault is told after the values before it, whole or in pieces', () => {
    for (const frames of [[errorFrame('broken')], inParts(errorFrame('broken'), 3)]) {
      const [reader] = readersOf(1) as [FakeReader];
      reader.frames.push(dataFrame([1, 2]), ...frames);
      const heard: unknown[] = [];
      const inbox = inboxOf([reader], (fault) => heard.push(fault));
      for (let value = inbox.take(); value !== none; value = inbox.take()) heard.push(value);
      expect(heard).toEqual([1, 2, 'broken']);
    }
  });

  test('after a fault that finished it nothing more is handed out', () => {
    const readers = readersOf(2);
    readers[0]!.frames.push(errorFrame('broken'), dataFrame([1]));
    readers[1]!.frames.push(dataFrame([2]));
    const inbox: Inbox = inboxOf(readers, () => inbox.finish());
    expect(inbox.take()).toBe(none);
    expect(inbox.ended).toBe(true);
  });

  test('finish tells the producers that have not ended; discard reads and counts what still comes', () => {
    const readers = readersOf(2);
    readers[0]!.frames.push(dataFrame([1, 2, 3]));
    readers[1]!.closed = true;
    const inbox = inboxOf(readers);
    expect(inbox.take()).toBe(1);
    expect(inbox.discard()).toBe(2);
    readers[0]!.frames.push(dataFrame([4]), ...inParts(dataFrame(['large']), 4), dataFrame([5, 6]));
    takeAll(inboxOf([readers[1]!]));
    inbox.finish();
    expect(readers[0]!.finished).toBe(1);
    expect(inbox.ended).toBe(true);
    expect(inbox.discard()).toBe(4);
    expect(readers[0]!.frames).toEqual([]);
  });

  test('drain leaves channels as they are', () => {
    const [reader] = readersOf(1) as [FakeReader];
    const inbox = inboxOf([reader]);
    inbox.drain();
    reader.frames.push(dataFrame([1]));
    expect(takeAll(inbox)).toEqual([1]);
    expect([inbox.ended, reader.finished]).toEqual([false, 0]);
  });
});
