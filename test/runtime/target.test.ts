import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BatchRule, defaultBatch } from '../../runtime/batch.js';
import { codecOf } from '../../runtime/codec.js';
import { maxAutoSize } from '../../runtime/filling.js';
import { headerBytes, kinds } from '../../runtime/frame.js';
import { ChannelCounters, type ChannelMetrics, createCounters, readChannel } from '../../runtime/metrics.js';
import { Target } from '../../runtime/target.js';
import { arrivals, FakeWriter, valuesOf } from './fixtures/channels.js';

interface Bench {
  readonly writer: FakeWriter;
  readonly target: Target;
  readonly parked: { bytes: number };
  counts(): ChannelMetrics;
}

function benchOf(rule: Partial<BatchRule> = {}, writer: FakeWriter = new FakeWriter()): Bench {
  const memory = createCounters(0, 1);
  const parked = { bytes: 0 };
  const target = new Target({
    writer,
    codec: codecOf(),
    rule: { ...defaultBatch, idle: false, ...rule },
    counters: new ChannelCounters(memory, 0, 0),
    generation: 7,
    source: 3,
    onParked: (bytes) => {
      parked.bytes += bytes;
    },
  });
  return { writer, target, parked, counts: () => readChannel(memory, 0, 0, 'c') };
}

const rules: fc.Arbitrary<BatchRule> = fc.record({
  size: fc.oneof(fc.constantFrom<number | 'auto'>(1, 2, 100, 'auto'), fc.integer({ min: 1, max: 8 })),
  bytes: fc.oneof(fc.constant(32 * 1024), fc.integer({ min: 1, max: 300 })),
  flushMs: fc.constantFrom(0, 3, 5, Number.POSITIVE_INFINITY),
  latencyMs: fc.constantFrom(2, Number.POSITIVE_INFINITY),
  idle: fc.boolean(),
});

type Call =
  | { readonly do: 'add'; readonly length: number }
  | { readonly do: 'later'; readonly ms: number }
  | { readonly do: 'room'; readonly frames: number }
  | { readonly do: 'reader'; readonly asleep: boolean }
  | { readonly do: 'pump' | 'idle' | 'flush' };

const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), length: fc.nat(60) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('add' as const), length: fc.nat(3000) }) },
  fc.record({ do: fc.constant('later' as const), ms: fc.nat(4) }),
  fc.record({ do: fc.constant('room' as const), frames: fc.nat(4) }),
  fc.record({ do: fc.constant('reader' as const), asleep: fc.boolean() }),
  fc.record({ do: fc.constantFrom('pump' as const, 'idle' as const, 'flush' as const) }),
);

/** Plays calls, checking after each what must hold at any time. Gives the values added. */
function play({ target, writer, parked }: Bench, rule: BatchRule, calls: readonly Call[]): string[] {
  const added: string[] = [];
  let nowMs = 1000;
  let openedMs = Number.POSITIVE_INFINITY;
  const maxMs = Math.min(rule.flushMs, rule.latencyMs);
  const sentOrParked = () => target.deadlineMs === Number.POSITIVE_INFINITY;
  for (const step of calls) {
    if (step.do === 'add') {
      const wasEmpty = sentOrParked();
      const value = `${added.length}:`.padEnd(step.length, 'x');
      added.push(value);
      expect(target.add(value, nowMs)).toBe(true);
      if (wasEmpty) openedMs = nowMs;
    } else if (step.do === 'later') {
      nowMs += step.ms;
      target.flushDue(nowMs);
      // Law: what has come of age is not in the open batch any more.
      expect(target.deadlineMs > nowMs || maxMs === Number.POSITIVE_INFINITY).toBe(true);
    } else if (step.do === 'room') writer.room = step.frames;
    else if (step.do === 'reader') {
      writer.readerAsleep = step.asleep;
      target.flushAsleep();
    } else if (step.do === 'pump') {
      const before = parked.bytes;
      expect(target.pump()).toBe(parked.bytes < before);
    } else if (step.do === 'idle') {
      const open = maxMs === Number.POSITIVE_INFINITY ? undefined : !sentOrParked();
      const sent = target.flushIdle();
      if (!rule.idle) expect(sent).toBe(false);
      else if (open !== undefined) expect(sent).toBe(open);
    } else {
      target.flush('explicit');
      expect(target.deadlineMs).toBe(Number.POSITIVE_INFINITY);
    }
    if (!sentOrParked()) expect(target.deadlineMs).toBe(openedMs + maxMs);
    expect(parked.bytes).toBeGreaterThanOrEqual(0);
    expect(target.ended).toBe(false);
    expect(writer.ended).toBe(false);
  }
  return added;
}

