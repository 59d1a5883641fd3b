import { getEventListeners } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { Observable, take } from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import type { DemandSubscription } from '../../runtime/demand.js';
import { askable, checkEdge } from '../../src/edges/edge.js';
import { type Pullable, pull } from '../../src/pull.js';
import { type Seen, seenBy } from './fixtures/asking.js';
import { counted } from './fixtures/kinds.js';

interface Pulled extends Seen {
  readonly asked: DemandSubscription;
  /** Resolves when so many values and ends were seen. */
  until(values: number, ends?: number): Promise<void>;
}

function pulled(
  make: (signal: AbortSignal) => Pullable<unknown>,
  onNext: (value: unknown, asked: DemandSubscription) => void = () => {},
  options: object = {},
): Pulled {
  let notify = (): void => {};
  const { observer, values, ends } = seenBy((value) => onNext(value, asked));
  const asked = askable(
    pull(make),
    checkEdge(options, 'toTest()'),
    'toTest()',
  )({
    next(value) {
      observer.next(value);
      notify();
    },
    error(reason) {
      observer.error(reason);
      notify();
    },
    complete() {
      observer.complete();
      notify();
    },
  });
  const until = (count: number, ended = 0): Promise<void> =>
    new Promise((resolve) => {
      notify = () => {
        if (values.length >= count && ends.length >= ended) resolve();
      };
      notify();
    });
  return { values, ends, asked, until };
}

/** A generator that says what is done with it. */
function* told(log: string[], length = Number.POSITIVE_INFINITY): Generator<number> {
  log.push('made');
  try {
    for (let i = 0; i < length; i++) {
      log.push(`asked ${i}`);
      yield i;
    }
  } finally {
    log.push('closed');
  }
}

async function* toldLater(log: string[], length = Number.POSITIVE_INFINITY): AsyncGenerator<number> {
  yield* told(log, length);
}

const broken = new RangeError('broken');

