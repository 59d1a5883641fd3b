import { Observable, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { Asked } from '../../../src/demand.js';
import { toAsyncBatches } from '../../../src/edges/toAsyncBatches.js';
import { pull } from '../../../src/pull.js';
import { counted } from '../fixtures/kinds.js';

const done = { done: true, value: undefined };
const value = (...values: unknown[]) => ({ done: false, value: values });

async function sizes(length: number, batch: number | 'auto'): Promise<number[]> {
  const seen: number[] = [];
  for await (const each of toAsyncBatches(
    pull(() => counted(length)),
    { batch },
  ))
    seen.push(each.length);
  return seen;
}

describe('toAsyncBatches()', () => {
  test('size 1, and auto, which grows', async () => {
    expect(await sizes(3, 1)).toEqual([1, 1, 1]);
    expect(await sizes(15, 'auto')).toEqual([1, 2, 3, 4, 5]);
    expect(await sizes(0, 'auto')).toEqual([]);
  });

  test('of size auto, a batch that was asked for before it shrank is handed out when it is called for', async () => {
    let give: (n: number) => void = () => {};
    const values = new Asked<number>((observer) => {
      give = (n) => observer.next(n);
      return { request() {}, unsubscribe() {} };
    });
    const iterator = toAsyncBatches(values, { batch: { size: 'auto', idle: false, flushMs: 20 } });
    let next = 0;
    for (let size = 1; size <= 4; size++) {
      const batch = iterator.next();
      for (let n = 0; n < size; n++) give(next++);
      expect((await batch).value).toHaveLength(size);
    }
    const aged = iterator.next();
    give(next++);
    expect((await aged).value).toHaveLength(1);
    for (let n = 0; n < 4; n++) give(next++);
    let handed = false;
    void iterator.next().then(() => (handed = true));
    await Promise.resolve();
    expect(handed).toBe(true);
    await iterator.return?.();
  });

  test('next() called ahead several times, and 20,000 times', async () => {
    const few = toAsyncBatches(
      pull(() => counted(5)),
      { batch: 2 },
    );
    const answers = await Promise.all(counted(5).map(() => few.next()));
    expect(answers).toEqual([value(0, 1), value(2, 3), value(4), done, done]);
    const many = toAsyncBatches(
      pull(() => counted(20_000)),
      { batch: 1 },
    );
    expect((await Promise.all(counted(20_000).map(() => many.next()))).at(-1)).toEqual(value(19_999));
  });

  test('next() while it subscribes, and inside the emission', async () => {
    const inner: Promise<unknown>[] = [];
    const iterator: AsyncIterator<readonly number[]> = toAsyncBatches(
      new Observable<number>((subscriber) => {
        inner.push(iterator.next());
        subscriber.next(1);
        inner.push(iterator.next());
        subscriber.next(2);
        subscriber.complete();
      }),
      { batch: 1 },
    );
    expect([await iterator.next(), ...(await Promise.all(inner))]).toEqual([value(1), value(2), done]);
  });

  test('wrong batches are told at once', () => {
    const wrong: [unknown, string][] = [
      [0, 'batch of toAsyncBatches()'],
      [{ size: 1.5 }, 'size'],
      [{ szie: 1 }, 'size'],
      [{ bytes: 100 }, 'bytes of toAsyncBatches() has no meaning'],
      [{ flushMs: -1 }, 'flushMs'],
      ['auot', 'batch of toAsyncBatches()'],
      [{ idle: 1 }, 'idle'],
    ];
    for (const [batch, message] of wrong)
      expect(() => toAsyncBatches(new Subject(), { batch: batch as number })).toThrow(
        expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) }),
      );
  });

  test('any value passes', async () => {
    const all = [undefined, null, () => 1, Symbol('s')];
    expect(await toAsyncBatches(pull(() => all)).next()).toEqual(value(...all));
  });
});
