import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineSplitter, type Piece } from '../../src/cli/lines.js';
import { brokenAt } from '../../src/cli/utf8.js';

interface Seen {
  readonly lines: readonly string[];
  readonly bad: readonly { readonly line: number; readonly reason: string }[];
}

function split(chunks: readonly Uint8Array[], maxBytes?: number): Seen {
  const splitter = new LineSplitter(maxBytes);
  const pieces: Piece[] = chunks.flatMap((chunk) => {
    const reused = Uint8Array.from(chunk);
    const found = splitter.push(reused);
    // A reader may use the memory of a chunk again.
    reused.fill(0x78);
    return [...found];
  });
  pieces.push(...splitter.end());
  // Numbers are those of lines in order: none is left out.
  let next = 1;
  for (const { first, lines, bad } of pieces) {
    expect(first).toBe(next);
    next += lines.length;
    if (bad !== undefined) expect(bad.line).toBe(next++);
  }
  return { lines: pieces.flatMap(({ lines }) => lines), bad: pieces.flatMap(({ bad }) => bad ?? []) };
}

/** `bytes` in chunks that end at these positions. */
function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const ends = [...at.map((position) => position % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}

/** The whole text at once. */
function modelOf(text: string): string[] {
  const lines = text.replace(/^\ufeff/, '').split('\n');
  const last = lines.pop() as string;
  return [...lines.map((line) => line.replace(/\r$/, '')), ...(last === '' ? [] : [last])];
}

const bits = ['a', 'é', '中', '😀', '\n', '\r\n', '\r', '\u2028', '\u2029', '\ufeff', '\u0085', '\0', 'word '];
const text = fc.array(fc.constantFrom(...bits), { maxLength: 12 }).map((parts) => parts.join(''));
const cuts = fc.array(fc.nat(), { maxLength: 6 });

describe('lines', () => {
  test('law: lines are those of the whole text, however it is cut', () => {
    fc.assert(
      fc.property(text, cuts, (whole, at) => {
        const { lines, bad } = split(cut(Buffer.from(whole), at));
        expect(lines).toEqual(modelOf(whole));
        expect(bad).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test('law: byte by byte is as good as at once', () => {
    fc.assert(
      fc.property(text, (whole) => {
        expect(split([...Buffer.from(whole)].map((byte) => Uint8Array.of(byte))).lines).toEqual(modelOf(whole));
      }),
      { numRuns: 300 },
    );
  });

  const someBytes = fc
    .array(
      fc.oneof(
        text.map((part) => Buffer.from(part)),
        fc.uint8Array({ maxLength: 3 }),
      ),
      { maxLength: 8 },
    )
    .map((parts) => Buffer.concat(parts));

  test('law: a line is bad where a strict decoder says so, at the first byte it cannot read', () => {
    fc.assert(
      fc.property(someBytes, cuts, (bytes, at) => {
        const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
        const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
        const lines: string[] = [];
        const bad: { line: number; reason: string }[] = [];
        for (let from = marked, line = 1; from < bytes.length; line++) {
          const lf = bytes.indexOf(10, from);
          const end = lf < 0 ? bytes.length : lf;
          const content = bytes.subarray(from, lf > from && bytes[lf - 1] === 13 ? end - 1 : end);
          try {
            lines.push(strict.decode(content));
          } catch {
            // The position: behind the longest beginning that some continuation makes whole.
            let good = 0;
            for (let n = 0; n <= content.length; n++) {
              try {
                strict.decode(content.subarray(0, n));
                good = n;
              } catch {}
            }
            bad.push({ line, reason: `is not UTF-8 at byte offset ${from + good}` });
          }
          from = end + 1;
        }
        expect(split(cut(bytes, at))).toEqual({ lines, bad });
      }),
      { numRuns: 1000 },
    );
  });

  test('law: a line longer than a string may be is bad, wherever the chunks end, and the next one is read', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 30 }), { maxLength: 8 }), cuts, (lengths, at) => {
        const { lines, bad } = split(cut(Buffer.from(lengths.map((n) => `${'x'.repeat(n)}\n`).join('')), at), 16);
        expect(lines).toEqual(lengths.filter((n) => n < 16).map((n) => 'x'.repeat(n)));
        expect(bad.map(({ line }) => line)).toEqual(lengths.flatMap((n, i) => (n < 16 ? [] : [i + 1])));
        for (const { reason } of bad) expect(reason).toContain('is longer than 16 bytes');
      }),
    );
  });

  test('a byte order mark alone, cut in two, and cut off', () => {
    expect(split([Uint8Array.of(0xef, 0xbb, 0xbf)]).lines).toEqual([]);
    expect(split([Uint8Array.of(0xef), Uint8Array.of(0xbb, 0xbf, 0x61)]).lines).toEqual(['a']);
    expect(split([Uint8Array.of(0xef, 0xbb)]).bad).toEqual([{ line: 1, reason: 'is not UTF-8 at byte offset 0' }]);
    expect(split([])).toEqual({ lines: [], bad: [] });
  });

  test('every kind of broken sequence is found where it begins', () => {
    const broken = [
      '80',
      'c0af',
      'c328',
      'e08080',
      'eda080',
      'e4b8',
      'f08080af',
      'f4908080',
      'f5808080',
      'ff',
      'f09f98',
    ];
    for (const hex of broken) expect([hex, brokenAt(Buffer.from(`61${hex}`, 'hex'))]).toEqual([hex, 1]);
    expect(brokenAt(Buffer.from('aé中😀\u{10ffff}\ud7ff\ue000'))).toBe(-1);
  });
});
