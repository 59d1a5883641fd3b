import { Observable, Subject, throwError } from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import { Asked } from '../../../src/demand.js';
import { toReadableStream } from '../../../src/edges/toReadableStream.js';
import { pull } from '../../../src/pull.js';
import { counted } from '../fixtures/kinds.js';
import { type Adapter, lawsOf } from './laws.js';
import { broken } from './sources.js';

const marked = (highWaterMark: number): Adapter => ({
  name: `toReadableStream() with highWaterMark ${highWaterMark}`,
  ahead: highWaterMark,
  open(values, options) {
    const stream = toReadableStream(values, { ...options, highWaterMark });
    const reader = stream.getReader();
    reader.closed.catch(() => {});
    return {
      take: async () => {
        const { done, value } = await reader.read();
        return done ? undefined : [value];
      },
      leave: {
        cancel: () => reader.cancel().catch(() => undefined),
        'cancel with a reason': () => reader.cancel(broken).catch(() => undefined),
      },
    };
  },
});
lawsOf([marked(0), marked(1), marked(16)], 350);

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function all(stream: ReadableStream<unknown>): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const value of stream) seen.push(value);
  return seen;
}

describe('toReadableStream()', () => {
  test.each([0, 1, 16])('pipeTo() and pipeThrough() with highWaterMark %s', async (highWaterMark) => {
    const seen: unknown[] = [];
    const doubling = new TransformStream<number, number>({ transform: (n, to) => to.enqueue(n * 2) });
    await toReadableStream(
      pull(() => counted(100)),
      { highWaterMark },
    )
      .pipeThrough(doubling)
      .pipeTo(
        new WritableStream({
          async write(value) {
            await turn();
            seen.push(value);
          },
        }),
      );
    expect(seen).toEqual(counted(100).map((n) => n * 2));
  });

  test('tee(): both branches have all, and the source is closed when both are cancelled', async () => {
    const [one, other] = toReadableStream(pull(() => counted(50))).tee();
    expect(await Promise.all([all(one), all(other)])).toEqual([counted(50), counted(50)]);
    const subject = new Subject<number>();
    const [left, right] = toReadableStream(subject).tee();
    await turn();
    const cancelled = left.cancel();
    await turn();
    expect(subject.observed).toBe(true);
    await Promise.all([cancelled, right.cancel()]);
    expect(subject.observed).toBe(false);
  });

  test('a body of a Response', async () => {
    const lines = toReadableStream(pull(() => ['the ', 'mill']));
    expect(await new Response(lines.pipeThrough(new TextEncoderStream())).text()).toBe('the mill');
  });

  test('asks for what fits, and with highWaterMark 0 for what is read', async () => {
    for (const [highWaterMark, before] of [
      [0, []],
      [1, [1]],
      [3, [3]],
    ] as const) {
      const asks: number[] = [];
      let give: () => void = () => {};
      const stream = toReadableStream(
        new Asked<number>((observer) => {
          give = () => observer.next(7);
          return { request: (n) => void asks.push(n), unsubscribe: () => void asks.push(0) };
        }),
        { highWaterMark },
      );
      await turn();
      expect(asks).toEqual(before);
      const reader = stream.getReader();
      const reading = reader.read();
      await turn();
      give();
      expect(await reading).toEqual({ done: false, value: 7 });
      await turn();
      await reader.cancel();
      expect(asks.at(-1)).toBe(0);
      expect(asks.reduce((sum, n) => sum + n, 0)).toBe(1 + highWaterMark);
    }
  });

  test('cancelled while a pull waits, it leaves, and reads end', async () => {
    const subject = new Subject<number>();
    const reader = toReadableStream(subject).getReader();
    const reading = reader.read();
    await turn();
    await reader.cancel('enough');
    expect([await reading, subject.observed]).toEqual([{ done: true, value: undefined }, false]);
  });

  test('cancelled while it subscribes, it leaves', async () => {
    const left = vi.fn();
    const stream = toReadableStream(
      new Observable(() => {
        void stream.cancel();
        return left;
      }),
    );
    await vi.waitFor(() => expect(left).toHaveBeenCalledTimes(1));
  });

  test('cancelled before the first pull, it never subscribes', async () => {
    const make = vi.fn(() => [1]);
    await toReadableStream(pull(make)).cancel();
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
    const sink = new WritableStream<number>({
      write(n) {
        if (n === 5) throw broken;
      },
    });
    await expect(toReadableStream(pull(numbers)).pipeTo(sink)).rejects.toBe(broken);
    expect(closed).toHaveBeenCalledTimes(1);
  });

  test('an error arrives as it is', async () => {
    for (const reason of [broken, 'broken', undefined, null, 0])
      await expect(all(toReadableStream(throwError(() => reason)))).rejects.toBe(reason);
  });

  test('has no reader of bytes', () => {
    expect(() => toReadableStream(new Subject<Uint8Array<ArrayBuffer>>()).getReader({ mode: 'byob' })).toThrow(
      TypeError,
    );
  });

  test('any value passes', async () => {
    const values = [undefined, null, () => 1, Symbol('s'), ''];
    expect(await all(toReadableStream(pull(() => values)))).toEqual(values);
  });

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '4'])('highWaterMark %s is refused', (mark) => {
    expect(() => toReadableStream(new Subject(), { highWaterMark: mark as number })).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION',
        message: expect.stringContaining('highWaterMark of toReadableStream()'),
      }),
    );
  });
});
