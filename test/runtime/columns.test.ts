/** Columns: the same values arrive whichever way a batch travels, and no frame reads beyond itself. */

import { spawnSync } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AutoEncoder, autoDecoder } from '../../runtime/autoCodec.js';
import { columnsFlag } from '../../runtime/payload.js';
import { anyNumber, anyScalar, anyText, carryable, same } from './fixtures/values.js';

const long = process.env['MILLRACE_LONG'] === '1';

/** What a field of an otherwise regular stream may hold: mostly one kind, now and then another. */
const column: fc.Arbitrary<fc.Arbitrary<unknown>> = fc
  .constantFrom<fc.Arbitrary<unknown>>(
    fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    anyNumber,
    fc.boolean(),
    fc.string(),
    anyText,
    fc.record({ city: fc.string(), zip: fc.integer() }, { noNullPrototype: true }),
    fc.tuple(fc.string(), fc.integer()),
    fc.array(fc.nat(), { maxLength: 3 }),
    fc.sparseArray(fc.nat(), { maxLength: 2 }),
  )
  .chain((usual) =>
    fc.constantFrom(usual, fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: carryable })),
  );

/** Streams of objects with the same keys, most of the time, and of scalars. */
const stream: fc.Arbitrary<unknown[]> = fc
  .oneof(
    fc
      .uniqueArray(fc.constantFrom('id', 'word', 'count', 'ünï', '$x', 'constructor', 'length'), { minLength: 1 })
      .chain((keys) =>
        fc.tuple(...keys.map(() => column)).map((columns) => {
          const row = fc.tuple(...columns).map((values) => Object.fromEntries(keys.map((key, i) => [key, values[i]])));
          const fewer = row.map((object) => Object.fromEntries(Object.entries(object).slice(1)));
          const other = row.map((object) => Object.fromEntries(Object.entries(object).reverse()));
          return fc.oneof({ weight: 40, arbitrary: row }, fewer, other);
        }),
      ),
    column,
  )
  .chain((value) => fc.array(value as fc.Arbitrary<unknown>, { minLength: 1, maxLength: 60 }));

const plain = { noNullPrototype: true };
const lists = fc.record({ list: fc.array(fc.nat()) }, plain);
const tallies = fc.record({ n: fc.integer(), s: fc.string(), deep: lists }, plain);

const batchSizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 });

/** What arrives of values that leave in batches of these sizes, each batch in two parts. */
function carryStream(values: readonly unknown[], sizes: readonly number[]): { arrived: unknown[]; columns: number } {
  const encoder = new AutoEncoder();
  const arrived: unknown[] = [];
  let columns = 0;
  const leave = (): void => {
    const middle = encoder.count >> 1;
    for (const [from, to] of [
      [0, middle],
      [middle, encoder.count],
    ] as const) {
      const { payload, flags } = encoder.encode(from, to);
      if (flags & columnsFlag) columns++;
      const memory = new Uint8Array(new SharedArrayBuffer(payload.length + 24), 11, payload.length);
      memory.set(payload);
      arrived.push(...autoDecoder.decode(memory, to - from, flags));
      memory.fill(0xee);
    }
    encoder.clear();
  };
  for (let i = 0, batch = 0; i < values.length; i++) {
    encoder.add(values[i]);
    if (encoder.count >= (sizes[batch % sizes.length] as number)) {
      leave();
      batch++;
    }
  }
  leave();
  return { arrived, columns };
}

