import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BatchRule, defaultBatch } from '../../runtime/batch.js';
import { codecOf } from '../../runtime/codec.js';
import { ChannelCounters, createCounters, readChannel } from '../../runtime/metrics.js';
import { Outbox, type OutletOptions } from '../../runtime/outbox.js';
import { arrivals, FakeWriter, valuesOf } from './fixtures/channels.js';

const everySlice: BatchRule = { ...defaultBatch, idle: false, flushMs: Number.POSITIVE_INFINITY };
const memory = createCounters(0, 64);

function outlet(
  kind: OutletOptions['route']['kind'],
  writers: readonly FakeWriter[],
  rule = everySlice,
): OutletOptions {
  const targets = writers.map((writer, i) => ({
    writer,
    codec: codecOf(),
    rule,
    counters: new ChannelCounters(memory, 0, i),
    generation: 1,
    source: 0,
  }));
  const fn = kind === 'route' ? (value: unknown) => Number(value) % writers.length : undefined;
  return { route: { kind, fn, name: 'x', near: [] }, targets, discard: undefined };
}

const writersOf = (count: number, room?: number): FakeWriter[] =>
  Array.from({ length: count }, () => new FakeWriter(1024, room));
const emit = (outbox: Outbox, outletIndex: number, value: unknown): void => outbox.emit[outletIndex]!(value);