/** Gives room and pumps until nothing is parked. */
function settle({ target, writer, parked }: Bench): void {
  writer.room = Number.POSITIVE_INFINITY;
  target.pump();
  expect(parked.bytes).toBe(0);
}

describe('target', () => {
  test('law: every value arrives once and in order, whatever the writer refuses; nothing is lost at the end (C-144, C-146)', () => {
    fc.assert(
      fc.property(rules, fc.array(call, { maxLength: 60 }), (rule, calls) => {
        const bench = benchOf(rule);
        const added = play(bench, rule, calls);
        bench.target.end('end');
        settle(bench);
        expect(valuesOf(bench.writer.frames)).toEqual(added);
        expect(bench.writer.ended).toBe(true);
      }),
    );
  });

  test('law: no batch is above its size or its bytes; a larger single value travels alone (C-205)', () => {
    fc.assert(
      fc.property(rules, fc.array(call, { maxLength: 60 }), (rule, calls) => {
        const bench = benchOf(rule);
        play(bench, rule, calls);
        bench.target.end('end');
        settle(bench);
        const bound = Math.min(rule.bytes, (bench.writer.maxFrame >> 2) - headerBytes);
        for (const { values, bytes } of arrivals(bench.writer.frames)) {
          expect(values.length).toBeGreaterThan(0);
          expect(values.length).toBeLessThanOrEqual(rule.size === 'auto' ? maxAutoSize : rule.size);
          if (values.length > 1) expect(bytes).toBeLessThanOrEqual(bound);
        }
        for (const frame of bench.writer.frames) expect(frame.length).toBeLessThanOrEqual(bench.writer.maxFrame);
      }),
    );
  });

  test('law: a batch of one by its own path makes the frames of the general one', () => {
    const values = fc.array(
      fc.oneof(
        fc.nat(3000).map((length) => 'x'.repeat(length)),
        fc.nat(),
        fc.nat().map((n) => ({ n })),
      ),
      {
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(values, fc.array(fc.nat(3)), (values, rooms) => {
        const [general, alone] = [benchOf({ size: 1 }), benchOf({ size: 1 })];
        for (const [i, value] of values.entries()) {
          for (const { writer, target } of [general, alone]) {
            writer.room = rooms[i] ?? Number.POSITIVE_INFINITY;
            target.pump();
          }
          expect(alone.target.addAlone(value)).toBe(general.target.add(value, i));
          expect([alone.target.open, alone.target.deadlineMs]).toEqual([false, Number.POSITIVE_INFINITY]);
          expect(alone.parked.bytes).toBe(general.parked.bytes);
        }
        for (const bench of [general, alone]) {
          bench.target.end('end');
          settle(bench);
        }
        expect(alone.writer.frames).toEqual(general.writer.frames);
        expect(alone.counts()).toEqual(general.counts());
      }),
    );
  });

  test('law: the end is announced when everything was sent, not before, and once', () => {
    fc.assert(
      fc.property(rules, fc.array(call, { maxLength: 40 }), fc.array(fc.nat(3)), (rule, calls, rooms) => {
        const bench = benchOf(rule);
        const { target, writer, parked } = bench;
        const added = play(bench, rule, calls);
        target.end('end');
        for (const frames of [...rooms, Number.POSITIVE_INFINITY]) {
          expect(writer.ended).toBe(parked.bytes === 0);
          expect(target.ended).toBe(writer.ended);
          writer.room = frames;
          target.pump();
        }
        expect(writer.ended).toBe(true);
        expect(valuesOf(writer.frames)).toEqual(added);
      }),
    );
  });

  test('law: counters are exact: values, frames, bytes, and one reason per frame', () => {
    fc.assert(
      fc.property(rules, fc.array(call, { maxLength: 60 }), (rule, calls) => {
        const bench = benchOf(rule);
        const added = play(bench, rule, calls);
        bench.target.end('end');
        settle(bench);
        const frames = arrivals(bench.writer.frames);
        const { flushes, ...counts } = bench.counts();
        const bytes = bench.writer.frames.reduce((sum, frame) => sum + frame.length, 0);
        expect(counts).toMatchObject({ values: added.length, frames: frames.length, bytes, dropped: 0 });
        expect(Object.values(flushes).reduce((sum, count) => sum + count, 0)).toBe(frames.length);
      }),
    );
  });

  test('law: ids of values are consecutive over all frames', () => {
    fc.assert(
      fc.property(rules, fc.array(call, { maxLength: 60 }), (rule, calls) => {
        const bench = benchOf(rule);
        play(bench, rule, calls);
        bench.target.end('end');
        settle(bench);
        let id = 0;
        for (const { firstId, values } of arrivals(bench.writer.frames)) {
          expect(firstId).toBe(id);
          id += values.length;
        }
      }),
    );
  });

  test('the reason of a flush is counted', () => {
    const full = benchOf({ size: 2 });
    for (const value of [1, 2, 3]) full.target.add(value, 0);
    full.target.end('end');
    expect(full.counts().flushes).toMatchObject({ size: 1, end: 1 });

    const heavy = benchOf({ bytes: 40 });
    for (const value of ['x'.repeat(30), 'y'.repeat(30)]) heavy.target.add(value, 0);
    expect(heavy.counts().flushes).toMatchObject({ bytes: 2, size: 0 });

    const old = benchOf({ flushMs: 5 });
    old.target.add(1, 100);
    old.target.flushDue(104.9);
    expect(old.counts().frames).toBe(0);
    old.target.flushDue(105);
    expect(old.counts().flushes).toMatchObject({ age: 1 });

    const lazy = benchOf({ idle: true });
    lazy.target.add(1, 0);
    lazy.target.flushIdle();
    lazy.writer.readerAsleep = true;
    lazy.target.add(2, 0);
    lazy.target.flushAsleep();
    lazy.target.flush('explicit');
    expect(lazy.counts().flushes).toMatchObject({ idle: 1, asleep: 1, explicit: 0 });
  });

  test('without idle, neither a sleeping reader nor an idle executor sends a batch early', () => {
    const { target, writer } = benchOf({ idle: false });
    writer.readerAsleep = true;
    target.add(1, 0);
    target.flushAsleep();
    expect(target.flushIdle()).toBe(false);
    expect(writer.frames).toEqual([]);
  });

  test('a sleeping reader does not empty the batch while frames are parked', () => {
    const { target, writer } = benchOf({ idle: true, size: 2 }, new FakeWriter(1024, 0));
    for (const value of [1, 2]) target.add(value, 0);
    writer.readerAsleep = true;
    for (const value of [3, 4]) {
      target.add(value, 0);
      target.flushAsleep();
    }
    writer.room = 10;
    target.pump();
    expect(arrivals(writer.frames).map(({ values }) => values)).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test('a frame longer than the ring takes keeps its place, in pieces, also when the room ends between them', () => {
    const { target, writer, parked } = benchOf({ size: 1 }, new FakeWriter(256, 3));
    const values = ['a', 'b'.repeat(2000), 'c', 'd'.repeat(255), 'e'];
    for (const value of values) target.add(value, 0);
    expect(parked.bytes).toBeGreaterThan(2000);
    for (let i = 0; i < 20; i++) {
      writer.room = 1;
      target.pump();
    }
    expect(valuesOf(writer.frames)).toEqual(values);
    expect(parked.bytes).toBe(0);
  });

  test('a consumer that wants no more gets nothing: parked frames and later values are dropped and counted', () => {
    const { target, writer, parked, counts } = benchOf({ size: 2 }, new FakeWriter(1024, 0));
    for (const value of [1, 2, 3, 4, 5]) target.add(value, 0);
    writer.finished = true;
    expect(target.add(6, 0)).toBe(false);
    expect(target.pump()).toBe(true);
    expect(parked.bytes).toBe(0);
    expect(counts()).toMatchObject({ values: 0, frames: 0, dropped: 6 });
    writer.room = 1;
    target.end('end');
    expect(writer.ended).toBe(true);
  });

  test('another kind of frame follows what was emitted before it', () => {
    const { target, writer } = benchOf();
    for (const value of [1, 2]) target.add(value, 0);
    target.flush('error');
    target.sendFrame(kinds.error, Buffer.from('"broken"'), 'error');
    expect(arrivals(writer.frames)).toMatchObject([{ values: [1, 2] }, { kind: 'error', fault: 'broken' }]);
  });

  test('a value is what it was when it was added', () => {
    const { target, writer } = benchOf();
    const list = [1];
    target.add(list, 0);
    list.push(2);
    target.add(list, 0);
    target.flush('explicit');
    expect(valuesOf(writer.frames)).toEqual([[1], [1, 2]]);
  });

  test('a value that cannot travel is refused and leaves the batch as it was', () => {
    const { target, writer } = benchOf();
    target.add('a', 0);
    expect(() => target.add({ f: () => {} }, 0)).toThrow(expect.objectContaining({ code: 'ERR_VALUE' }));
    target.add('b', 0);
    target.flush('explicit');
    expect(valuesOf(writer.frames)).toEqual(['a', 'b']);
  });
});
