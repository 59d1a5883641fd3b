import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Duplex, PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { feedOf, type MakePullable } from '../../runtime/feed.js';
import { type Input, none } from '../../runtime/input.js';

interface Fed {
  readonly feed: Input;
  /** Takes up to `count` values, waiting for the bell where there is none. */
  take(count?: number): Promise<unknown[]>;
  /** Resolves at the next bell. */
  bell(): Promise<void>;
  readonly bells: () => number;
}

function feedFrom(make: MakePullable<unknown>): Fed {
  let ring = (): void => {};
  let bells = 0;
  const bell = () => new Promise<void>((resolve) => (ring = resolve));
  const feed = feedOf(make, () => {
    bells++;
    ring();
  });
  const take = async (count = Number.POSITIVE_INFINITY): Promise<unknown[]> => {
    const values: unknown[] = [];
    while (values.length < count) {
      const rung = bell();
      const value = feed.take();
      if (value !== none) values.push(value);
      else if (feed.ended) break;
      else await rung;
    }
    return values;
  };
  return { feed, take, bell, bells: () => bells };
}

const broken = new RangeError('broken');

async function* counting(log: string[] = []): AsyncGenerator<number> {
  try {
    for (let i = 0; ; i++) yield i;
  } finally {
    log.push('closed');
  }
}

