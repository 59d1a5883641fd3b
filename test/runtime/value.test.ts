import vm from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codecOf } from '../../runtime/codec.js';
import { isMillraceError } from '../../runtime/errors.js';
import { type Meter, snapshot } from '../../runtime/value.js';
import { own, refused, travellers, withFields } from './fixtures/kinds.js';
import { anyText, carry, carryable, carryOne, same } from './fixtures/values.js';

/** The message with which a value is refused, without the code. */
function refusal(value: unknown): string {
  const meter: Meter = { bytes: 7, escaped: false };
  try {
    snapshot(value, meter);
  } catch (error) {
    expect(meter).toEqual({ bytes: 7, escaped: false });
    if (isMillraceError(error) && error.code === 'ERR_VALUE') return error.message.slice('ERR_VALUE: '.length);
    throw error;
  }
  throw new Error('it was not refused');
}

describe('what travels', () => {
  test.each(Object.entries(travellers))('%s arrives equal, alone and between others', (_, value) => {
    expect(same(carryOne(value), value)).toBe(true);
    expect(same(carry(['x', { a: value }, [value], -0]), ['x', { a: value }, [value], -0])).toBe(true);
  });

  test('the table has at least 60 kinds of value', () => {
    expect(Object.keys(travellers).length).toBeGreaterThanOrEqual(60);
  });

  test('only the bytes a view covers travel', () => {
    const arrived = carryOne(new Uint8Array(new ArrayBuffer(1_000_000), 500, 3)) as Uint8Array;
    expect(arrived.buffer.byteLength).toBeLessThan(100);
  });

  test('plain objects and arrays of another realm arrive as ours', () => {
    expect(same(carryOne(vm.runInNewContext('({ a: [1, { b: [] }], c: {} })')), { a: [1, { b: [] }], c: {} })).toBe(
      true,
    );
  });

  test('the value of an accessor travels, a hidden property does not', () => {
    const value = Object.defineProperty(
      {
        get a() {
          return 1;
        },
      },
      'hidden',
      { value: () => 2 },
    );
    expect(same(carryOne(value), { a: 1 })).toBe(true);
    const strings = ((parts: TemplateStringsArray, ..._: number[]) => parts)`a${1}b`;
    expect(same(carryOne(strings), ['a', 'b'])).toBe(true);
  });

  test('what others put on Object.prototype neither travels nor disturbs', () => {
    let arrived: { a: object };
    Object.defineProperty(Object.prototype, 'polluted', { value: () => 1, enumerable: true, configurable: true });
    try {
      arrived = carryOne({ a: { b: 1 } }) as { a: object };
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted');
    }
    expect(same(arrived, { a: { b: 1 } })).toBe(true);
  });

  test('an own __proto__ pollutes nothing', () => {
    const arrived = carryOne(JSON.parse('{"__proto__":{"admin":true}}'));
    expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
    expect((arrived as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe('what is refused', () => {
  test.each(refused)('%s, alone and within, with the path', (_, make, reason) => {
    expect(refusal(make()).startsWith(`value ${reason}; `)).toBe(true);
    expect(refusal({ user: { list: [0, make()] } }).startsWith(`value.user.list[1] ${reason}; `)).toBe(true);
  });

  const hidden = Symbol('hidden');
  const error = Object.assign(new Error('m'), { context: { socket: () => 1 } });
  const cases: [path: string, value: unknown, reason: string][] = [
    ['value', () => 1, 'is a function'],
    ['value.user.callback', { user: { callback: () => 1 } }, 'is a function'],
    ['value["a-b"][""][0]', { 'a-b': { '': [() => 1] } }, 'is a function'],
    ['value.get("k\\"").x', new Map([['k"', { x: hidden }]]), 'is a symbol'],
    ['value.values()[0]', new Map([[1, hidden]]), 'is a symbol'],
    ['value.keys()[1]', new Map([[1, 1]]).set((() => 1) as never, 2), 'is a function'],
    ['value.s.values()[1]', { s: new Set([1, () => 1]) }, 'is a function'],
    ['value.error.context.socket', { error }, 'is a function'],
    ['value.cause', new Error('m', { cause: hidden }), 'is a symbol'],
    ['value.a.__proto__.b', { a: own('__proto__', { b: hidden }) }, 'is a symbol'],
    ['value[3]', withFields(new Array(5), { 3: hidden }), 'is a symbol'],
    ['value.a[Symbol(hidden)]', { a: { [hidden]: 1, b: 2 } }, 'has a symbol for a key'],
    ['value[0][Symbol(hidden)]', [withFields([1], { [hidden]: 1 })], 'has a symbol for a key'],
    ['value.d[Symbol(hidden)]', { d: withFields(new Date(), { [hidden]: 1 }) }, 'has a symbol for a key'],
    ['value.match.index', { match: 'ab'.match(/b/) }, 'is a property of an array beside its elements'],
    ['value.x', withFields(new Array(3), { 0: 1, 2: 3, x: 1 }), 'is a property of an array beside its elements'],
    ['value.ttl', withFields(new Map(), { ttl: 5 }), 'is a property added to a built-in object'],
    ['value.zone', withFields(new Date(), { zone: 5 }), 'is a property added to a built-in object'],
  ];
  test.each(cases)('%s', (path, value, reason) => {
    expect(refusal(value)).toBe(`${path} ${reason}; send data, or give the exchange a codec`);
  });

  test('a promise is refused with the operators that wait for it', () => {
    expect(refusal({ later: Promise.resolve(1) })).toBe(
      'value.later is a promise; return promises from mergeMap() or concatMap(), which wait for them',
    );
  });

  test('shared memory is refused with another cure', () => {
    const memory = new SharedArrayBuffer(8);
    expect(refusal({ memory })).toBe('value.memory is shared memory; pass it in args, where memory stays shared');
    expect(refusal([new DataView(memory)])).toBe(
      'value[0] is a view of shared memory; pass it in args, where memory stays shared',
    );
  });

  test('a cycle is refused with both its ends and the codec that carries it', () => {
    const run: { list: unknown[] } = { list: [] };
    run.list.push({ back: run });
    expect(refusal({ run })).toBe("value.run.list[0].back refers back to value.run; codec: 'clone' carries that");
  });

  test('cycles through a Map, a Set and a cause are found', () => {
    const map = new Map<string, unknown>();
    map.set('a', [map]);
    const set = new Set<unknown>();
    set.add(set);
    const failure: Error & { cause?: unknown } = new Error('m');
    failure.cause = { failure };
    expect(refusal(map)).toBe("value.values()[0][0] refers back to value; codec: 'clone' carries that");
    expect(refusal(set)).toBe("value.values()[0] refers back to value; codec: 'clone' carries that");
    expect(refusal([failure])).toBe("value[0].cause.failure refers back to value[0]; codec: 'clone' carries that");
  });

  test('nesting to 256 levels travels, in every container; one more is refused, and a hundred thousand', () => {
    const nest = (levels: number, wrap: (value: unknown) => unknown): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level++) value = wrap(value);
      return value;
    };
    for (const wrap of [
      (a: unknown) => ({ a }),
      (a: unknown) => [a],
      (a: unknown) => new Map([[1, a]]),
      (a: unknown) => new Set([a]),
      (a: unknown) => own('__proto__', a),
      (a: unknown) => Object.assign([], { 1: a }),
    ]) {
      expect(same(carryOne(nest(256, wrap)), nest(256, wrap))).toBe(true);
      expect(refusal(nest(257, wrap))).toMatch(/ is nested more than 256 levels deep; codec: 'clone' carries that$/);
      expect(refusal(nest(100_000, wrap)).length).toBeLessThan(350);
    }
  });

  test('a wide value that is shared at every level and too deep is refused without walking all its paths', () => {
    let value: unknown = 1;
    for (let level = 0; level < 300; level++) value = [value, value];
    expect(refusal(value)).toContain('is nested more than 256 levels deep');
  });

  test('an accessor that throws is the cause of the refusal, whatever it throws', () => {
    const boom = new RangeError('boom');
    const value = {
      a: {
        get b() {
          throw boom;
        },
      },
    };
    expect(refusal(value)).toBe('value.a cannot be read; see the cause');
    expect(() => snapshot(value, { bytes: 0, escaped: false })).toThrow(expect.objectContaining({ cause: boom }));
    expect(
      refusal({
        get b() {
          throw 'no error';
        },
      }),
    ).toBe('value cannot be read; see the cause');
  });
});

describe('laws of snapshots', () => {
  test('law: all that may travel arrives equal, in batches of any mixture', () => {
    fc.assert(
      fc.property(fc.array(carryable, { maxLength: 6 }), (values) => {
        expect(same(carry(values), values)).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });

  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
    withUnicodeString: true,
    key: anyText,
  });
  test('law: a value arrives equal or is refused', () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.tuple(carryable, anything, fc.constantFrom(...refused))), (value) => {
        const made =
          Array.isArray(value) && typeof value[2]?.[1] === 'function' ? [value[0], value[1], value[2][1]()] : value;
        let arrived: unknown;
        try {
          arrived = carryOne(made);
        } catch (error) {
          expect(isMillraceError(error) && error.code).toBe('ERR_VALUE');
          return;
        }
        expect(same(arrived, made)).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });

  test('law: one thing that may not travel, anywhere in a value, is found, and its path leads to it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(3), fc.constantFrom('a', '__proto__', '\0', 'x y')), { maxLength: 6 }),
        (steps) => {
          const culprit = (): void => undefined;
          let value: unknown = culprit;
          for (const step of steps.toReversed()) {
            value = typeof step === 'number' ? [...new Array(step).fill(0), value, 1] : own(step, value);
          }
          const path = refusal(value).replace(/^value(.*) is a function; .*$/, '$1');
          expect(new Function('value', `return value${path}`)(value)).toBe(culprit);
        },
      ),
    );
  });

  /** Changes every container in reach, in place. */
  const spoil = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
    if (value instanceof Date) value.setTime(1);
    else if (ArrayBuffer.isView(value)) Buffer.from(value.buffer, value.byteOffset, value.byteLength).fill(0xaa);
    else if (value instanceof ArrayBuffer) Buffer.from(value).fill(0xaa);
    else if (value instanceof Map || value instanceof Set) {
      for (const item of [...value.keys(), ...value.values()]) spoil(item);
      value.clear();
    } else {
      for (const key of Reflect.ownKeys(value)) {
        spoil(Reflect.get(value, key));
        if (key !== 'length') Reflect.set(value, key, 'spoilt');
      }
      if (Array.isArray(value)) value.push('spoilt');
    }
  };

  test('law: snapshot: what happens to a value after it was added does not arrive', () => {
    fc.assert(
      fc.property(carryable, (value) => {
        const before = carryOne(value);
        const encoder = codecOf('auto').encoder();
        encoder.add(value);
        spoil(value);
        const { payload, flags } = encoder.encode(0, 1);
        expect(same(codecOf('auto').decoder().decode(payload, 1, flags), [before])).toBe(true);
      }),
    );
  });

  test('law: meter: the estimate is within a factor of three of the bytes, for ASCII and numbers in batches', () => {
    const scalar = fc.oneof(
      fc.string({ unit: 'grapheme-ascii' }),
      fc.integer(),
      fc.double({ noNaN: true }),
      fc.boolean(),
    );
    const flat = fc.oneof(
      scalar,
      fc.tuple(scalar, scalar),
      fc.record({ word: scalar, count: scalar, id: scalar }, { noNullPrototype: true }),
    );
    fc.assert(
      fc.property(fc.array(flat, { minLength: 100, maxLength: 200 }), (values) => {
        const encoder = codecOf('auto').encoder();
        for (const value of values) encoder.add(value);
        const { length } = encoder.encode(0, values.length).payload;
        expect(encoder.bytes).toBeGreaterThan(length / 3);
        expect(encoder.bytes).toBeLessThan(length * 3);
      }),
      { numRuns: 200 },
    );
  });
});
