import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonRefusal, parseExactly } from '../../src/cli/json.js';

/** What a text says, and the first thing in it that is not kept, as the generator knows it. */
interface Written {
  readonly text: string;
  /** From the path of the value to the sentence about it. */
  readonly wrong: (path: string) => string | undefined;
}

const blank = fc.constantFrom('', '', ' ', '\t', '\r ');
const around = (written: fc.Arbitrary<Written>): fc.Arbitrary<Written> =>
  fc.tuple(blank, written, blank).map(([before, { text, wrong }, after]) => ({ text: before + text + after, wrong }));

const stringText = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"a:b"', '"\\""', '"\\\\"', '"{\\"x\\":1}"', '"\\u0061"', '"9007199254740993"', '":,[]{}"'),
);
const right = fc
  .oneof(
    stringText,
    fc.constantFrom(
      'true',
      'false',
      'null',
      '0',
      '-0',
      '1.5',
      '-2e3',
      '1E30',
      '9007199254740992',
      '-9007199254740992',
      '0.1234567890123456789',
    ),
  )
  .map((text): Written => ({ text, wrong: () => undefined }));
const lossy = fc.constantFrom('9007199254740993', '-9007199254740993', '12345678901234567890', '10000000000000000').map(
  (text): Written => ({
    text,
    wrong: (path) =>
      `has an integer at ${path} beyond 2^53, which a number does not hold exactly: ${text}; write it as a string`,
  }),
);
const endless = fc
  .constantFrom('1e400', '-1e999')
  .map((text): Written => ({ text, wrong: (path) => `has a number at ${path} that is too large: ${text}` }));

const keys = ['"a"', '"\\u0061"', '"b c"', '"__proto__"', '"1"', '""'];
const stepOf = (key: string): string => {
  const name = JSON.parse(key) as string;
  return /^[a-z_]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
};

const { value } = fc.letrec<{ value: Written }>((tie) => ({
  value: around(
    fc.oneof(
      { maxDepth: 4 },
      { weight: 8, arbitrary: right },
      { weight: 1, arbitrary: fc.oneof(lossy, endless) },
      {
        weight: 4,
        arbitrary: fc.array(tie('value'), { maxLength: 4 }).map(
          (parts): Written => ({
            text: `[${parts.map(({ text }) => text).join(',')}]`,
            wrong: (path) => parts.map(({ wrong }, i) => wrong(`${path}[${i}]`)).find((reason) => reason !== undefined),
          }),
        ),
      },
      {
        weight: 4,
        arbitrary: fc.array(fc.tuple(fc.constantFrom(...keys), blank, tie('value')), { maxLength: 4 }).map(
          (members): Written => ({
            text: `{${members.map(([key, space, { text }]) => `${space}${key}${space}:${text}`).join(',')}}`,
            wrong: (path) => {
              for (const [i, [key, , { wrong }]] of members.entries()) {
                const step = path + stepOf(key);
                if (members.slice(0, i).some(([other]) => stepOf(other) === stepOf(key))) return `has ${step} twice`;
                const reason = wrong(step);
                if (reason !== undefined) return reason;
              }
              return undefined;
            },
          }),
        ),
      },
    ),
  ),
}));

function outcome(read: () => unknown): { readonly value: unknown } | { readonly refused: string } {
  try {
    return { value: read() };
  } catch (error) {
    expect(error).toBeInstanceOf(JsonRefusal);
    return { refused: (error as JsonRefusal).message };
  }
}

describe('JSON', () => {
  test('law: it is what JSON.parse reads, or the first thing JSON.parse would lose, with its path', () => {
    let refusals = 0;
    fc.assert(
      fc.property(value, ({ text, wrong }) => {
        const reason = wrong('value');
        if (reason !== undefined) refusals++;
        expect(outcome(() => parseExactly(text))).toEqual(
          reason === undefined ? { value: JSON.parse(text) } : { refused: reason },
        );
      }),
      { numRuns: 2000 },
    );
    expect(refusals).toBeGreaterThan(50);
  });

  test('law: any value comes back from its text', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 1), (text, indent) => {
        const written = JSON.stringify(JSON.parse(text), null, indent);
        // fc.json() has numbers as JSON.stringify writes them: large integers among them are lossy by rule.
        if (!/\d{16}/.test(written.replace(/"(?:[^"\\]|\\.)*"/g, '')))
          expect(parseExactly(written)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('law: what JSON.parse refuses is refused with its reason', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.constantFrom('', '"', '}', ',', 'x', '\\'), ({ text }, at, put) => {
        const broken = text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1);
        let native = true;
        try {
          JSON.parse(broken);
        } catch {
          native = false;
        }
        const found = outcome(() => parseExactly(broken));
        expect('refused' in found && found.refused.startsWith('is not JSON: ')).toBe(!native);
      }),
    );
  });

  test('nesting without end is refused, a long string is not', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(outcome(() => parseExactly(nested(100_000)))).toEqual({ refused: 'is nested more than 1000 levels deep' });
    expect(outcome(() => parseExactly(nested(1000)))).toHaveProperty('value');
    const long = 'x'.repeat(4_000_000);
    expect(outcome(() => parseExactly(`{"a":"${long}","b":1,"b":2}`))).toEqual({ refused: 'has value.b twice' });
  });
});
