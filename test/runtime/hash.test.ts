import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMillraceError } from '../../runtime/errors.js';
import { canonicalKey, executorOf, hashKey, slots } from '../../runtime/hash.js';
import { anyBigint, anyBytes, anyDate, anyKey, anyNumber, anyText } from './fixtures/values.js';

/*
 * The reference: the documented bytes as a list, hashed in one go. Written for clarity alone.
 */

function u32(value: number): number[] {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256);
}

function float64(value: number): number[] {
  if (Number.isNaN(value)) return [0x7f, 0xf8, 0, 0, 0, 0, 0, 0];
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value === 0 ? 0 : value);
  return [...bytes];
}

function utf8(text: string): number[] {
  return [...text].flatMap((character) => {
    const unit = character.charCodeAt(0);
    const lone = character.length === 1 && unit >= 0xd800 && unit < 0xe000;
    return lone
      ? [0xed, 0x80 + Math.floor((unit % 4096) / 64), 0x80 + (unit % 64)]
      : [...Buffer.from(character, 'utf8')];
  });
}

function bytesOf(key: unknown): number[] {
  if (key === null) return [0];
  if (key === undefined) return [1];
  if (typeof key === 'boolean') return key ? [3] : [2];
  if (typeof key === 'number') return [4, ...float64(key)];
  if (typeof key === 'bigint') {
    const magnitude: number[] = [];
    for (let rest = key < 0n ? -key : key; rest > 0n; rest /= 256n) magnitude.unshift(Number(rest % 256n));
    return [5, key < 0n ? 1 : 0, ...u32(magnitude.length), ...magnitude];
  }
  if (typeof key === 'string') return [6, ...utf8(key), 0xff];
  if (key instanceof Date) return [7, ...float64(key.getTime())];
  if (key instanceof ArrayBuffer) return [8, ...u32(key.byteLength), ...Buffer.from(key)];
  if (ArrayBuffer.isView(key)) {
    return [8, ...u32(key.byteLength), ...Buffer.from(key.buffer, key.byteOffset, key.byteLength)];
  }
  if (Array.isArray(key)) return [9, ...u32(key.length), ...Array.from(key, bytesOf).flat()];
  const keys = Object.keys(key as object).sort((a, b) => (a < b ? -1 : 1));
  return [
    10,
    ...u32(keys.length),
    ...keys.flatMap((name) => [...bytesOf(name), ...bytesOf(Reflect.get(key as object, name))]),
  ];
}

function reference(key: unknown): number {
  let hash = 2166136261n;
  for (const byte of bytesOf(key)) hash = ((hash ^ BigInt(byte)) * 16777619n) % 2n ** 32n;
  hash ^= hash >> 16n;
  hash = (hash * 0x85ebca6bn) % 2n ** 32n;
  hash ^= hash >> 13n;
  hash = (hash * 0xc2b2ae35n) % 2n ** 32n;
  hash ^= hash >> 16n;
  return Number(hash);
}

const vectors: readonly (readonly [name: string, key: unknown, hash: number])[] = [
  ['the empty string', '', 0xfa02a68b],
  ['an ASCII string', 'word', 0xf37ff943],
  ['two bytes a character', 'naïve', 0xc5245a35],
  ['three bytes a character', '日本', 0xfe9bd8df],
  ['four bytes a character', '😀', 0xa720fd2f],
  ['a lone high surrogate', '\ud800', 0xccf65425],
  ['a lone low surrogate', 'a\udc00b', 0x7a6ed5bd],
  ['U+FFFD', '\ufffd', 0x5bdfd89c],
  ['NUL', '\0', 0x8215107d],
  ['0', 0, 0xa45877a7],
  ['-0', -0, 0xa45877a7],
  ['1', 1, 0x9aced1bd],
  ['-1', -1, 0xbc33b796],
  ['0.5', 0.5, 0x2a480dc0],
  ['2 ** 53', 2 ** 53, 0x0ec6df5a],
  ['NaN', NaN, 0x639ce119],
  ['Infinity', Infinity, 0x25a1160b],
  ['-Infinity', -Infinity, 0xb3a4ee5b],
  ['0n', 0n, 0xd6c98b1e],
  ['1n', 1n, 0xd741fa60],
  ['-1n', -1n, 0xadd49805],
  ['255n', 255n, 0xa338debf],
  ['256n', 256n, 0x9fa1a295],
  ['2n ** 64n', 2n ** 64n, 0x8f2294cb],
  ['-(2n ** 64n)', -(2n ** 64n), 0x796f90a3],
  ['false', false, 0xdbec035d],
  ['true', true, 0x3543edc9],
  ['null', null, 0x0578ab1b],
  ['undefined', undefined, 0x05644487],
  ['the epoch', new Date(0), 0x9e62fe7c],
  ['a date', new Date(1_700_000_000_123), 0x977d02c0],
  ['a date before the epoch', new Date(-1), 0x3327052a],
  ['the invalid date', new Date(NaN), 0x41204f4c],
  ['no bytes', new Uint8Array(), 0xaa7ae7b5],
  ['a Uint8Array', new Uint8Array([1, 2, 255]), 0x98433982],
  ['a Buffer of the same bytes', Buffer.from([1, 2, 255]), 0x98433982],
  ['an ArrayBuffer of the same bytes', new Uint8Array([1, 2, 255]).buffer, 0x98433982],
  ['a Uint16Array', new Uint16Array([513]), 0x810b0cd2],
  ['an empty array', [], 0x32c054a1],
  ['a pair', ['word', 1], 0xf04e721b],
  ['nested arrays', [1, [2, 3], null, 'x'], 0x0b177baf],
  ['undefined in an array', [undefined], 0xbc810ff3],
  ['an empty object', {}, 0xe24f8f82],
  ['an object', { a: 1, b: 'x' }, 0x73d757b2],
  ['the same in another order', { b: 'x', a: 1 }, 0x73d757b2],
  ['numeric keys', { 10: 1, 9: 2 }, 0xb414f325],
  ['undefined as a property', { a: undefined }, 0x9ed6b0ab],
  ['nested objects', { user: { id: 7n, tags: ['a'] } }, 0xeac9da84],
];

