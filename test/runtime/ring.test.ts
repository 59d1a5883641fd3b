import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRing, RingReader, RingWriter, resetRing, ringBytes } from '../../runtime/ring.js';

/** Places worth starting at: zero, and a little below the wraps of the signed and of the unsigned count. */
const starts = fc
  .tuple(fc.constantFrom(0, 2 ** 31, 2 ** 32), fc.nat(200))
  .map(([wrap, below]) => (wrap === 0 ? below * 16 : wrap - below * 16));

const dataBytes = fc.constantFrom(256, 1024, 64 * 1024);

/** Sizes as parts of the largest entry, with the edges. */
const part = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }));

const command = fc.oneof(
  fc.record({ call: fc.constant('write' as const), part, used: part, less: fc.nat(20) }),
  fc.constant({ call: 'next' as const }),
  fc.constant({ call: 'release' as const }),
);

/** The ring as a list, with counts that never wrap. */
class Model {
  readonly entries: { bytes: Uint8Array; freed: number }[] = [];
  readonly #capacity: number;
  #written: number;
  #read: number;
  wish = false;
  held = false;

  constructor(capacity: number, start: number) {
    this.#capacity = capacity;
    this.#written = start;
    this.#read = start;
  }

  get fill(): number {
    return this.#written - this.#read;
  }

  /** What an entry of that length would take, with what it has to skip. */
  #taken(length: number): number {
    const size = 16 + Math.ceil(length / 16) * 16;
    const toEnd = this.#capacity - (this.#written % this.#capacity);
    return toEnd < size ? toEnd + size : size;
  }

  fits(length: number): boolean {
    return this.fill + this.#taken(length) <= this.#capacity;
  }

  /** The place is chosen for what was reserved, the length is that of what was committed. */
  add(reserved: number, bytes: Uint8Array): void {
    const unused = Math.ceil(reserved / 16) * 16 - Math.ceil(bytes.length / 16) * 16;
    const freed = this.#taken(reserved) - unused;
    this.entries.push({ bytes, freed });
    this.#written += freed;
  }

  /** Drops the oldest; whether a bell is due. */
  drop(): boolean {
    this.#read += this.entries.shift()!.freed;
    const due = this.wish && this.fill <= this.#capacity / 2;
    if (due) this.wish = false;
    return due;
  }
}

function text(value: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (value * 31 + i * 7) & 0xff);
}

