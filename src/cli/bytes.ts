/**
 * The bytes of a file or of stdin, chunk by chunk, unzipped where they are gzip.
 * Owns the streams it opens. Never reads ahead of what is asked for, but for the buffers of the streams.
 */

import { createReadStream, type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import { MillraceError } from '../../runtime/errors.js';
import { UsageError } from './usage.js';

export interface Bytes {
  /** For messages. */
  readonly name: string;
  /** Of the file as it is on disk; none where that is not known. */
  readonly totalBytes: number | undefined;
  /** Read from the file so far. */
  readonly readBytes: number;
  /** Undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  close(): void;
}

const chunkBytes = 128 * 1024;
const gzipMagic = [0x1f, 0x8b] as const;

/** `-` is stdin. Throws a UsageError where there is no such file. */
export function openBytes(input: string): Bytes {
  if (input === '-') return new StreamBytes('stdin', undefined, () => process.stdin, false);
  const stats = statsOf(input);
  if (stats.isDirectory()) throw new UsageError(`--input ${input} is a folder`);
  const open = (): Readable => createReadStream(input, { highWaterMark: chunkBytes });
  return new StreamBytes(basename(input), stats.isFile() ? stats.size : undefined, open, input.endsWith('.gz'));
}

function statsOf(input: string): Stats {
  try {
    return statSync(input);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new UsageError(code === 'ENOENT' ? `--input ${input}: there is no such file` : `--input: ${message}`);
  }
}

class StreamBytes implements Bytes {
  readonly name: string;
  readonly totalBytes: number | undefined;
  readonly #open: () => Readable;
  readonly #zipped: boolean;
  #raw: Readable | undefined;
  #gunzip: Gunzip | undefined;
  #chunks: AsyncIterator<Uint8Array> | undefined;
  #closed = false;
  readBytes = 0;

  constructor(name: string, totalBytes: number | undefined, open: () => Readable, zipped: boolean) {
    this.name = name;
    this.totalBytes = totalBytes;
    this.#open = open;
    this.#zipped = zipped;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#closed) return undefined;
    try {
      this.#chunks ??= await this.#start();
      const { done, value } = await this.#chunks.next();
      return done === true ? undefined : value;
    } catch (cause) {
      if (this.#closed) return undefined;
      throw new MillraceError('ERR_SOURCE', `${this.name} cannot be read: ${reasonOf(cause)}`, { cause });
    }
  }

  close(): void {
    this.#closed = true;
    this.#raw?.destroy();
    this.#gunzip?.destroy();
  }

  /** Looks at the first two bytes. */
  async #start(): Promise<AsyncIterator<Uint8Array>> {
    const raw = this.#rawChunks();
    const head: Uint8Array[] = [];
    let magic: readonly number[] = [];
    while (magic.length < gzipMagic.length) {
      const { done, value } = await raw.next();
      if (done === true) break;
      head.push(value);
      magic = [...magic, ...value.subarray(0, gzipMagic.length - magic.length)];
    }
    const whole = (async function* () {
      yield* head;
      yield* raw;
    })();
    return this.#zipped || gzipMagic.every((byte, i) => byte === magic[i]) ? this.#unzipped(whole) : whole;
  }

  async *#rawChunks(): AsyncGenerator<Uint8Array> {
    this.#raw = this.#open();
    for await (const chunk of this.#raw) {
      this.readBytes += (chunk as Uint8Array).length;
      yield chunk as Uint8Array;
    }
  }

  async *#unzipped(zipped: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const gunzip = createGunzip({ chunkSize: chunkBytes });
    this.#gunzip = gunzip;
    const source = Readable.from(zipped);
    // Its errors come out of the iteration below.
    pipeline(source, gunzip, () => {});
    for await (const chunk of gunzip) yield chunk as Uint8Array;
    // gunzip ends without a word at bytes that begin no further member.
    if (gunzip.bytesWritten < this.readBytes || !source.readableEnded)
      throw new Error('bytes follow its last gzip member that are not gzip; gzip -dc shows what can be read');
  }
}

function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return 'its gzip data is cut off';
  return code?.startsWith('Z_') === true ? `its gzip data is broken: ${message}` : message;
}
