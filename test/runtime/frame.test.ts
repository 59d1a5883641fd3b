import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMillraceError } from '../../runtime/errors.js';
import { type Header, headerBytes, kinds, lastPart, readHeader, writeHeader } from '../../runtime/frame.js';

const u8 = fc.nat(0xff);
const u32 = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff));

const header: fc.Arbitrary<Header> = fc.record({
  kind: fc.constantFrom(...Object.values(kinds)),
  flags: u8,
  codec: u8,
  generation: u32,
  source: u32,
  count: u32,
  bytes: fc.nat(300),
  firstId: u32,
});

/** The code and message with which `readHeader` refuses, or what it returned. */
function refusal(view: DataView, offset = 0): unknown {
  try {
    return readHeader(view, offset);
  } catch (error) {
    return isMillraceError(error) && error.code === 'ERR_FRAME' ? error.message : error;
  }
}

function sound(bytes = 0): DataView {
  const view = new DataView(new ArrayBuffer(headerBytes + bytes));
  writeHeader(view, 0, { kind: 1, flags: 0, codec: 0, generation: 1, source: 2, count: 3, bytes, firstId: 4 });
  return view;
}

describe('frame header', () => {
  test('law: what is read is what was written, at any offset and in shared memory, and nothing else is touched', () => {
    fc.assert(
      fc.property(header, fc.nat(40), fc.boolean(), (given, offset, shared) => {
        const length = offset + headerBytes + given.bytes;
        const memory = shared ? new SharedArrayBuffer(length) : new ArrayBuffer(length);
        const bytes = new Uint8Array(memory).fill(0xa5);
        writeHeader(new DataView(memory), offset, given);
        expect(readHeader(new DataView(memory), offset)).toEqual(given);
        expect(bytes.subarray(0, offset).every((byte) => byte === 0xa5)).toBe(true);
        expect(bytes.subarray(offset + headerBytes).every((byte) => byte === 0xa5)).toBe(true);
      }),
    );
  });

  test('the 32 bytes are these, on every machine', () => {
    const view = new DataView(new ArrayBuffer(headerBytes + 0x0102));
    writeHeader(view, 0, {
      kind: kinds.part,
      flags: lastPart,
      codec: 7,
      generation: 0x11223344,
      source: 0x55667788,
      count: 0x99aabbcc,
      bytes: 0x0102,
      firstId: 0xddeeff00,
    });
    expect(Buffer.from(view.buffer, 0, headerBytes).toString('hex')).toBe(
      '4d5201020107000044332211887766' + '55ccbbaa990201000000ffeedd00000000',
    );
  });

  test('running numbers are taken modulo 2^32', () => {
    const view = sound();
    writeHeader(view, 0, { ...readHeader(view, 0), firstId: 2 ** 32 + 5, generation: -1 });
    expect(readHeader(view, 0)).toMatchObject({ firstId: 5, generation: 0xffff_ffff });
  });

  test('law: any bytes are either refused with ERR_FRAME or give a known kind and a payload within the view', () => {
    const hostile = fc.tuple(
      fc.uint8Array({ maxLength: 80 }),
      fc.array(fc.tuple(fc.nat(31), u8), { maxLength: 3 }),
      fc.boolean(),
      fc.integer({ min: -40, max: 90 }),
    );
    fc.assert(
      fc.property(hostile, ([random, changes, fromSound, offset]) => {
        const view = fromSound ? sound(random.length) : new DataView(Uint8Array.from(random).buffer);
        if (fromSound) for (const [at, byte] of changes) view.setUint8(at, byte);
        const at = fromSound ? 0 : offset;
        const result = refusal(view, at);
        if (typeof result === 'string') return;
        const read = result as Header;
        expect(Object.values(kinds)).toContain(read.kind);
        expect(at).toBeGreaterThanOrEqual(0);
        expect(at + headerBytes + read.bytes).toBeLessThanOrEqual(view.byteLength);
      }),
      { numRuns: 2_000 },
    );
  });

  const damages: [string, (view: DataView) => void, RegExp][] = [
    ['magic', (view) => view.setUint16(0, 0x4d52, true), /begins with 0x4d52 instead of 0x524d/],
    ['version 0', (view) => view.setUint8(2, 0), /version is 0, this side reads version 1/],
    ['version 2', (view) => view.setUint8(2, 2), /version is 2, this side reads version 1/],
    ['kind 0', (view) => view.setUint8(3, 0), /kind is 0, this side knows 1, 2, 3/],
    ['kind 4', (view) => view.setUint8(3, 4), /kind is 4/],
    ['length', (view) => view.setUint32(20, 9, true), /payload of 9 bytes, 8 are there/],
    ['negative length', (view) => view.setInt32(20, -1, true), /payload of 4294967295 bytes/],
  ];
  test.each(damages)('a wrong %s is refused, with what was found and the cure', (_, damage, message) => {
    const view = sound(8);
    damage(view);
    expect(refusal(view)).toMatch(message);
    expect(refusal(view)).toMatch(/^ERR_FRAME: .*Use one version of millrace on all threads\.$/);
  });

  test('a header that does not lie within the view is refused before it is read', () => {
    const short = new DataView(sound().buffer, 0, headerBytes - 1);
    expect(refusal(short)).toMatch(/a header at byte 0 needs 32 bytes of a view of 31/);
    expect(refusal(sound(), 1)).toMatch(/at byte 1/);
    expect(refusal(sound(), -1)).toMatch(/at byte -1/);
    expect(refusal(sound(), Number.NaN)).toMatch(/at byte NaN/);
  });

  test('reserved bytes and unknown flags of a later writer do not matter', () => {
    const view = sound();
    const before = readHeader(view, 0);
    view.setUint16(6, 0xffff);
    view.setUint32(28, 0xffff_ffff);
    view.setUint8(4, 0xfe);
    expect(readHeader(view, 0)).toEqual({ ...before, flags: 0xfe });
  });
});