const anyScalarKey: fc.Arbitrary<unknown> = fc.oneof(
  anyText,
  anyNumber,
  anyBigint,
  fc.boolean(),
  fc.constantFrom(null, undefined, '', '\0', '\0a', 0, '0', 0n, false, 'null'),
);

const anyHashable: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  key: fc.oneof(
    { maxDepth: 3 },
    anyScalarKey,
    anyDate,
    anyBytes,
    fc.array(tie('key'), { maxLength: 4 }),
    fc.array(fc.tuple(anyKey, tie('key')), { maxLength: 4 }).map((entries) => {
      return entries.reduce((into, [key, value]) => {
        return Object.defineProperty(into, key as string, { value, enumerable: true, configurable: true });
      }, {});
    }),
  ),
})).key;

/** The key with every object's properties the other way round. */
function reversed(key: unknown): unknown {
  if (Array.isArray(key)) return key.map(reversed);
  if (typeof key !== 'object' || key === null || Object.getPrototypeOf(key) !== Object.prototype) return key;
  const turned = {};
  for (const [name, value] of Object.entries(key).reverse()) {
    Object.defineProperty(turned, name, { value: reversed(value), enumerable: true });
  }
  return turned;
}

function refusal(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return isMillraceError(error) && error.code === 'ERR_KEY' ? error.message : error;
  }
}

describe('hash version 1', () => {
  test.each(vectors)('vector: %s', (_, key, hash) => {
    expect(hashKey(key)).toBe(hash);
    expect(reference(key)).toBe(hash);
  });

  test('law: the hash is that of the documented bytes, an unsigned 32-bit integer', () => {
    fc.assert(
      fc.property(anyHashable, (key) => {
        expect(hashKey(key)).toBe(reference(key));
      }),
      { numRuns: 2000 },
    );
  });

  test('law: the order of properties, -0, the payload of a NaN and the class of bytes do not matter', () => {
    fc.assert(
      fc.property(anyHashable, (key) => {
        expect(hashKey(reversed(key))).toBe(hashKey(key));
        expect(canonicalKey(reversed(key))).toBe(canonicalKey(key));
      }),
    );
    expect(hashKey(-0)).toBe(hashKey(0));
    expect(hashKey(new Float64Array(new BigUint64Array([0x7ff8_dead_beef_0001n]).buffer)[0])).toBe(hashKey(NaN));
    expect(hashKey(Buffer.from('abcd'))).toBe(
      hashKey(
        new Uint32Array(Buffer.from('abcd').buffer.slice(0, 0)).length === 0 ? Uint8Array.from([97, 98, 99, 100]) : 0,
      ),
    );
  });

  test('C-112: a composite key has the same index in another process', () => {
    const module = fileURLToPath(new URL('../../runtime/hash.ts', import.meta.url));
    const keys = `[[1, [2, 3], null, 'x'], 'word', { b: 1n, a: [undefined, -0] }, new Date(5), Buffer.from('é')]`;
    const script = `import { executorOf, hashKey } from ${JSON.stringify(module)};
      console.log(JSON.stringify(${keys}.map((key) => [hashKey(key), executorOf(hashKey(key), 7)])));`;
    const there = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    });
    const here = [[1, [2, 3], null, 'x'], 'word', { b: 1n, a: [undefined, -0] }, new Date(5), Buffer.from('é')];
    expect(JSON.parse(there)).toEqual(here.map((key) => [hashKey(key), executorOf(hashKey(key), 7)]));
  });

  test('C-113: an index is never negative, always below n, and 0 for n = 1', () => {
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), fc.integer({ min: 1, max: slots }), (hash, executors) => {
        const index = executorOf(hash, executors);
        expect(index).toBeGreaterThanOrEqual(0);
        expect(index).toBeLessThan(executors);
        expect(Number.isInteger(index)).toBe(true);
        expect(executorOf(hash, 1)).toBe(0);
      }),
    );
    expect(executorOf(0xffff_ffff, 3)).toBe(2);
  });

  test('slots are dealt in ranges whose sizes differ by one at most, every executor has one', () => {
    for (const executors of [1, 2, 3, 7, 100, 1000, slots]) {
      const sizes = new Array<number>(executors).fill(0);
      const owners = Array.from({ length: slots }, (_, slot) => executorOf(slot * 2 ** 22, executors));
      for (const owner of owners) sizes[owner] = (sizes[owner] as number) + 1;
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      expect(owners).toEqual(owners.toSorted((a, b) => a - b));
    }
  });

  test.each([
    ['user-', (index: number) => `user-${index}`],
    ['numbers', (index: number) => index],
    ['pairs', (index: number) => ['tenant', index]],
  ])('law: 100,000 keys (%s) over 4 executors: each has 25 % ± 1.5 points', (_, keyOf) => {
    const counts = [0, 0, 0, 0];
    for (let index = 0; index < 100_000; index++) {
      const owner = executorOf(hashKey(keyOf(index)), 4);
      counts[owner] = (counts[owner] as number) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 25_000)).toBeLessThanOrEqual(1500);
  });
});