describe('ring', () => {
  test('law: what is read is what was written, in order, and room is given exactly as far as there is room', () => {
    const commands = fc.array(command, { maxLength: 120, size: 'max' });
    fc.assert(
      fc.property(dataBytes, starts, commands, (capacity, start, calls) => {
        const memory = createRing(capacity, start);
        const writer = new RingWriter(memory);
        const reader = new RingReader(memory);
        const model = new Model(capacity, start);
        let view: Uint8Array | undefined;
        for (const [i, call] of calls.entries()) {
          if (call.call === 'write') {
            const length = Math.max(0, Math.round(call.part * writer.maxEntry) - call.less);
            const room = writer.reserve(length);
            expect(room !== undefined).toBe(model.fits(length));
            if (room === undefined) {
              model.wish = true;
            } else {
              expect(room.byteOffset % 16).toBe(0);
              expect(room.length).toBe(length);
              // All of the room is used before less of it is committed: nothing unread may lie there.
              room.fill(0xee);
              const bytes = text(i, Math.round(call.used * length));
              room.set(bytes);
              writer.commit(bytes.length);
              model.add(length, bytes);
            }
          } else if (call.call === 'next') {
            view = reader.next();
            expect(view && [...view]).toEqual(model.entries[0] && [...model.entries[0].bytes]);
          } else if (view !== undefined) {
            // In place and still whole, whatever was written since.
            expect([...view]).toEqual([...model.entries[0]!.bytes]);
            expect(reader.release()).toBe(model.drop());
            view = undefined;
          }
          expect(writer.fill).toBe(model.fill);
        }
        while (model.entries.length > 0) {
          expect([...(reader.next() ?? [])]).toEqual([...model.entries[0]!.bytes]);
          reader.release();
          model.drop();
        }
        expect(reader.next()).toBeUndefined();
        expect(writer.fill).toBe(0);
      }),
    );
  });

  test('law: with half the ring free, at whatever place, the largest entry has room', () => {
    fc.assert(
      fc.property(dataBytes, starts, fc.array(part, { minLength: 1, maxLength: 60 }), (capacity, start, parts) => {
        const memory = createRing(capacity, start);
        const writer = new RingWriter(memory);
        const reader = new RingReader(memory);
        for (const each of parts) {
          const room = writer.reserve(Math.round(each * writer.maxEntry));
          if (room !== undefined) {
            writer.commit(room.length);
            continue;
          }
          // Refused: so the release that rings leaves room for anything, and none before it rang.
          do {
            expect(reader.next()).toBeDefined();
          } while (!reader.release());
          expect(writer.fill).toBeLessThanOrEqual(capacity / 2);
          expect(writer.reserve(writer.maxEntry)).toHaveLength(writer.maxEntry);
        }
      }),
    );
  });

  test('law: an emptied ring takes the largest entry, a full one takes not even an empty entry', () => {
    for (const start of [0, 2 ** 31 - 512, 2 ** 32 - 512]) {
      for (let place = 0; place < 64; place++) {
        const memory = createRing(512, start + place * 16);
        const writer = new RingWriter(memory);
        const reader = new RingReader(memory);
        expect(writer.reserve(writer.maxEntry)).toBeDefined();
        let count = 0;
        while (count < 99 && writer.reserve(0) !== undefined) {
          writer.commit(0);
          count += 1;
        }
        expect(count).toBe(512 / 16);
        expect(writer.fill).toBe(writer.capacity);
        // One entry free: one of its size has room, one a byte longer has not.
        reader.next();
        reader.release();
        expect(writer.reserve(1)).toBeUndefined();
        expect(writer.reserve(0)).toBeDefined();
        writer.commit(0);
        while (reader.next() !== undefined) reader.release();
        expect(writer.fill).toBe(0);
        expect(writer.reserve(writer.maxEntry)).toBeDefined();
      }
    }
  });

  test('four largest entries fill a ring to the last byte', () => {
    const memory = createRing(1024, 2 ** 32 - 256);
    const writer = new RingWriter(memory);
    const reader = new RingReader(memory);
    for (let i = 0; i < 4; i++) {
      writer.reserve(writer.maxEntry)!.fill(i);
      writer.commit(writer.maxEntry);
    }
    expect(writer.fill).toBe(1024);
    expect(writer.reserve(0)).toBeUndefined();
    for (let i = 0; i < 4; i++) {
      expect([...reader.next()!]).toEqual([...new Uint8Array(writer.maxEntry).fill(i)]);
      expect(reader.release()).toBe(i === 1);
    }
  });

  test('an entry is handed out until it is released, and a reservation not committed is forgotten', () => {
    const memory = createRing(256);
    const writer = new RingWriter(memory);
    const reader = new RingReader(memory);
    writer.reserve(48)!.fill(1);
    writer.reserve(2)!.fill(2);
    writer.commit(1);
    expect([...reader.next()!]).toEqual([2]);
    expect([...reader.next()!]).toEqual([2]);
    reader.release();
    expect(reader.next()).toBeUndefined();
    expect(() => reader.release()).toThrow(/without an entry/);
  });

  test('law: the reader has ended when the writer has and all is released, and not before', () => {
    fc.assert(
      fc.property(starts, fc.nat(4), (start, count) => {
        const memory = createRing(256, start);
        const writer = new RingWriter(memory);
        const reader = new RingReader(memory);
        for (let i = 0; i < count; i++) {
          writer.reserve(10);
          writer.commit(10);
          expect(reader.ended).toBe(false);
        }
        writer.end();
        writer.end();
        for (let i = 0; i < count; i++) {
          expect(reader.ended).toBe(false);
          reader.next();
          expect(reader.ended).toBe(false);
          reader.release();
        }
        expect(reader.ended).toBe(true);
        expect(reader.next()).toBeUndefined();
      }),
    );
  });

  test('a reader that has finished is known to the writer and may read on', () => {
    const memory = createRing(256);
    const writer = new RingWriter(memory);
    const reader = new RingReader(memory);
    expect(writer.finished).toBe(false);
    reader.finish();
    expect(writer.finished).toBe(true);
    writer.reserve(1)!.fill(7);
    writer.commit(1);
    expect([...reader.next()!]).toEqual([7]);
  });

  test('law: a reset ring is as new, with its new generation, whatever was left in it', () => {
    fc.assert(
      fc.property(starts, fc.nat(4), fc.nat(4), fc.nat(0xffff_ffff), (start, writes, reads, generation) => {
        const memory = createRing(256, start);
        const writer = new RingWriter(memory);
        const reader = new RingReader(memory);
        expect(writer.generation).toBe(0);
        for (let i = 0; i < writes; i++) if (writer.reserve(48) !== undefined) writer.commit(48);
        writer.reserve(48);
        for (let i = 0; i < reads; i++) if (reader.next() !== undefined) reader.release();
        writer.end();
        reader.finish();
        resetRing(memory, generation);
        const nextWriter = new RingWriter(memory);
        const nextReader = new RingReader(memory);
        expect([nextWriter.generation, nextReader.generation]).toEqual([generation, generation]);
        expect([nextWriter.fill, nextWriter.finished, nextReader.ended]).toEqual([0, false, false]);
        expect(nextReader.next()).toBeUndefined();
        nextWriter.reserve(48)!.fill(9);
        nextWriter.commit(48);
        expect([...nextReader.next()!]).toEqual(new Array(48).fill(9));
        expect(nextReader.release()).toBe(false);
      }),
    );
  });

  test('ends made in the middle of a stream go on where the last ones stood', () => {
    const memory = createRing(256, 2 ** 32 - 32);
    new RingWriter(memory).reserve(1);
    for (let i = 0; i < 20; i++) {
      const writer = new RingWriter(memory);
      writer.reserve(40)!.fill(i);
      writer.commit(40);
      const reader = new RingReader(memory);
      expect(reader.next()![39]).toBe(i);
      reader.release();
    }
  });

  test('misuse is refused before it does harm', () => {
    const memory = createRing(256);
    const writer = new RingWriter(memory);
    expect(writer.maxEntry).toBe(48);
    expect(() => writer.reserve(49)).toThrow(/reserve\(49\): an entry has 0 to 48 bytes/);
    expect(() => writer.reserve(-1)).toThrow(RangeError);
    expect(() => writer.reserve(Number.NaN)).toThrow(RangeError);
    expect(() => writer.commit(0)).toThrow(/commit\(0\) without a reservation/);
    writer.reserve(10);
    expect(() => writer.commit(11)).toThrow(/commit\(11\) of 10 reserved bytes/);
    writer.commit(10);
    expect(() => writer.commit(10)).toThrow(/without a reservation/);
    writer.reserve(10);
    writer.end();
    expect(() => writer.commit(10)).toThrow(/commit\(10\) after end/);
    expect(() => writer.reserve(10)).toThrow(/reserve\(10\) after end/);
    for (const bytes of [0, 128, 300, 2 ** 31, Number.NaN]) expect(() => createRing(bytes)).toThrow(/power of two/);
    for (const start of [1, 8, Number.NaN]) expect(() => createRing(256, start)).toThrow(/multiple of 16/);
  });

  test('a damaged length is refused, not followed', () => {
    for (const length of [-2, 49, 2 ** 30]) {
      const memory = createRing(256);
      const writer = new RingWriter(memory);
      writer.reserve(10);
      writer.commit(10);
      new Int32Array(memory)[512 / 4] = length;
      expect(() => new RingReader(memory).next()).toThrow(/^ERR_FRAME: .*length/);
    }
  });

  test('law: rings of an exchange are powers of two of 64 to 512 KiB, and together 8 MiB when that allows 64 KiB', () => {
    expect([1, 16, 17, 32, 33, 64, 65, 128, 129, 10_000].map((pairs) => ringBytes(pairs) / 1024)).toEqual([
      512, 512, 256, 256, 128, 128, 64, 64, 64, 64,
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), (pairs) => {
        const bytes = ringBytes(pairs);
        expect(Number.isInteger(Math.log2(bytes))).toBe(true);
        expect(bytes).toBeGreaterThanOrEqual(64 * 1024);
        expect(bytes).toBeLessThanOrEqual(512 * 1024);
        if (bytes > 64 * 1024) expect(bytes * pairs).toBeLessThanOrEqual(8 * 1024 * 1024);
        if (bytes < 512 * 1024) expect(2 * bytes * pairs).toBeGreaterThan(8 * 1024 * 1024);
        expect(createRing(bytes).byteLength).toBe(bytes + 512);
      }),
    );
  });
});
