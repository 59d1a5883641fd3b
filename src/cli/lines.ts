/**
 * Bytes into lines, however the bytes are cut into chunks.
 * Owns the unfinished line, the count of lines and the byte position. Never reads, never decides what a bad line means.
 *
 *   line end   LF or CR LF; a lone CR, U+2028 and U+2029 are data; the last line needs none
 *   start      a byte order mark is dropped
 *   bad        a line that is not UTF-8, or too long for a string
 */

import { constants, isAscii, isUtf8 } from 'node:buffer';
import type { BadLine } from './badLine.js';
import { brokenAt } from './utf8.js';

/** Lines in order; `bad`, if there is one, comes after them. */
export interface Piece {
  /** Number of the first line. */
  readonly first: number;
  readonly lines: readonly string[];
  readonly bad?: BadLine;
}

const lf = 10;
const cr = 13;
const bom = [0xef, 0xbb, 0xbf] as const;

export class LineSplitter {
  readonly #maxBytes: number;
  /** Of the unfinished line. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** The unfinished line is longer than a string may be: the rest of it is thrown away. */
  #tooLong = false;
  /** Number of the line that is next to be finished. */
  #line = 1;
  /** Position of its first byte in the input. */
  #start = 0;
  #begun = false;

  constructor(maxBytes: number = constants.MAX_STRING_LENGTH) {
    this.#maxBytes = maxBytes;
  }

  /** The lines this chunk finishes. */
  push(given: Uint8Array): readonly Piece[] {
    const chunk = this.#begin(Buffer.from(given.buffer, given.byteOffset, given.byteLength));
    if (chunk === undefined) return [];
    const end = chunk.lastIndexOf(lf) + 1;
    const pieces: Piece[] = [];
    let from = 0;
    if (end > 0 && this.#partBytes > 0) {
      from = chunk.indexOf(lf) + 1;
      this.#keep(chunk.subarray(0, from));
      pieces.push(this.#finishKept());
    }
    if (end > from) pieces.push(...this.#split(chunk.subarray(from, end)));
    this.#keep(chunk.subarray(end));
    return pieces;
  }

  /** The line that has no end. */
  end(): readonly Piece[] {
    const rest = this.#begun ? undefined : Buffer.concat(this.#parts);
    this.#begun = true;
    if (rest !== undefined) {
      this.#parts = [];
      this.#partBytes = 0;
      this.#keep(withoutBom(rest));
    }
    return this.#partBytes === 0 ? [] : [this.#finishKept()];
  }

  /** The first bytes are held back until it is known whether they are a byte order mark. */
  #begin(chunk: Buffer): Buffer | undefined {
    if (this.#begun) return chunk;
    const start = this.#parts.length === 0 ? chunk : Buffer.concat([...this.#parts, chunk]);
    if (start.length < bom.length && start.every((byte, i) => byte === bom[i])) {
      this.#parts = [Buffer.from(start)];
      return undefined;
    }
    this.#begun = true;
    this.#parts = [];
    const rest = withoutBom(start);
    this.#start = start.length - rest.length;
    return rest;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#partBytes += bytes.length;
    if (this.#partBytes > this.#maxBytes) {
      this.#tooLong = true;
      this.#parts = [];
    } else {
      // A copy: the rest of the chunk shall not live as long as this line, and a reader may use its memory again.
      this.#parts.push(Buffer.from(bytes));
    }
  }

  #finishKept(): Piece {
    const bytes = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    const reason = this.#tooLong ? `is longer than ${this.#maxBytes} bytes, more than a string can hold` : undefined;
    const length = this.#partBytes;
    this.#parts = [];
    this.#partBytes = 0;
    this.#tooLong = false;
    return this.#pieceOf(bytes, length, reason);
  }

  /** One line, with its end. */
  #pieceOf(bytes: Buffer, length: number, given?: string): Piece {
    const line = this.#line++;
    const start = this.#start;
    this.#start += length;
    const text = given === undefined && isUtf8(bytes) ? withoutEnd(bytes) : undefined;
    if (text !== undefined) return { first: line, lines: [text] };
    const reason = given ?? `is not UTF-8 at byte offset ${start + brokenAt(bytes)}`;
    return { first: line, lines: [], bad: { line, reason } };
  }

  /** Whole lines: decoded at once where all of them are well. */
  #split(bytes: Buffer): readonly Piece[] {
    if (bytes.length > this.#maxBytes || !isUtf8(bytes)) return this.#splitOneByOne(bytes);
    const text = isAscii(bytes)
      ? bytes.toString('latin1', 0, bytes.length - 1)
      : bytes.toString('utf8', 0, bytes.length - 1);
    const lines = text.split('\n');
    if (bytes.includes(cr)) {
      for (let i = 0; i < lines.length; i++) {
        const line = lines[i] as string;
        if (line.endsWith('\r')) lines[i] = line.slice(0, -1);
      }
    }
    const first = this.#line;
    this.#line += lines.length;
    this.#start += bytes.length;
    return [{ first, lines }];
  }

  #splitOneByOne(bytes: Buffer): readonly Piece[] {
    const pieces: Piece[] = [];
    for (let from = 0; from < bytes.length; ) {
      const end = bytes.indexOf(lf, from) + 1;
      const tooLong = end - from > this.#maxBytes ? `is longer than ${this.#maxBytes} bytes` : undefined;
      pieces.push(this.#pieceOf(bytes.subarray(from, end), end - from, tooLong));
      from = end;
    }
    return pieces;
  }
}

function withoutBom(bytes: Buffer): Buffer {
  return bom.every((byte, i) => bytes[i] === byte) ? bytes.subarray(bom.length) : bytes;
}

function withoutEnd(bytes: Buffer): string {
  if (bytes[bytes.length - 1] !== lf) return bytes.toString('utf8');
  return bytes.toString('utf8', 0, bytes.length - (bytes[bytes.length - 2] === cr ? 2 : 1));
}
