import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rowOf } from '../../src/cli/row.js';

const refused = (message: string) =>
  expect.objectContaining({ code: 'ERR_VALUE', message: expect.stringContaining(message) });

describe('rows', () => {
  test('law: a JSON row reads back as the very value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const row = rowOf('ndjson', value);
        expect(row).not.toMatch(/[\n\r]/);
        expect(JSON.parse(row)).toStrictEqual(value);
        expect(JSON.parse(rowOf('ndjson', value, 'a b'))).toStrictEqual({ stream: 'a b', value });
      }),
    );
  });

  test('-0 and lone surrogates come back as they were', () => {
    for (const value of [-0, [1, { a: -0, b: ['x', null, true] }], '\ud800']) {
      expect(JSON.parse(rowOf('ndjson', value))).toStrictEqual(value);
    }
  });

  test('what JSON would change or drop is refused with the path', () => {
    const cases: [unknown, string][] = [
      [1n, 'value of a result is a bigint'],
      [undefined, 'value of a result is undefined'],
      [{ a: [1, { 'b c': new Map() }] }, 'value.a[1]["b c"] of a result is a Map'],
      [[new Set()], 'value[0] of a result is a Set'],
      [{ at: new Date(0) }, 'value.at of a result is a Date'],
      [{ a: Buffer.from('x') }, 'value.a of a result is a Buffer'],
      [new Uint8Array(1), 'is a Uint8Array'],
      [{ a: Number.NaN }, 'value.a of a result is NaN'],
      [[Number.NEGATIVE_INFINITY], 'value[0] of a result is -Infinity'],
      [[1, undefined], 'value[1] of a result is undefined'],
      [new Array(1), 'value[0] of a result is undefined'],
      [{ f: () => 1 }, 'value.f of a result is a function'],
      [Object.create(null), 'is an object without a prototype'],
    ];
    for (const [value, message] of cases) expect(() => rowOf('ndjson', value)).toThrow(refused(message));
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(() => rowOf('ndjson', cycle)).toThrow(refused('is nested more than 1000 levels deep'));
  });

  const scalar = fc.oneof(
    fc.string({ unit: fc.constantFrom('\t', '\n', '\r', '\\', 'N', 'é', 't') }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );

  test('law: a tsv row is one line with one field a value, and gives every string back', () => {
    const back: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };
    fc.assert(
      fc.property(fc.array(scalar, { minLength: 1, maxLength: 5 }), (values) => {
        const row = rowOf('tsv', values);
        expect(row).not.toMatch(/[\n\r]/);
        const fields = row
          .split('\t')
          .map((field) => (field === '\\N' ? null : field.replace(/\\(.)/g, (_, char: string) => back[char] ?? '?')));
        expect(fields).toEqual(
          values.map((value) =>
            value === null || typeof value === 'string' ? value : Object.is(value, -0) ? '-0' : String(value),
          ),
        );
      }),
    );
  });

  test('tsv takes scalars and flat arrays of them', () => {
    expect(rowOf('tsv', 'a\tb')).toBe('a\\tb');
    expect(rowOf('tsv', ['a', 1, true, null], 'out')).toBe('out\ta\t1\ttrue\t\\N');
    const cases: [unknown, string][] = [
      [{}, 'value of a result is an Object'],
      [['a', ['b']], 'value[1] of a result is an Array'],
      [[], 'empty array'],
      [[1, Number.NaN], 'value[1] of a result is NaN'],
      [['\udc00'], 'value[0] of a result is a string with a lone surrogate'],
      [[1n], 'value[0] of a result is a bigint'],
      [new Array(2), 'value[0] of a result is undefined'],
    ];
    for (const [value, message] of cases) expect(() => rowOf('tsv', value)).toThrow(refused(message));
  });
});
