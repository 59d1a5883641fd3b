import fc from 'fast-check';
import { addExtension, Packr, RESET_BUFFER_MODE, REUSE_BUFFER_MODE, Unpackr } from 'msgpackr/pack';
import * as unpacking from 'msgpackr/unpack';
import { describe, expect, test } from 'vitest';
import { codecOf } from '../../runtime/codec.js';
import { carry, carryable, carryOne, filled, same } from './fixtures/values.js';

describe('a thread that uses msgpackr for itself', () => {
  const theirs = new Packr();
  const batch = filled([{ word: 'a', at: new Date(1) }, 'x'.repeat(300)]);
  const between = (): void => {
    expect(same(batchBack(), [{ word: 'a', at: new Date(1) }, 'x'.repeat(300)])).toBe(true);
  };
  const batchBack = (): unknown[] => {
    const { payload, flags } = batch.encode(0, 2);
    return codecOf('auto').decoder().decode(payload, 2, flags);
  };

  test('keeps its write buffer and position', () => {
    const buffer = Buffer.alloc(16_384);
    theirs.useBuffer(buffer);
    theirs.position = 800;
    between();
    const first = theirs.pack({ a: 1 });
    between();
    const second = theirs.pack({ b: 2 }, REUSE_BUFFER_MODE) as Buffer & { start: number };
    expect(first.buffer).toBe(buffer.buffer);
    expect(first.byteOffset - buffer.byteOffset).toBe(800);
    expect(second).toBe(buffer);
    expect(second.start).toBeGreaterThanOrEqual(800 + first.length);
    between();
    expect(theirs.unpack(first)).toEqual({ a: 1 });
  });

  test('does not get our scratch to write to, and its payloads are not overwritten', () => {
    const packed = [theirs.pack(['mine', 1])];
    for (let round = 0; round < 2000; round++) {
      between();
      packed.push(theirs.pack([round, 'r'.repeat(round % 50)]));
    }
    expect(packed.slice(1).every((bytes, round) => theirs.unpack(bytes)[0] === round)).toBe(true);
    const { payload } = batch.encode(0, 2);
    expect(packed.some((bytes) => bytes.buffer === payload.buffer)).toBe(false);
  });

  test('may encode and decode in the midst of its own packing and unpacking', () => {
    class Emitting {}
    addExtension({
      Class: Emitting,
      type: 77,
      write: () => {
        between();
        return 'written';
      },
      read: (written: unknown) => {
        between();
        return `${written} and read`;
      },
    });
    const value = { before: [1, 'a'], emitting: new Emitting(), after: { b: 'x'.repeat(100) } };
    const packed = theirs.pack([value, value]);
    const arrived = { before: [1, 'a'], emitting: 'written and read', after: { b: 'x'.repeat(100) } };
    expect(new Unpackr().unpack(packed)).toEqual([arrived, arrived]);
    class Document {
      toJSON(): unknown {
        between();
        return { a: 5 };
      }
    }
    const packedDocument = theirs.pack(new Document());
    between();
    expect(theirs.unpack(packedDocument)).toEqual({ a: 5 });
    expect(theirs.unpack(theirs.pack([1, new Document(), 2]))).toEqual([1, { a: 5 }, 2]);
  });

  test('may have taken dates, sets and errors over for itself', () => {
    const lossy = { pack: () => Buffer.from([0]), unpack: () => 'lost' };
    addExtension({ Class: Date, type: 78, ...lossy });
    addExtension({ Class: Set, type: 79, ...lossy });
    addExtension({ Class: Error, type: 80, ...lossy });
    addExtension({ Class: RegExp, type: 66, ...lossy });
    const value = [new Date(5), new Set([1]), new TypeError('m'), /a/g, 2n ** 70n];
    expect(same(carryOne(value), value)).toBe(true);
  });

  test('a huge payload leaves neither us nor them with its buffer', () => {
    const buffer = theirs.pack(1, REUSE_BUFFER_MODE | RESET_BUFFER_MODE);
    const huge = filled(['x'.repeat(5_000_000)]).encode(0, 1);
    expect(huge.payload.buffer.byteLength).toBeGreaterThan(5_000_000);
    expect(theirs.pack(1, REUSE_BUFFER_MODE | RESET_BUFFER_MODE)).toBe(buffer);
    expect(batch.encode(0, 2).payload.buffer.byteLength).toBeLessThanOrEqual(1024 * 1024);
  });

  test('law: all that may travel arrives equal also with the native string extractor of msgpackr', async () => {
    const extractor = (): unknown =>
      (unpacking as { isNativeAccelerationEnabled?: unknown }).isNativeAccelerationEnabled;
    expect(extractor()).toBe(false);
    await import('msgpackr');
    expect(extractor()).toBe(true);
    fc.assert(
      fc.property(fc.array(carryable, { maxLength: 20 }), (values) => {
        expect(same(carry(values), values)).toBe(true);
      }),
      { numRuns: 500 },
    );
    const strings = Array.from({ length: 200 }, (_, index) => `é${'word'.repeat(index % 90)}`);
    expect(carry(strings)).toEqual(strings);
  });
});