describe('a generator', () => {
  test('law: is asked for exactly as many values as were requested, and closed when it is left', () => {
    const requests = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(requests, fc.nat({ max: 20 }), (script, length) => {
        const log: string[] = [];
        const { asked, values, ends } = pulled(() => told(log, length));
        expect(log).toEqual([]);
        let sum = 0;
        for (const n of script) {
          asked.request(n);
          sum += n;
          const over = sum > length;
          const seen = counted(Math.min(sum, length));
          expect(log).toEqual(['made', ...seen.map((i) => `asked ${i}`), ...(over ? ['closed'] : [])]);
          expect([values, ends]).toEqual([seen, over ? ['complete'] : []]);
        }
        asked.unsubscribe();
        expect(log.filter((line) => line === 'closed')).toEqual(['closed']);
      }),
    );
  });

  test('left before it is asked, it is never made', () => {
    const make = vi.fn(() => [1]);
    const { asked } = pulled(make);
    asked.unsubscribe();
    asked.request(1);
    expect(make).not.toHaveBeenCalled();
  });

  test('left within next, it is closed at once', () => {
    const log: string[] = [];
    const { asked, values, ends } = pulled(
      () => told(log),
      (value, to) => {
        if (value !== 1) return;
        to.unsubscribe();
        log.push('left');
      },
    );
    asked.request(Number.POSITIVE_INFINITY);
    expect([values, ends, log.slice(-2)]).toEqual([[0, 1], [], ['closed', 'left']]);
  });

  test('left or aborted by its own code, it is closed when that returns, and what it gives then goes nowhere', () => {
    const warned = vi.spyOn(process, 'emitWarning');
    for (const how of ['left', 'aborted']) {
      const log: string[] = [];
      const controller = new AbortController();
      const { asked, values, ends } = pulled(
        function* () {
          yield 1;
          if (how === 'left') asked.unsubscribe();
          else controller.abort('enough');
          yield* told(log);
        },
        undefined,
        { signal: controller.signal },
      );
      asked.request(5);
      expect([values, ends, log]).toEqual([[1], how === 'left' ? [] : ['enough'], ['made', 'asked 0', 'closed']]);
    }
    // A running generator cannot be closed.
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  test('left while it is made, it is closed, and not asked', () => {
    const closed = vi.fn(() => ({ done: true as const, value: undefined }));
    const next = vi.fn(() => ({ done: false, value: 1 }));
    const { asked, values, ends } = pulled((signal) => {
      asked.unsubscribe();
      expect(signal.aborted).toBe(true);
      return { [Symbol.iterator]: () => ({ next, return: closed }) };
    });
    asked.request(5);
    expect([values, ends, next.mock.calls.length, closed.mock.calls.length]).toEqual([[], [], 0, 1]);
  });

  test('aborted within next, the error comes when next has returned', () => {
    const log: string[] = [];
    const controller = new AbortController();
    const { asked, ends } = pulled(
      () => told(log),
      () => {
        controller.abort('enough');
        log.push(`within: ${ends.length} ends`);
      },
      { signal: controller.signal },
    );
    asked.request(2);
    expect([ends, log]).toEqual([['enough'], ['made', 'asked 0', 'closed', 'within: 0 ends']]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('each subscription has one of its own; take leaves it', () => {
    const log: string[] = [];
    const source = pull(() => told(log));
    const sums = [1, 3].map((count) => {
      let sum = 0;
      source.pipe(take(count)).subscribe((value) => {
        sum += value;
      });
      return sum;
    });
    expect(sums).toEqual([0, 3]);
    expect(log.filter((line) => line === 'made' || line === 'closed')).toEqual(['made', 'closed', 'made', 'closed']);
  });
});

describe('an asynchronous source', () => {
  test('an async generator is asked one value at a time, and never ahead', async () => {
    const log: string[] = [];
    const { asked, values, until } = pulled(() => toldLater(log));
    asked.request(2);
    asked.request(1);
    await until(3);
    await new Promise((resolve) => setImmediate(resolve));
    expect([values, log]).toEqual([
      [0, 1, 2],
      ['made', 'asked 0', 'asked 1', 'asked 2'],
    ]);
    asked.unsubscribe();
    await vi.waitFor(() => expect(log.at(-1)).toBe('closed'));
  });

  test('what comes when it has been left goes nowhere', async () => {
    let settle: (result: IteratorResult<number>) => void = () => {};
    const closed = vi.fn();
    const iterator = {
      next: () => new Promise<IteratorResult<number>>((resolve) => (settle = resolve)),
      return: closed,
    };
    const { asked, values, ends } = pulled(() => ({ [Symbol.asyncIterator]: () => iterator }));
    asked.request(1);
    asked.unsubscribe();
    settle({ done: false, value: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    expect([values, ends, closed.mock.calls.length]).toEqual([[], [], 1]);
  });

  test('its signal is aborted when it is left, and not when it has ended', async () => {
    const signals: AbortSignal[] = [];
    const make = (signal: AbortSignal): Pullable<number> => {
      signals.push(signal);
      return toldLater([], 1);
    };
    const left = pulled(make);
    left.asked.request(1);
    left.asked.unsubscribe();
    const ended = pulled(make);
    ended.asked.request(2);
    await ended.until(1, 1);
    ended.asked.unsubscribe();
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
  });

  test('a Readable is destroyed when it is left, between chunks too', async () => {
    for (const request of [1, 5]) {
      const stream = new PassThrough({ objectMode: true });
      stream.write('a');
      const { asked, values, ends, until } = pulled(() => stream);
      asked.request(request);
      await until(1);
      asked.unsubscribe();
      expect([values, ends, stream.destroyed]).toEqual([['a'], [], true]);
    }
  });

  test('a Web stream left at any point around its end says nothing', async () => {
    const warned = vi.spyOn(process, 'emitWarning');
    for (let ticks = 0; ticks < 12; ticks++) {
      const { asked, values } = pulled(() => new ReadableStream({ pull: (to) => to.close() }, { highWaterMark: 0 }));
      asked.request(1);
      for (let n = 0; n < ticks; n++) await Promise.resolve();
      asked.unsubscribe();
      await new Promise(setImmediate);
      expect(values).toEqual([]);
    }
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  test('a Web stream is cancelled when it is left, also while a chunk is awaited', async () => {
    for (const request of [1, 5]) {
      const cancelled = vi.fn();
      const stream = new ReadableStream({ start: (controller) => controller.enqueue('a'), cancel: cancelled });
      const { asked, values, ends, until } = pulled(() => stream);
      asked.request(request);
      await until(1);
      await new Promise((resolve) => setImmediate(resolve));
      asked.unsubscribe();
      expect([values, ends, cancelled.mock.calls.length]).toEqual([['a'], [], 1]);
    }
  });

  test('a Web stream that has ended is free again', async () => {
    const stream = new ReadableStream({ start: (controller) => controller.close() });
    const { asked, until } = pulled(() => stream);
    asked.request(1);
    await until(0, 1);
    expect(stream.locked).toBe(false);
  });

  test('lines of a stream', async () => {
    const { asked, values, until } = pulled(() => createInterface({ input: Readable.from(['one\ntw', 'o\nthree']) }));
    asked.request(2);
    await until(2);
    expect(values).toEqual(['one', 'two']);
    asked.request(2);
    await until(3, 1);
    expect(values).toEqual(['one', 'two', 'three']);
  });
});

describe('an error', () => {
  const failing: Record<string, () => Pullable<unknown>> = {
    'of a generator': function* () {
      yield 1;
      throw broken;
    },
    'of an async generator': async function* () {
      yield 1;
      throw broken;
    },
    'of a Readable': () =>
      Readable.from(
        (function* () {
          yield 1;
          throw broken;
        })(),
        { highWaterMark: 1 },
      ),
    'of a Web stream': () => {
      let chunk = 0;
      return new ReadableStream(
        {
          pull(controller) {
            if (++chunk === 1) controller.enqueue(1);
            else controller.error(broken);
          },
        },
        { highWaterMark: 0 },
      );
    },
  };

  test.each(Object.entries(failing))('%s comes as it is, behind the values before it', async (_name, make) => {
    const { asked, values, ends, until } = pulled(make);
    asked.request(1);
    await until(1);
    asked.request(5);
    await until(1, 1);
    asked.request(1);
    expect([values, ends]).toEqual([[1], [broken]]);
  });

  test('of what makes it, or of what it makes, comes when it is asked first', () => {
    const made: [() => unknown, unknown][] = [
      [
        () => {
          throw broken;
        },
        broken,
      ],
      [() => 'text', expect.objectContaining({ code: 'ERR_SOURCE' })],
      [() => undefined, expect.objectContaining({ code: 'ERR_SOURCE' })],
      [() => new Observable(), expect.objectContaining({ code: 'ERR_SOURCE' })],
    ];
    for (const [make, reason] of made) {
      const { asked, ends } = pulled(make as () => Pullable<unknown>);
      expect(ends).toEqual([]);
      asked.request(1);
      expect(ends).toEqual([reason]);
    }
  });
});