describe('feed', () => {
  const makes: Record<string, [MakePullable<unknown>, unknown[]]> = {
    'an array': [() => [1, 2, 3], [1, 2, 3]],
    'an empty array': [() => [], []],
    'a set': [() => new Set(['a', 'b']), ['a', 'b']],
    'a generator': [
      function* () {
        yield* [1, undefined, null];
      },
      [1, undefined, null],
    ],
    'an async generator': [
      async function* () {
        yield 1;
        await null;
        yield 2;
      },
      [1, 2],
    ],
    'an object-mode readable': [() => Readable.from([{ a: 1 }, 'b', 0, false]), [{ a: 1 }, 'b', 0, false]],
    'a web stream': [
      () =>
        new ReadableStream({
          start(controller) {
            controller.enqueue('a');
            controller.enqueue('b');
            controller.close();
          },
        }),
      ['a', 'b'],
    ],
    'lines of a stream': [
      () => createInterface({ input: Readable.from(['one\ntw', 'o\nthree']) }),
      ['one', 'two', 'three'],
    ],
    'a duplex': [() => new PassThrough({ objectMode: true }).end(7), [7]],
  };

  test.each(Object.entries(makes))('gives all values of %s in order, then ends', async (_name, [make, values]) => {
    const { feed, take } = feedFrom(make);
    expect(await take()).toEqual(values);
    expect(feed.ended).toBe(true);
    expect(feed.take()).toBe(none);
  });

  test('gives the bytes of a stream', async () => {
    const { take } = feedFrom(() => Readable.from([Buffer.from('ab'), Buffer.from('c')], { objectMode: false }));
    expect(Buffer.concat((await take()) as Buffer[]).toString()).toBe('abc');
  });

  test('makes the source at the first take, and asks for one value at a time', () => {
    const log: string[] = [];
    const { feed } = feedFrom(function* () {
      log.push('made');
      for (let i = 0; ; i++) {
        log.push(`asked ${i}`);
        yield i;
      }
    });
    expect(log).toEqual([]);
    expect([feed.take(), feed.take()]).toEqual([0, 1]);
    expect(log).toEqual(['made', 'asked 0', 'asked 1']);
  });

  test('asks an async iterator for no second value before the first is taken', async () => {
    const asked: number[] = [];
    const iterable = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          asked.push(asked.length);
          return { done: false, value: asked.length };
        },
      }),
    };
    const { feed, bell } = feedFrom(() => iterable as AsyncIterable<unknown>);
    const rung = bell();
    expect(feed.take()).toBe(none);
    expect(feed.take()).toBe(none);
    await rung;
    expect(asked).toEqual([0]);
    expect(feed.take()).toBe(1);
    expect(asked).toEqual([0]);
  });

  test.each([7, 'text', null, undefined, {}, () => {}])('%o is not pullable', (bad) => {
    const { feed } = feedFrom(() => bad as never);
    expect(() => feed.take()).toThrow(
      expect.objectContaining({ code: 'ERR_SOURCE', message: expect.stringContaining('pull()') }),
    );
  });

  const failing: Record<string, MakePullable<unknown>> = {
    'the function': () => {
      throw broken;
    },
    'an iterator': function* () {
      yield 1;
      throw broken;
    },
    'an async iterator': async function* () {
      yield 1;
      throw broken;
    },
    'next() of an async iterator': () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => {
          throw broken;
        },
      }),
    }),
    'a stream': () =>
      new Readable({
        objectMode: true,
        read() {
          this.push(1);
          this.destroy(broken);
        },
      }),
    'a web stream': () =>
      new ReadableStream({
        start(controller) {
          controller.error(broken);
        },
      }),
  };

  test.each(Object.entries(failing))('an error of %s is thrown by take, and once', async (_name, make) => {
    const { feed, take } = feedFrom(make);
    await expect(take()).rejects.toBe(broken);
    expect(feed.ended).toBe(true);
    expect(feed.take()).toBe(none);
  });

  test('what came of a stream before its error is given first', async () => {
    const source = new PassThrough({ objectMode: true });
    for (const value of [1, 2]) source.write(value);
    const { take } = feedFrom(() => source);
    expect(await take(2)).toEqual([1, 2]);
    source.destroy(broken);
    await expect(take()).rejects.toBe(broken);
  });

  test('a stream that closes without an end is an error', async () => {
    const source = new PassThrough({ objectMode: true });
    const { take } = feedFrom(() => source);
    const taken = take();
    source.destroy();
    await expect(taken).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
  });

  describe('finish', () => {
    test('returns an iterator and aborts the signal', () => {
      const log: string[] = [];
      let aborted = (): boolean => false;
      const { feed } = feedFrom(function* (signal: AbortSignal) {
        aborted = () => signal.aborted;
        try {
          for (let i = 0; ; i++) yield i;
        } finally {
          log.push('closed');
        }
      } as MakePullable<unknown>);
      expect(feed.take()).toBe(0);
      feed.finish();
      expect([log, aborted(), feed.ended, feed.take()]).toEqual([['closed'], true, true, none]);
    });

    test('returns an async iterator, also while it is asked', async () => {
      const log: string[] = [];
      const { feed, take, bell } = feedFrom(() => counting(log));
      expect(await take(2)).toEqual([0, 1]);
      const rung = bell();
      expect(feed.take()).toBe(none);
      feed.finish();
      await rung;
      await null;
      expect(log).toEqual(['closed']);
      expect(feed.take()).toBe(none);
    });

    test('destroys a stream', async () => {
      const source = new Duplex({ objectMode: true, read() {}, write() {} });
      const { feed } = feedFrom(() => source);
      feed.take();
      feed.finish();
      if (!source.closed) await once(source, 'close');
      expect(source.destroyed).toBe(true);
    });

    test('cancels a web stream', async () => {
      let cancel = (): void => {};
      const cancelled = new Promise<void>((resolve) => {
        cancel = resolve;
      });
      const source = () => new ReadableStream({ pull: (controller) => controller.enqueue(1), cancel: () => cancel() });
      const { feed, take } = feedFrom(source);
      expect(await take(1)).toEqual([1]);
      feed.finish();
      await cancelled;
    });

    test('before the first take, makes nothing', () => {
      let made = 0;
      const { feed } = feedFrom(() => [made++]);
      feed.finish();
      expect([feed.take(), feed.ended, made]).toEqual([none, true, 0]);
    });

    test('a source that fails while it is closed is not heard any more', async () => {
      const iterable = {
        [Symbol.iterator]: () => ({
          next: () => ({ done: false, value: 1 }),
          return: () => {
            throw broken;
          },
        }),
      };
      const { feed } = feedFrom(() => iterable as never);
      feed.take();
      expect(() => feed.finish()).not.toThrow();
      const rejecting = {
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false, value: 1 }),
          return: async () => {
            throw broken;
          },
        }),
      };
      const other = feedFrom(() => rejecting as never);
      expect(await other.take(1)).toEqual([1]);
      other.feed.finish();
      await new Promise(setImmediate);
    });

    test('what has ended or failed by itself is not closed, and its signal is not aborted', () => {
      for (const end of ['done', 'throw']) {
        const log: string[] = [];
        let signal: AbortSignal | undefined;
        const iterator = {
          next: () => {
            if (end === 'throw') throw broken;
            return { done: true, value: undefined };
          },
          return: () => {
            log.push('return');
            return { done: true, value: undefined };
          },
        };
        const { feed } = feedFrom((given) => {
          signal = given;
          return { [Symbol.iterator]: () => iterator } as never;
        });
        try {
          feed.take();
        } catch (reason) {
          expect(reason).toBe(broken);
        }
        feed.finish();
        expect([log, signal?.aborted]).toEqual([[], false]);
      }
    });
  });

  test('drain ends the source', () => {
    const { feed } = feedFrom(() => [1, 2]);
    feed.take();
    feed.drain();
    expect(feed.ended).toBe(true);
  });
});
