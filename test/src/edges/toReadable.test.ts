import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Observable, Subject, throwError } from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import { Asked } from '../../../src/demand.js';
import { toReadable } from '../../../src/edges/toReadable.js';
import { pull } from '../../../src/pull.js';
import { counted } from '../fixtures/kinds.js';
import { type Adapter, lawsOf } from './laws.js';
import { broken } from './sources.js';

const marked = (highWaterMark: number): Adapter => ({
  name: `toReadable() with highWaterMark ${highWaterMark}`,
  ahead: Math.max(1, highWaterMark),
  open(values, options) {
    const stream = toReadable(values, { ...options, highWaterMark });
    stream.on('error', () => {});
    const iterator = stream[Symbol.asyncIterator]();
    return {
      take: async () => {
        const { done, value } = await iterator.next();
        return done === true ? undefined : [value];
      },
      leave: {
        destroy: () => stream.destroy(),
        'destroy with an error': () => stream.destroy(broken),
        async break() {
          await iterator.next().catch(() => undefined);
          await iterator.return?.();
        },
      },
    };
  },
});
lawsOf([marked(0), marked(1), marked(16)], 350);

function collecting(values: unknown[]): Writable {
  return new Writable({
    objectMode: true,
    highWaterMark: 2,
    write(value, _, done) {
      values.push(value);
      setImmediate(done);
    },
  });
}

describe('toReadable()', () => {
  test.each([0, 1, 2, 16, undefined])('pipeline() with highWaterMark %s', async (highWaterMark) => {
    const seen: unknown[] = [];
    const options = highWaterMark === undefined ? {} : { highWaterMark };
    const doubling = new Transform({ objectMode: true, transform: (value, _, done) => done(null, value * 2) });
    const stream = toReadable(
      pull(() => counted(100)),
      options,
    );
    expect([stream.readableObjectMode, stream.readableHighWaterMark]).toEqual([true, highWaterMark ?? 16]);
    await pipeline(stream, doubling, collecting(seen));
    expect(seen).toEqual(counted(100).map((n) => n * 2));
  });

  test('asks for what fits: as much as highWaterMark, then one for one', async () => {
    const asks: number[] = [];
    let next = 0;
    const stream = toReadable(
      new Asked<number>((observer) => ({
        request(n) {
          asks.push(n);
          for (let i = 0; i < n; i++) observer.next(next++);
        },
        unsubscribe: () => void asks.push(0),
      })),
      { highWaterMark: 4 },
    );
    expect(asks).toEqual([]);
    stream.read(0);
    await new Promise(setImmediate);
    expect([asks, stream.readableLength]).toEqual([[4], 4]);
    expect(stream.read()).toBe(0);
    await new Promise(setImmediate);
    expect([asks, stream.readableLength]).toEqual([[4, 1], 4]);
    stream.destroy();
    expect(asks).toEqual([4, 1, 0]);
  });

  test('destroyed before the first read, it never subscribes', async () => {
    const make = vi.fn(() => [1]);
    const stream = toReadable(pull(make)).destroy();
    await new Promise((resolve) => stream.once('close', resolve));
    expect(make).not.toHaveBeenCalled();
  });

  test('a sink that fails closes the source', async () => {
    const closed = vi.fn();
    const numbers = function* () {
      try {
        yield* counted(100);
      } finally {
        closed();
      }
    };
    const sink = new Writable({ objectMode: true, write: (value, _, done) => done(value === 5 ? broken : null) });
    await expect(pipeline(toReadable(pull(numbers)), sink)).rejects.toBe(broken);
    expect(closed).toHaveBeenCalledTimes(1);
  });

  test('null is ERR_VALUE, and closes the source', async () => {
    const closed = vi.fn();
    const values = function* () {
      try {
        yield* [1, null, 2];
      } finally {
        closed();
      }
    };
    const sink = new Writable({ objectMode: true, write: (_, __, done) => done() });
    await expect(pipeline(toReadable(pull(values)), sink)).rejects.toMatchObject({ code: 'ERR_VALUE' });
    expect(closed).toHaveBeenCalledTimes(1);
  });

  test('an error arrives as it is; of a falsy one it is the cause', async () => {
    for (const reason of [broken, 'broken', 7, { broken: true }, Symbol('broken')]) {
      const stream = toReadable(throwError(() => reason));
      await expect(pipeline(stream, collecting([]))).rejects.toBe(reason);
    }
    for (const reason of [undefined, null, 0, '', false]) {
      const stream = toReadable(throwError(() => reason));
      await expect(pipeline(stream, collecting([]))).rejects.toMatchObject({ code: 'ERR_SOURCE', cause: reason });
    }
  });

  test('destroyed while it subscribes, it leaves', async () => {
    const left = vi.fn();
    const stream = toReadable(
      new Observable(() => {
        stream.destroy();
        return left;
      }),
    );
    stream.resume();
    await new Promise((resolve) => stream.once('close', resolve));
    expect(left).toHaveBeenCalledTimes(1);
  });

  test('a paused stream takes no more than its buffer', async () => {
    const subject = new Subject<number>();
    const stream = toReadable(subject, { highWaterMark: 2, overflow: { strategy: 'dropOldest', capacity: 3 } });
    stream.read(0);
    for (const n of counted(10)) subject.next(n);
    subject.complete();
    const seen: unknown[] = [];
    for await (const value of stream) seen.push(value);
    expect(seen).toEqual([0, 1, 7, 8, 9]);
  });

  test('any other value passes', async () => {
    const all = [undefined, () => 1, Symbol('s'), '', 0];
    const seen: unknown[] = [];
    await pipeline(toReadable(pull(() => all)), collecting(seen));
    expect(seen).toEqual(all);
    expect(await toReadable(pull(() => all)).toArray()).toEqual(all);
  });

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '4', 2 ** 31])('highWaterMark %s is refused', (mark) => {
    expect(() => toReadable(new Subject(), { highWaterMark: mark as number })).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION',
        message: expect.stringContaining('highWaterMark of toReadable()'),
      }),
    );
  });
});
