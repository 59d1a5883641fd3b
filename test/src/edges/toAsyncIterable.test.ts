import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { Asked } from '../../../src/demand.js';
import { toAsyncIterable } from '../../../src/edges/toAsyncIterable.js';
import { pull } from '../../../src/pull.js';
import { broken } from './sources.js';

const done = { done: true, value: undefined };
const value = (n: unknown) => ({ done: false, value: n });

describe('toAsyncIterable()', () => {
  test('several next() in flight are answered in their order, those beyond the end too', async () => {
    const subject = new Subject<number>();
    const iterator = toAsyncIterable(subject);
    const answers = Promise.all([1, 2, 3, 4].map(() => iterator.next()));
    for (const n of [1, 2]) subject.next(n);
    subject.complete();
    expect(await answers).toEqual([value(1), value(2), done, done]);
  });

  test('next() inside the emission of the source comes behind the one that asked', async () => {
    const inner: Promise<unknown>[] = [];
    const iterator: AsyncIterator<number> = toAsyncIterable(
      pull(function* () {
        inner.push(iterator.next());
        yield 1;
        inner.push(iterator.next());
        yield 2;
      }),
    );
    expect(await iterator.next()).toEqual(value(1));
    expect(await Promise.all(inner)).toEqual([value(2), done]);
    const late: Promise<unknown>[] = [];
    const failing: AsyncIterator<number> = toAsyncIterable(
      pull(() => {
        late.push(failing.next());
        throw broken;
      }),
    );
    await expect(failing.next()).rejects.toBe(broken);
    expect(await Promise.all(late)).toEqual([done]);
  });

  test.each(['ask', 'request'])('next() inside its %s comes behind the one that asked', async (within) => {
    const younger: Promise<unknown>[] = [];
    let asks = 0;
    let called = false;
    let give: (n: number) => void = () => {};
    const callTwice = (): void => {
      if (called) return;
      called = true;
      younger.push(iterator.next(), iterator.next());
    };
    const iterator: AsyncIterator<number> = toAsyncIterable(
      new Asked<number>((observer) => {
        if (within === 'ask') callTwice();
        give = (n) => observer.next(n);
        return {
          request(n) {
            asks += n;
            if (within === 'request') callTwice();
          },
          unsubscribe() {},
        };
      }),
    );
    const first = iterator.next();
    expect(asks).toBe(3);
    for (const n of [1, 2, 3]) give(n);
    expect(await Promise.all([first, ...younger])).toEqual([value(1), value(2), value(3)]);
  });

  test('many values that are there need no stack', async () => {
    let sum = 0;
    for await (const n of toAsyncIterable(pull(() => Array.from({ length: 100_000 }, () => 1)))) sum += n;
    expect(sum).toBe(100_000);
  });

  test('any value passes', async () => {
    const all = [undefined, null, () => 1, Symbol('s'), Number.NaN];
    const seen: unknown[] = [];
    for await (const each of toAsyncIterable(pull(() => all))) seen.push(each);
    expect(seen).toEqual(all);
  });
});
