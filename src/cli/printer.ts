/**
 * Lines to stdout, in order, many in one write.
 * Owns what is not written yet. Never throws: that stdout cannot be written is told once.
 */

import type { Writable } from 'node:stream';
import { clock } from '../../runtime/clock.js';

/** A write of so many characters at once is as cheap as any. */
const enoughChars = 64 * 1024;

export class Printer {
  readonly #stream: Writable;
  readonly #onFailed: (reason: NodeJS.ErrnoException) => void;
  /** Called before a write, for what stands on the same terminal. */
  readonly #onWrite: () => void;
  #lines: string[] = [];
  #chars = 0;
  #scheduled = false;
  #failed = false;

  constructor(stream: Writable, onFailed: (reason: NodeJS.ErrnoException) => void, onWrite: () => void = () => {}) {
    this.#stream = stream;
    this.#onFailed = onFailed;
    this.#onWrite = onWrite;
    stream.on('error', (reason) => this.#fail(reason));
  }

  print(line: string): void {
    if (this.#failed) return;
    this.#lines.push(line);
    this.#chars += line.length + 1;
    if (this.#chars >= enoughChars) this.#flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      clock.soon(() => {
        this.#scheduled = false;
        this.#flush();
      });
    }
  }

  /** Resolves when the reader of stdout has caught up; undefined if it has. */
  room(): Promise<void> | undefined {
    if (this.#failed || !this.#stream.writableNeedDrain) return undefined;
    return new Promise((resolve) => {
      const done = (): void => {
        this.#stream.off('drain', done).off('close', done);
        resolve();
      };
      this.#stream.on('drain', done).on('close', done);
    });
  }

  /** Resolves when all is written, or it is told that it cannot be. */
  async end(): Promise<void> {
    this.#flush();
    if (this.#failed) return;
    await new Promise<void>((resolve) => {
      this.#stream.write('', (reason) => {
        // Order: the stream tells its listeners only after this.
        if (reason != null) this.#fail(reason);
        resolve();
      });
    });
  }

  #fail(reason: NodeJS.ErrnoException): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#lines = [];
    this.#onFailed(reason);
  }

  #flush(): void {
    const lines = this.#lines;
    if (lines.length === 0 || this.#failed) return;
    const long = this.#chars > 2 ** 24;
    this.#lines = [];
    this.#chars = 0;
    this.#onWrite();
    if (!long) {
      this.#stream.write(`${lines.join('\n')}\n`);
      return;
    }
    // A line may be as long as a string can be: nothing can be added to it.
    for (const line of lines) {
      this.#stream.write(line);
      this.#stream.write('\n');
    }
  }
}