describe('canonical keys', () => {
  test('law: two canonical keys are one to a Map exactly if the keys have the same documented bytes', () => {
    fc.assert(
      fc.property(anyHashable, anyHashable, (a, b) => {
        const index = new Map([[canonicalKey(a), 1]]);
        expect(index.has(canonicalKey(b))).toBe(Buffer.from(bytesOf(a)).equals(Buffer.from(bytesOf(b))));
        expect(index.has(canonicalKey(structuredClone(a)))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('no two of these are the same key', () => {
    const text = canonicalKey(['a']) as string;
    const keys = [
      text,
      canonicalKey([text]),
      ['a'],
      [['a']],
      ['a', []],
      [],
      {},
      '',
      '\0',
      '\0\0',
      1,
      1n,
      '1',
      true,
      'true',
      null,
      'null',
      [null],
      undefined,
      [undefined],
      {}.toString(),
      { a: 1 },
      { a: undefined },
      { a: '1' },
      ['a', 1],
      new Date(1),
      new Date(NaN),
      NaN,
      Buffer.from('a'),
      Buffer.from('61'),
      ['ab', 'c'],
      ['a', 'bc'],
      [[], [[]]],
      [[[]], []],
      '\ud800',
      '\udc00',
      '\ufffd',
    ];
    expect(new Set(keys.map(canonicalKey)).size).toBe(keys.length);
    expect(new Set(keys.map(hashKey)).size).toBe(keys.length);
  });

  test('scalars are themselves, so that the common case costs nothing', () => {
    for (const key of ['word', 5, 5n, true, null, undefined]) expect(canonicalKey(key)).toBe(key);
    expect(Object.is(canonicalKey(-0), 0)).toBe(true);
  });

  test('a hole is undefined', () => {
    expect(canonicalKey(new Array(1))).toBe(canonicalKey([undefined]));
    expect(hashKey(new Array(1))).toBe(hashKey([undefined]));
  });
});

describe('what cannot be a key', () => {
  class Account {}
  const cyclic: unknown[] = [];
  cyclic.push([cyclic]);
  test.each([
    ['a function', () => 1, 'a function'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['a class instance', new Account(), 'an object of Account'],
    ['a Map', new Map(), 'an object of Map'],
    ['a Set', new Set(), 'an object of Set'],
    ['an Error', new Error('m'), 'an object of Error'],
    ['a null prototype', Object.create(null) as unknown, 'an object of no class'],
    ['a boxed string', Object('s') as unknown, 'an object of String'],
  ])('%s', (_, key, named) => {
    const message = `ERR_KEY: a key cannot be or hold ${named}; use strings, numbers, bigints, booleans, dates, bytes, or arrays and plain objects of these`;
    for (const act of [hashKey, canonicalKey]) {
      expect(refusal(() => act(key))).toBe(message);
      expect(refusal(() => act({ a: [key] }))).toBe(message);
    }
  });

  test('a cycle', () => {
    for (const act of [hashKey, canonicalKey]) {
      expect(refusal(() => act(cyclic))).toBe('ERR_KEY: a key is cyclic or nested more than 256 levels deep');
    }
  });
});