describe('columns', () => {
  test('law: a stream of any shapes arrives equal, however it is cut into batches', () => {
    fc.assert(
      fc.property(stream, batchSizes, (values, sizes) => {
        expect(same(carryStream(values, sizes).arrived, values)).toBe(true);
      }),
      { numRuns: long ? 20_000 : 1_000 },
    );
  });

  test('law: a value is what it was when it was added', () => {
    fc.assert(
      fc.property(fc.array(tallies), (rows) => {
        const expected = structuredClone(rows);
        const encoder = new AutoEncoder();
        for (const row of rows) {
          encoder.add(row);
          Object.assign(row, { n: 'changed', extra: 1 });
          row.deep.list.push(-1);
        }
        const { payload, flags } = encoder.encode(0, rows.length);
        expect(autoDecoder.decode(payload, rows.length, flags)).toEqual(expected);
      }),
    );
  });

  test('values of one shape travel as columns, also when single fields need a wider one', () => {
    const rows = Array.from({ length: 400 }, (_, i) => ({
      id: i,
      word: `w${i}`,
      ratio: i % 50 === 49 ? 0.5 : 1,
      note: i % 60 === 59 ? null : 'x',
      at: { x: i, y: i % 90 === 89 ? new Date(i) : i },
    }));
    const { arrived, columns } = carryStream(rows, [100]);
    expect(same(arrived, rows)).toBe(true);
    expect(columns).toBe(8);
    expect(
      carryStream(
        Array.from({ length: 200 }, (_, i) => `word ${i}`),
        [100],
      ).columns,
    ).toBe(4);
  });

  test('a stream that keeps changing its shape rests: it is looked at less and less often', () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => ({ [`k${i % 300}`]: i, id: i }));
    const { arrived, columns } = carryStream(rows, [100]);
    expect(same(arrived, rows)).toBe(true);
    expect(columns).toBeLessThan(10);
    // And wakes again: 64 batches later at the latest.
    const calm = Array.from({ length: 20_000 }, (_, i) => ({ id: i }));
    expect(carryStream([...rows, ...calm], [100]).columns).toBeGreaterThan(200);
  });

  test('what must not travel is refused with its path, and leaves the batch as it was', () => {
    const encoder = new AutoEncoder();
    const row = { id: 1, user: { name: 'a', tags: ['x'] } };
    encoder.add(row);
    const { bytes } = encoder;
    const bad: readonly (readonly [unknown, RegExp])[] = [
      [{ ...row, [Symbol('s')]: 1 }, /value\[Symbol\(s\)\] has a symbol for a key/],
      [{ id: 1, user: { name: 'a', tags: ['x', () => 1] } }, /value\.user\.tags\[1\] is a function/],
      [{ id: 1, user: { name: 'a', tags: ['x'], [Symbol('t')]: 1 } }, /value\.user\[Symbol\(t\)\]/],
      [{ id: Symbol('x'), user: row.user }, /value\.id is a symbol/],
      [{ id: 1, user: new (class User {})() }, /value\.user is an instance of User/],
      [
        {
          id: 1,
          get user() {
            throw new Error('no');
          },
        },
        /value cannot be read; see the cause/,
      ],
      [Object.create(null), /has no prototype/],
    ];
    for (const [value, message] of bad) {
      expect(() => encoder.add(value)).toThrow(message);
      expect([encoder.count, encoder.bytes]).toEqual([1, bytes]);
    }
    encoder.add(row);
    const { payload, flags } = encoder.encode(0, 2);
    expect(same(autoDecoder.decode(payload, 2, flags), [row, row])).toBe(true);
  });

  test('arrays of one length are tuples; what an array has beside its elements is refused', () => {
    const encoder = new AutoEncoder();
    encoder.add(['a', 1]);
    const { bytes } = encoder;
    const bad: readonly (readonly [unknown, RegExp])[] = [
      [Object.assign(['b', 2], { extra: 1 }), /value\.extra is a property of an array beside its elements/],
      [Object.assign(['b'], { length: 2, extra: 1 }), /value\.extra/],
      [Object.assign(['b', 2], { [Symbol('s')]: 1 }), /value\[Symbol\(s\)\] has a symbol for a key/],
      [new (class Pair extends Array<unknown> {})(2), /is an instance of Pair/],
    ];
    for (const [value, message] of bad) {
      expect(() => encoder.add(value)).toThrow(message);
      expect([encoder.count, encoder.bytes]).toEqual([1, bytes]);
    }
    const { flags } = encoder.encode(0, 1);
    expect(flags & columnsFlag).toBe(columnsFlag);
    // biome-ignore lint/suspicious/noSparseArray: a hole is not undefined
    const values = [['a', 1], ['b', 2.5], ['c', null], [, 3], ['d'], ['e', 1, 2]];
    expect(same(carryStream(values, [9]).arrived, values)).toBe(true);
  });

  test('inherited enumerable properties are not the value\u2019s own', () => {
    const polluted = Object.prototype as Record<string, unknown>;
    const encoder = new AutoEncoder();
    encoder.add({ id: 1 });
    polluted['injected'] = 1;
    try {
      encoder.add({ id: 2 });
    } finally {
      delete polluted['injected'];
    }
    const { payload, flags } = encoder.encode(0, 2);
    expect(same(autoDecoder.decode(payload, 2, flags), [{ id: 1 }, { id: 2 }])).toBe(true);
  });

  test('short and long, narrow and wide strings arrive side by side', () => {
    const texts = ['a', 'ab'.repeat(10), '', 'é', '\ud800', '\udc00', 'x'.repeat(300)];
    const many = Array.from({ length: 200 }, (_, i) => texts[i % texts.length] as string);
    expect(carryStream(many, [100]).arrived).toEqual(many);
  });

  test('a string that is kept does not keep the text of its frame', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const encoder = new AutoEncoder();
    for (let i = 0; i < 100; i++) encoder.add(`${i}`.repeat(100).slice(0, 100));
    const { payload, flags } = encoder.encode(0, 100);
    const kept: unknown[] = [];
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let frame = 0; frame < 2_000; frame++) kept.push(autoDecoder.decode(payload, 100, flags)[50]);
    collect();
    const each = (process.memoryUsage().heapUsed - before) / kept.length;
    // 10,000 characters in a frame, 1,600 in a slice.
    expect(each).toBeLessThan(2_500);
  });

  test('law: a damaged payload is ERR_FRAME or the announced number of values, and nothing around it is read', () => {
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 });
    fc.assert(
      fc.property(stream, edits, fc.nat(), fc.nat(70), (values, changes, cut, count) => {
        const encoder = new AutoEncoder();
        for (const value of values) encoder.add(value);
        const { payload, flags } = encoder.encode(0, values.length);
        const bytes = Uint8Array.from(payload);
        for (const [at, to] of changes) bytes[at % bytes.length] = to;
        const length = cut % 3 === 0 ? cut % (bytes.length + 1) : bytes.length;
        const announced = cut % 2 === 0 ? count : values.length;
        const among = (fill: number): unknown => {
          const memory = new Uint8Array(bytes.length + 64).fill(fill);
          memory.set(bytes.subarray(0, length), 32);
          try {
            const arrived = autoDecoder.decode(memory.subarray(32, 32 + length), announced, flags);
            expect(arrived).toHaveLength(announced);
            return arrived;
          } catch (error) {
            expect(error).toMatchObject({ code: 'ERR_FRAME' });
            return (error as Error).message;
          }
        };
        expect(same(among(0), among(0xff))).toBe(true);
      }),
      { numRuns: long ? 20_000 : 1_000 },
    );
  });

  test('a process that makes no code from strings packs what it sends and reads what others send', () => {
    const rows = [
      { id: 1, word: 'a', ratio: 0.5, on: true, deep: { x: [1] } },
      { id: 2, word: 'é', ratio: -0, on: false, deep: { x: [2] } },
    ];
    const encoder = new AutoEncoder();
    for (const row of rows) encoder.add(row);
    const { payload, flags } = encoder.encode(0, 2);
    expect(flags & columnsFlag).toBe(columnsFlag);
    const built = new URL('../../dist/runtime/autoCodec.js', import.meta.url).href;
    const script = `import { AutoEncoder, autoDecoder } from ${JSON.stringify(built)};
      const rows = autoDecoder.decode(Buffer.from('${Buffer.from(payload).toString('hex')}', 'hex'), 2, ${flags});
      const encoder = new AutoEncoder();
      for (const row of rows) encoder.add(row);
      console.log(JSON.stringify([rows, encoder.encode(0, 2).flags]));`;
    const flag = '--disallow-code-generation-from-strings';
    const { stdout, stderr } = spawnSync(process.execPath, [flag, '--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const [read, sent] = JSON.parse(stdout) as [unknown, number];
    expect(read).toEqual(JSON.parse(JSON.stringify(rows)));
    expect(sent & columnsFlag).toBe(0);
  });
});

test('every scalar fits a batch of its kind', () => {
  fc.assert(
    fc.property(fc.array(anyScalar, { minLength: 1 }), (values) => {
      expect(same(carryStream(values, [7]).arrived, values)).toBe(true);
    }),
  );
});
