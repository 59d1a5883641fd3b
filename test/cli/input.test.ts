import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { Bytes } from '../../src/cli/bytes.js';
import { Input } from '../../src/cli/input.js';
import { Printer } from '../../src/cli/printer.js';

/** Chunks that are there, one for each `next`. */
class Chunks implements Bytes {
  readonly name = 'test';
  readonly totalBytes = undefined;
  readonly readBytes = 0;
  readonly #chunks: string[];
  asked = 0;
  closed = false;

  constructor(...chunks: string[]) {
    this.#chunks = chunks;
  }

  async next(): Promise<Uint8Array | undefined> {
    this.asked++;
    const chunk = this.#chunks.shift();
    return chunk === undefined ? undefined : Buffer.from(chunk);
  }

  close(): void {
    this.closed = true;
  }
}

const always = (): undefined => undefined;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('input', () => {
  test('the next chunk is read when the lines of the last one are taken', async () => {
    const bytes = new Chunks('a\nb\nc', 'd\ne\n');
    const input = new Input({ bytes, format: 'lines', room: always });
    input.read();
    await once(input, 'readable');
    expect([input.read(), bytes.asked]).toEqual(['a', 1]);
    await turn();
    expect(bytes.asked).toBe(1);
    const rest: unknown[] = [];
    for await (const line of input) rest.push(line);
    expect(rest).toEqual(['b', 'cd', 'e']);
    expect(bytes).toMatchObject({ asked: 3, closed: true });
  });

  test('nothing is read while there is no room for results', async () => {
    const bytes = new Chunks('a\n');
    let open: () => void = () => {};
    const room = new Promise<void>((resolve) => {
      open = resolve;
    });
    const input = new Input({ bytes, format: 'lines', room: () => room });
    input.read();
    await turn();
    expect(bytes.asked).toBe(0);
    open();
    await once(input, 'readable');
    expect(input.read()).toBe('a');
  });

  test('a failure comes after all values before it, also those of its own chunk', async () => {
    const input = new Input({ bytes: new Chunks('1\n2\n', '3\n4\n{\n5\n'), format: 'ndjson', room: always });
    const values: unknown[] = [];
    const reading = (async () => {
      for await (const value of input) values.push(value);
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'ERR_SOURCE',
      message: expect.stringContaining('line 5 of test is not JSON'),
    });
    expect(values).toEqual([1, 2, 3, 4]);
  });
});

describe('printer', () => {
  class Slow extends Writable {
    readonly chunks: string[] = [];
    release: () => void = () => {};

    override _write(chunk: Buffer, _: string, done: () => void): void {
      this.chunks.push(String(chunk));
      this.release = done;
    }
  }

  test('lines go out in order, many in one write, and room is when they have gone', async () => {
    const stream = new Slow({ highWaterMark: 10 });
    const printer = new Printer(stream, () => {});
    for (const line of ['a', 'b', 'long enough']) printer.print(line);
    expect([stream.chunks, printer.room()]).toEqual([[], undefined]);
    await turn();
    expect(stream.chunks).toEqual(['a\nb\nlong enough\n']);
    const room = printer.room();
    expect(room).toBeInstanceOf(Promise);
    stream.release();
    await room;
    expect(printer.room()).toBeUndefined();
    printer.print('c');
    const ended = printer.end();
    stream.release();
    await turn();
    stream.release();
    await ended;
    expect(stream.chunks.slice(1, 2)).toEqual(['c\n']);
  });

  test('a stream that fails is told once; nobody waits for it', async () => {
    const stream = new Slow({ highWaterMark: 1 });
    const told: string[] = [];
    const printer = new Printer(stream, ({ message }) => told.push(message));
    printer.print('a');
    await turn();
    const room = printer.room();
    stream.destroy(new Error('gone'));
    await room;
    printer.print('b');
    await printer.end();
    expect(told).toEqual(['gone']);
  });
});