describe('outbox', () => {
  test('law: each outlet hands every value to the targets its routing says, in order, whatever is refused', () => {
    const outlets = fc.array(
      fc.tuple(fc.constantFrom('shuffle', 'broadcast', 'route'), fc.integer({ min: 1, max: 3 })),
      {
        minLength: 1,
        maxLength: 3,
      },
    );
    const calls = fc.array(fc.oneof(fc.nat(99), fc.constantFrom('pump', 'flush', 'refuse', 'idle')), { maxLength: 60 });
    const rule = fc.record({
      size: fc.integer({ min: 1, max: 4 }),
      bytes: fc.integer({ min: 1, max: 200 }),
      flushMs: fc.constant(Number.POSITIVE_INFINITY),
      latencyMs: fc.constant(Number.POSITIVE_INFINITY),
      idle: fc.boolean(),
    });
    fc.assert(
      fc.property(outlets, rule, calls, (shapes, rule, made) => {
        const writers = shapes.map(([, width]) => writersOf(width));
        const outbox = new Outbox(
          shapes.map(([kind], i) => outlet(kind as 'shuffle', writers[i]!, rule)),
          Number.POSITIVE_INFINITY,
        );
        const values: number[] = [];
        for (const [i, call] of made.entries()) {
          if (typeof call === 'number') {
            values.push(call);
            for (const at of shapes.keys()) emit(outbox, at, call);
          } else if (call === 'pump') {
            for (const writer of writers.flat()) writer.room = i % 3;
            outbox.pump();
          } else if (call === 'flush') outbox.flush('explicit');
          else if (call === 'idle') outbox.flushIdle();
          else for (const writer of writers.flat()) writer.room = 0;
          expect(outbox.room).toBe(outbox.parkedBytes === 0);
        }
        expect(outbox.emitted).toBe(values.length * shapes.length);
        for (const at of shapes.keys()) outbox.end(at);
        expect(outbox.ended).toBe(outbox.room);
        for (const writer of writers.flat()) writer.room = Number.POSITIVE_INFINITY;
        outbox.pump();
        expect([outbox.ended, outbox.room, outbox.parkedBytes]).toEqual([true, true, 0]);
        for (const [at, [kind, width]] of shapes.entries()) {
          const expected = writers[at]!.map((_, target) => {
            if (kind === 'broadcast') return values;
            if (kind === 'route') return values.filter((value) => value % width === target);
            return values.filter((_, i) => i % width === target);
          });
          expect(writers[at]!.map((writer) => valuesOf(writer.frames))).toEqual(expected);
        }
      }),
    );
  });

  test('the deadline is that of the oldest open batch of all; a due batch leaves, the others stay', () => {
    const writers = writersOf(2);
    const outbox = new Outbox([outlet('shuffle', writers, { ...everySlice, flushMs: 5 })], 1);
    expect(outbox.deadlineMs).toBe(Number.POSITIVE_INFINITY);
    outbox.tick(100);
    emit(outbox, 0, 'a');
    outbox.tick(103);
    emit(outbox, 0, 'b');
    expect(outbox.deadlineMs).toBe(105);
    outbox.tick(106);
    outbox.flushDue();
    expect(writers.map(({ frames }) => valuesOf(frames))).toEqual([['a'], []]);
    expect(outbox.deadlineMs).toBe(108);
  });

  test('an error follows what was emitted before it, on every open outlet and target, and ends them', () => {
    const [open, ended] = [writersOf(2), writersOf(1)];
    const outbox = new Outbox([outlet('shuffle', open), outlet('gather', ended)], 1);
    for (const value of [1, 2, 3]) emit(outbox, 0, value);
    emit(outbox, 1, 9);
    outbox.end(1);
    outbox.fail('broken');
    expect(open.map(({ frames }) => arrivals(frames))).toMatchObject([
      [{ values: [1, 3] }, { fault: 'broken' }],
      [{ values: [2] }, { fault: 'broken' }],
    ]);
    expect(arrivals(ended[0]!.frames)).toMatchObject([{ values: [9] }]);
    expect([...open, ...ended].every((writer) => writer.ended)).toBe(true);
  });

  test('an outlet closes when all its consumers want no more, once; one that still wants keeps it open', () => {
    const writers = writersOf(2);
    const outbox = new Outbox([outlet('gather', writersOf(1)), outlet('broadcast', writers)], 1);
    const closed: number[] = [];
    outbox.onClosed = (index) => closed.push(index);
    writers[0]!.finished = true;
    expect(outbox.closeFinished()).toBe(false);
    emit(outbox, 1, 'x');
    outbox.flush('explicit');
    expect(writers.map(({ frames }) => valuesOf(frames))).toEqual([[], ['x']]);
    writers[1]!.finished = true;
    expect(outbox.closeFinished()).toBe(true);
    expect(outbox.closeFinished()).toBe(false);
    expect(closed).toEqual([1]);
    expect(writers.every((writer) => writer.ended)).toBe(true);
  });

  test('an emission to consumers that want no more closes the outlet there and then', () => {
    const [writer] = writersOf(1) as [FakeWriter];
    const outbox = new Outbox([outlet('gather', [writer])], 1);
    const closed: number[] = [];
    outbox.onClosed = (index) => closed.push(index);
    writer.finished = true;
    for (const value of [1, 2, 3]) emit(outbox, 0, value);
    expect(closed).toEqual([0]);
  });

  test('after stop nothing that is emitted is sent', () => {
    const [writer] = writersOf(1) as [FakeWriter];
    const outbox = new Outbox([outlet('gather', [writer], { ...everySlice, size: 1 })], 1);
    emit(outbox, 0, 'before');
    outbox.stop();
    for (const value of [1, 2, 3]) emit(outbox, 0, value);
    expect(valuesOf(writer.frames)).toEqual(['before']);
    expect(outbox.emitted).toBe(1);
  });

  test('values of a discarded outlet are counted as dropped and go nowhere', () => {
    const counters = createCounters(0, 1);
    const discard = new ChannelCounters(counters, 0, 0);
    const outbox = new Outbox([{ ...outlet('output', []), discard }], 1);
    for (const value of [1, { f: () => {} }]) emit(outbox, 0, value);
    expect(readChannel(counters, 0, 0, 'c')).toMatchObject({ dropped: 2, values: 0 });
    expect(outbox.room).toBe(true);
  });

  test('a burst above maxParkedBytes is an error at the next value; what was taken is sent once, then the error', () => {
    const [writer] = writersOf(1, 2) as [FakeWriter];
    const outbox = new Outbox([outlet('gather', [writer], { ...everySlice, size: 2 })], 100);
    const taken: string[] = [];
    const burst = () => {
      for (let i = 0; i < 1000; i++) {
        emit(outbox, 0, `value ${i}`);
        taken.push(`value ${i}`);
      }
    };
    expect(burst).toThrow(expect.objectContaining({ code: 'ERR_OUTPUT_BURST' }));
    expect(outbox.parkedBytes).toBeGreaterThan(100);
    expect(outbox.parkedBytes).toBeLessThan(100 + 100);
    outbox.fail('burst');
    writer.room = Number.POSITIVE_INFINITY;
    outbox.pump();
    expect(valuesOf(writer.frames)).toEqual(taken);
    expect(arrivals(writer.frames).at(-1)).toMatchObject({ fault: 'burst' });
    expect(writer.ended).toBe(true);
  });

  test('a single value of any size is parked', () => {
    const [writer] = writersOf(1, 0) as [FakeWriter];
    const outbox = new Outbox([outlet('gather', [writer], { ...everySlice, size: 1 })], 100);
    emit(outbox, 0, 'x'.repeat(10_000));
    expect(outbox.parkedBytes).toBeGreaterThan(10_000);
    writer.room = Number.POSITIVE_INFINITY;
    outbox.pump();
    expect(valuesOf(writer.frames)).toEqual(['x'.repeat(10_000)]);
  });
});
