import { getEventListeners } from 'node:events';
import { type Observable, Subject, throwError } from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import { into } from '../../../src/edges/into.js';
import { pull } from '../../../src/pull.js';
import { counted } from '../fixtures/kinds.js';
import { broken, turn, watched } from './sources.js';

describe('into() a Web sink', () => {
  test('that always has room, from a source that always has a value: the event loop has its turns, and a signal is heard', async () => {
    const { values, closed } = watched(Number.POSITIVE_INFINITY);
    const timeout = AbortSignal.timeout(20);
    await expect(into(values, new WritableStream(), { signal: timeout })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    expect(closed()).toBe(1);
  });

  test('with backpressure; it is closed and released', async () => {
    const seen: unknown[] = [];
    let closed = false;
    const sink = new WritableStream<unknown>(
      {
        async write(value) {
          await turn();
          seen.push(value);
        },
        async close() {
          await turn();
          closed = true;
        },
      },
      { highWaterMark: 3 },
    );
    await into(
      pull(() => [...counted(20), undefined, null]),
      sink,
    );
    expect([seen, closed, sink.locked]).toEqual([[...counted(20), undefined, null], true, false]);
  });

  test('waits for room before the first value', async () => {
    const make = vi.fn(() => counted(2));
    const { readable, writable } = new TransformStream<number, number>({}, { highWaterMark: 1 });
    const writer = writable.getWriter();
    void writer.write(7);
    writer.releaseLock();
    const poured = into(pull(make), writable);
    await turn();
    expect(make).not.toHaveBeenCalled();
    const seen: unknown[] = [];
    for await (const value of readable) seen.push(value);
    await poured;
    expect(seen).toEqual([7, 0, 1]);
  });

  test('a sink that fails in start, write or close, or by itself', async () => {
    const failing: (() => ConstructorParameters<typeof WritableStream<number>>[0])[] = [
      () => ({ start: () => Promise.reject(broken) }),
      () => ({ write: (n) => (n === 5 ? Promise.reject(broken) : undefined) }),
      () => ({
        write(n, controller) {
          if (n === 5) controller.error(broken);
        },
      }),
      () => ({ close: () => Promise.reject(broken) }),
    ];
    for (const made of failing) {
      const { values, closed } = watched();
      const sink = new WritableStream<number>(made());
      await expect(into(values, sink)).rejects.toBe(broken);
      expect([closed() <= 1, sink.locked]).toEqual([true, false]);
    }
  });

  test('an error of the source, or an abort, aborts the sink with it', async () => {
    const controller = new AbortController();
    for (const [values, reason] of [
      [throwError(() => broken), broken],
      [new Subject<number>(), 'enough'],
    ] as const) {
      const abort = vi.fn();
      const sink = new WritableStream<number>({ abort });
      const poured = into(values as Observable<number>, sink, { signal: controller.signal });
      poured.catch(() => {});
      await turn();
      if (reason === 'enough') controller.abort('enough');
      await expect(poured).rejects.toBe(reason);
      await turn();
      expect([abort.mock.calls, sink.locked]).toEqual([[[reason]], false]);
    }
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('a sink that is over already: its reason', async () => {
    const failed = new WritableStream<number>({ start: (controller) => controller.error(broken) });
    await expect(
      into(
        pull(() => [1]),
        failed,
      ),
    ).rejects.toBe(broken);
    const closed = new WritableStream<number>();
    await closed.close();
    await expect(
      into(
        pull(() => [1]),
        closed,
      ),
    ).rejects.toMatchObject({ code: 'ERR_CLOSED' });
    expect([failed.locked, closed.locked]).toEqual([false, false]);
  });
});
