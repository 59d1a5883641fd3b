import fc from 'fast-check';
import { Packr } from 'msgpackr/pack';
import { describe, expect, test } from 'vitest';
import { checkCodec, codecOf, type ValueCodec } from '../../runtime/codec.js';
import { isMillraceError } from '../../runtime/errors.js';
import { anyScalar, carry, carryable, carryOne, filled, same } from './fixtures/values.js';

function refusal(act: () => unknown): { code: string; message: string } | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (isMillraceError(error)) return { code: error.code, message: error.message };
    throw error;
  }
}

class Money {
  readonly cents: bigint;
  constructor(cents: bigint) {
    this.cents = cents;
  }
}
const money: ValueCodec<Money> = {
  name: 'money',
  encode: ({ cents }) => ({ cents }),
  decode: (plain) => new Money((plain as Money).cents),
};

describe("codec 'auto'", () => {
  test('law: any range of a batch arrives as that range of what was added, one after the other and again', () => {
    fc.assert(
      fc.property(fc.array(carryable, { maxLength: 8 }), fc.nat(8), fc.nat(8), (values, a, b) => {
        const [from, to] = [Math.min(a, b, values.length), Math.min(Math.max(a, b), values.length)];
        const encoder = filled(values);
        const decoder = codecOf('auto').decoder();
        for (const [start, end] of [
          [0, from],
          [from, to],
          [to, values.length],
          [0, values.length],
        ] as const) {
          const { payload, flags } = encoder.encode(start, end);
          expect(same(decoder.decode(payload, end - start, flags), values.slice(start, end))).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('law: a refused value leaves count, bytes and what was added as they were', () => {
    fc.assert(
      fc.property(fc.array(anyScalar), (values) => {
        const encoder = filled(values);
        const { bytes } = encoder;
        expect(refusal(() => encoder.add([-0, '\ud800', () => 1]))?.code).toBe('ERR_VALUE');
        expect([encoder.count, encoder.bytes]).toEqual([values.length, bytes]);
        const { payload, flags } = encoder.encode(0, encoder.count);
        expect(same(codecOf('auto').decoder().decode(payload, values.length, flags), values)).toBe(true);
      }),
    );
  });

  test('payloads are independent: each can be read alone, in any order, also many shapes in one', () => {
    const shapes = Array.from({ length: 300 }, (_, index) => ({
      [`a${index}`]: index,
      [`b${index % 7}`]: [{ c: index }],
    }));
    expect(same(carry([...shapes, ...shapes]), [...shapes, ...shapes])).toBe(true);
    const frames = shapes.map((shape) => {
      const { payload, flags } = filled([shape, shape]).encode(0, 2);
      return { bytes: Uint8Array.from(payload), flags, shape };
    });
    for (const { bytes, flags, shape } of frames.toReversed()) {
      expect(same(codecOf('auto').decoder().decode(bytes, 2, flags), [shape, shape])).toBe(true);
    }
  });

  test('clear empties; scalars are not copied; only batches with escapes are flagged', () => {
    const encoder = filled(['a', 1, { b: 2 }]);
    expect(encoder.encode(0, 3).flags).toBe(0);
    encoder.add(-0);
    expect(encoder.encode(0, 4).flags).toBe(1);
    encoder.clear();
    expect([encoder.count, encoder.bytes]).toEqual([0, 0]);
    encoder.add('b');
    expect(encoder.encode(0, 1).flags & 1).toBe(0);
    const { payload, flags } = encoder.encode(0, 0);
    expect(codecOf('auto').decoder().decode(payload, 0, flags)).toEqual([]);
  });

  test('nothing that arrives lies in the memory it was read from', () => {
    const memory = new Uint8Array(new SharedArrayBuffer(4096));
    const { payload, flags } = filled([Buffer.from('abc'), new Uint16Array([1, 2]), ['x'.repeat(100)]]).encode(0, 3);
    memory.set(payload, 8);
    const [buffer, words, [text]] = codecOf('auto')
      .decoder()
      .decode(memory.subarray(8, 8 + payload.length), 3, flags) as [Buffer, Uint16Array, [string]];
    memory.fill(0xff);
    expect([buffer.toString(), [...words], text]).toEqual(['abc', [1, 2], 'x'.repeat(100)]);
    expect([buffer.buffer, words.buffer].some((of) => of instanceof SharedArrayBuffer)).toBe(false);
  });

  test('law: damaged bytes are ERR_FRAME or other values, never another error', () => {
    fc.assert(
      fc.property(fc.array(carryable, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(255), (values, at, byte) => {
        const { payload, flags } = filled(values).encode(0, values.length);
        const damaged = Uint8Array.from(payload);
        damaged[at % damaged.length] = byte;
        for (const bytes of [damaged, payload.subarray(0, at % payload.length)]) {
          const failure = refusal(() => codecOf('auto').decoder().decode(bytes, values.length, flags));
          expect(failure?.code ?? 'ERR_FRAME').toBe('ERR_FRAME');
        }
      }),
      { numRuns: 500 },
    );
  });

  test('a wrong count, no list, no bytes and an unknown escape are ERR_FRAME', () => {
    const decoder = codecOf('auto').decoder();
    const { payload } = filled([null, 2]).encode(0, 2);
    const message = 'ERR_FRAME: the payload of a frame is damaged: it announces 3 values and holds 2 values';
    expect(refusal(() => decoder.decode(payload, 3, 0))).toEqual({ code: 'ERR_FRAME', message });
    expect(refusal(() => decoder.decode(new Uint8Array([1]), 1, 0))?.message).toContain('holds no list of values');
    expect(refusal(() => decoder.decode(new Uint8Array(), 0, 0))?.code).toBe('ERR_FRAME');
    const unknown = new Packr().pack([{ '\0': [99] }]);
    expect(refusal(() => decoder.decode(unknown, 1, 1))?.code).toBe('ERR_FRAME');
  });
});

describe("codec 'clone'", () => {
  const clone = codecOf('clone');

  test('cycles and shared identity arrive, across one value', () => {
    const shared = { n: 1 };
    const loop: Record<string, unknown> = { shared, again: shared, map: new Map([['k', shared]]) };
    loop['self'] = loop;
    const arrived = carryOne(loop, clone) as typeof loop;
    expect(arrived['self']).toBe(arrived);
    expect(arrived['again']).toBe(arrived['shared']);
    expect((arrived['map'] as Map<string, unknown>).get('k')).toBe(arrived['shared']);
  });

  test('law: what structured clone makes of a value is what arrives, as it was when it was added', () => {
    fc.assert(
      fc.property(fc.array(carryable, { maxLength: 4 }), (values) => {
        const expected = values.map((value) => structuredClone(value));
        expect(same(carry(values, clone), expected)).toBe(true);
      }),
      { numRuns: 300 },
    );
    const list = [1];
    const encoder = filled([list, list], 'clone');
    list.push(2);
    encoder.add(list);
    expect(clone.decoder().decode(encoder.encode(0, 3).payload, 3, 0)).toEqual([[1], [1], [1, 2]]);
    expect(encoder.bytes).toBeGreaterThan(0);
    encoder.clear();
    expect([encoder.count, encoder.bytes]).toEqual([0, 0]);
  });

  test('what cannot be written down is refused when it is added, not when it is sent', () => {
    const encoder = filled(['a'], 'clone');
    const { bytes } = encoder;
    for (const value of [
      () => 1,
      { a: Symbol('s') },
      [new SharedArrayBuffer(8)],
      { view: new Uint8Array(new SharedArrayBuffer(8)) },
      new Map([['k', new Set([new Blob(['x'])])]]),
    ]) {
      expect(refusal(() => encoder.add(value))?.message).toMatch(/^ERR_VALUE: value cannot be cloned: ./);
    }
    expect([encoder.count, encoder.bytes]).toEqual([1, bytes]);
    expect(clone.decoder().decode(encoder.encode(0, 1).payload, 1, 0)).toEqual(['a']);
  });

  test('views do not lie in the memory they were read from', () => {
    expect(same(carryOne(new Float64Array([1, 2]), clone), new Float64Array([1, 2]))).toBe(true);
  });

  test('a wrong count and damaged bytes are ERR_FRAME', () => {
    const { payload } = filled([1], 'clone').encode(0, 1);
    expect(refusal(() => clone.decoder().decode(payload, 2, 0))?.code).toBe('ERR_FRAME');
    expect(refusal(() => clone.decoder().decode(payload.subarray(0, 2), 1, 0))?.code).toBe('ERR_FRAME');
    expect(refusal(() => clone.decoder().decode(new Uint8Array(), 0, 0))?.code).toBe('ERR_FRAME');
  });
});

describe('a codec of the user', () => {
  test('encodes at emission and decodes at arrival', () => {
    const balance = new Money(5n);
    const encoder = filled([balance], money);
    (balance as { cents: bigint }).cents = 6n;
    const { payload, flags } = encoder.encode(0, 1);
    const decoder = codecOf(money).decoder();
    const [plain] = decoder.decode(payload, 1, flags);
    const arrived = decoder.arrived?.(plain);
    expect(arrived).toBeInstanceOf(Money);
    expect(arrived).toEqual(new Money(5n));
  });

  test('what it makes has to be data; what it throws is the cause', () => {
    const failing = (part: Partial<ValueCodec>): ValueCodec => ({
      name: 'mine',
      encode: (v) => v,
      decode: (v) => v,
      ...part,
    });
    const boom = new Error('boom');
    const fail = (): never => {
      throw boom;
    };
    const encoder = filled([], failing({ encode: fail }));
    expect(refusal(() => encoder.add(1))?.message).toBe('ERR_VALUE: codec "mine" could not encode a value');
    expect(() => encoder.add(1)).toThrow(expect.objectContaining({ cause: boom }));
    expect(encoder.count).toBe(0);
    const promising = filled([], failing({ encode: async () => 1 }));
    expect(refusal(() => promising.add(1))?.message).toContain('value is a promise');
    expect(() => carryOne(1, codecOf(failing({ decode: fail })))).toThrow(
      expect.objectContaining({ code: 'ERR_VALUE', cause: boom }),
    );
  });
});

describe('the option', () => {
  test('known codecs are returned, undefined is auto, ids differ', () => {
    expect(checkCodec(undefined, 'keyBy()')).toBe('auto');
    for (const codec of ['auto', 'clone', money]) expect(checkCodec(codec, 'keyBy()')).toBe(codec);
    expect((['auto', 'clone', money] as const).map((codec) => codecOf(codec).id)).toEqual([1, 2, 3]);
    expect(codecOf().id).toBe(1);
  });

  test.each([
    ['int32', '"int32": known are'],
    ['string', '"string": known are'],
    ['Clone', `"Clone": did you mean 'clone'?`],
    [{ word: 'string' }, 'an object of Object: known are'],
    [{ name: 'x', encode: () => 1 }, 'an object of Object: known are'],
    [null, 'null: known are'],
    [5, '5: known are'],
  ])('%j is refused by name', (codec, words) => {
    const failure = refusal(() => checkCodec(codec, 'keyBy() "words"'));
    expect(failure?.code).toBe('ERR_OPTION');
    expect(failure?.message).toContain(`keyBy() "words" has a codec that is not known, ${words}`);
  });
});
