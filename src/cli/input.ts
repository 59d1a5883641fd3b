/**
 * The values of the input: lines, or JSON a line, read when they are asked for.
 * Owns what becomes of bad lines. A failure comes after all values before it were taken.
 */

import { Readable } from 'node:stream';
import { type BadLine, badLineError } from './badLine.js';
import type { Bytes } from './bytes.js';
import { JsonRefusal, parseExactly } from './json.js';
import { LineSplitter, type Piece } from './lines.js';

export interface InputOptions {
  readonly bytes: Bytes;
  readonly format: 'lines' | 'ndjson';
  /** Takes a bad line that is left out; without it a bad line ends the run. */
  readonly onSkipped?: ((bad: BadLine) => void) | undefined;
  /** Resolves when more may be read. */
  readonly room: () => Promise<void> | undefined;
}

/** One chunk of bytes is in memory at a time, and the line that it is in the middle of. */
export class Input extends Readable {
  readonly #options: InputOptions;
  readonly #splitter = new LineSplitter();
  #failure: Error | undefined;

  constructor(options: InputOptions) {
    // Of 1: the next chunk is read when the values of the last one are taken.
    super({ objectMode: true, highWaterMark: 1 });
    this.#options = options;
  }

  override _read(): void {
    this.#fill().catch((reason: Error) => this.destroy(reason));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#options.bytes.close();
    done(error);
  }

  async #fill(): Promise<void> {
    // Later, for a stream that is destroyed gives no more of what it has.
    if (this.#failure !== undefined) throw this.#failure;
    for (let pushed = false; !pushed && !this.destroyed; ) {
      await this.#options.room();
      const chunk = await this.#options.bytes.next();
      try {
        for (const piece of chunk === undefined ? this.#splitter.end() : this.#splitter.push(chunk)) {
          pushed = this.#take(piece) || pushed;
        }
      } catch (reason) {
        if (!pushed && this.readableLength === 0) throw reason;
        this.#failure = reason as Error;
        return;
      }
      if (chunk === undefined && !this.destroyed) {
        this.push(null);
        return;
      }
    }
  }

  /** Says whether there was a value. */
  #take({ first, lines, bad }: Piece): boolean {
    const { format } = this.#options;
    let pushed = false;
    for (let i = 0; i < lines.length && !this.destroyed; i++) {
      const line = lines[i] as string;
      if (format === 'lines') {
        this.push(line);
        pushed = true;
      } else if (!/^[ \t\r]*$/.test(line)) {
        pushed = this.#takeJson(first + i, line) || pushed;
      }
    }
    if (bad !== undefined) this.#bad(bad);
    return pushed;
  }

  #takeJson(line: number, text: string): boolean {
    try {
      const value = parseExactly(text);
      if (value === null) throw new JsonRefusal('is null, which no input can carry: put it into an array or an object');
      this.push(value);
      return true;
    } catch (error) {
      if (!(error instanceof JsonRefusal)) throw error;
      this.#bad({ line, reason: error.message });
      return false;
    }
  }

  #bad(bad: BadLine): void {
    const { bytes, onSkipped } = this.#options;
    if (onSkipped === undefined) throw badLineError(bytes.name, bad);
    onSkipped(bad);
  }
}
