import { concatMap, finalize, type Observable, of, take, toArray } from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import type { DemandObserver } from '../../../runtime/demand.js';
import { askOf } from '../../../src/demand.js';
import { fromPublisher } from '../../../src/edges/fromPublisher.js';
import type { Publisher, Subscriber, Subscription } from '../../../src/edges/publisher.js';
import { toPublisher } from '../../../src/edges/toPublisher.js';
import { pull } from '../../../src/pull.js';
import { warnings } from './warned.js';

/** A subscription by hand: what was said on either side, in order. */
function meeting() {
  const said: string[] = [];
  let subscriber!: Subscriber<unknown>;
  const subscription = (name = ''): Subscription => ({
    request: (n) => said.push(`${name}request ${n}`),
    cancel: () => said.push(`${name}cancel`),
  });
  const values = fromPublisher<unknown>({
    subscribe: (given) => {
      said.push('subscribe');
      subscriber = given;
    },
  });
  const reasons: unknown[] = [];
  const observer: DemandObserver<unknown> = {
    next: (value) => said.push(`next ${value}`),
    error: (reason) => {
      said.push('error');
      reasons.push(reason);
    },
    complete: () => said.push('complete'),
  };
  const asked = askOf(values)!(observer);
  return {
    said,
    subscriber,
    subscription,
    asked,
    reasons,
    observer,
    source: (message: string) => [
      expect.objectContaining({ code: 'ERR_SOURCE', message: expect.stringContaining(message) }),
    ],
  };
}

describe('C-083: the subscriber of fromPublisher()', () => {
  test('§2.1: requests what is asked for, also what was asked for before onSubscribe, and nothing else', () => {
    const { said, subscriber, subscription, asked } = meeting();
    asked.request(2);
    asked.request(1);
    subscriber.onSubscribe(subscription());
    asked.request(4);
    asked.request(Number.POSITIVE_INFINITY);
    asked.request(1);
    expect(said).toEqual(['subscribe', 'request 3', 'request 4', `request ${Number.MAX_SAFE_INTEGER}`]);
  });

  test('§2.3: onComplete and onError call nothing, though their observer unsubscribes and asks', () => {
    for (const end of ['complete', 'error'] as const) {
      const { said, subscriber, subscription, asked, observer } = meeting();
      const leaves = () => {
        asked.request(1);
        asked.unsubscribe();
      };
      observer.complete = leaves;
      observer.error = leaves;
      subscriber.onSubscribe(subscription());
      if (end === 'complete') subscriber.onComplete();
      else subscriber.onError(new Error('end'));
      asked.request(1);
      asked.unsubscribe();
      expect(said).toEqual(['subscribe']);
    }
  });

  test('§2.5: cancels a second Subscription, and one that comes after the end or after unsubscribe', () => {
    const { said, subscriber, subscription, asked } = meeting();
    subscriber.onSubscribe(subscription());
    subscriber.onSubscribe(subscription('second '));
    asked.request(1);
    subscriber.onNext(1);
    subscriber.onComplete();
    subscriber.onSubscribe(subscription('third '));
    expect(said).toEqual(['subscribe', 'second cancel', 'request 1', 'next 1', 'complete', 'third cancel']);
    const left = meeting();
    left.asked.unsubscribe();
    left.subscriber.onSubscribe(left.subscription());
    expect(left.said).toEqual(['subscribe', 'cancel']);
  });

  test('§2.6, §2.8: unsubscribing cancels, once; what still comes is ignored', () => {
    const { said, subscriber, subscription, asked } = meeting();
    subscriber.onSubscribe(subscription());
    asked.request(3);
    asked.unsubscribe();
    asked.unsubscribe();
    asked.request(1);
    subscriber.onNext(1);
    subscriber.onError(new Error('late'));
    subscriber.onComplete();
    expect(said).toEqual(['subscribe', 'request 3', 'cancel']);
  });

  test('§2.9, §2.10: an end needs no demand, nor onSubscribe', () => {
    for (const begins of [true, false]) {
      const [one, other] = [meeting(), meeting()];
      for (const { subscriber, subscription } of [one, other]) if (begins) subscriber.onSubscribe(subscription());
      const reason = new Error('end');
      one.subscriber.onComplete();
      other.subscriber.onError(reason);
      expect([one.said, other.said, other.reasons]).toEqual([
        ['subscribe', 'complete'],
        ['subscribe', 'error'],
        [reason],
      ]);
    }
  });

  test('§2.13: null and undefined are thrown to the publisher, and told to who asks', () => {
    for (const nothing of [null, undefined] as unknown as never[]) {
      for (const signal of ['onSubscribe', 'onNext', 'onError'] as const) {
        const { said, subscriber, subscription, asked, reasons, source } = meeting();
        if (signal !== 'onSubscribe') subscriber.onSubscribe(subscription());
        asked.request(1);
        const wanted = signal === 'onSubscribe' ? [] : ['request 1', 'cancel'];
        expect(() => subscriber[signal](nothing)).toThrow('§2.13');
        expect([said, reasons]).toEqual([['subscribe', ...wanted, 'error'], source('§2.13')]);
      }
    }
  });
});

describe('fromPublisher() of a publisher that', () => {
  test('gives more than was requested: an error that names §1.1, without the surplus', () => {
    const { said, subscriber, subscription, asked, reasons, source } = meeting();
    subscriber.onSubscribe(subscription());
    asked.request(1);
    for (const value of [1, 2, 3]) subscriber.onNext(value);
    subscriber.onComplete();
    expect(said).toEqual(['subscribe', 'request 1', 'next 1', 'cancel', 'error']);
    expect(reasons).toEqual(source('§1.1'));
  });

  test('gives a value before onSubscribe: an error that names §1.9, and its Subscription is cancelled', () => {
    const { said, subscriber, subscription, asked, reasons, source } = meeting();
    asked.request(5);
    subscriber.onNext(1);
    subscriber.onSubscribe(subscription());
    expect([said, reasons]).toEqual([['subscribe', 'error', 'cancel'], source('§1.9')]);
  });

  test('goes on after its end: ignored', () => {
    const { said, subscriber, subscription, asked } = meeting();
    subscriber.onSubscribe(subscription());
    asked.request(5);
    subscriber.onComplete();
    subscriber.onNext(1);
    subscriber.onComplete();
    subscriber.onError(new Error('late'));
    expect(said).toEqual(['subscribe', 'request 5', 'complete']);
  });

  test('signals within a signal: one after the other, the end last', () => {
    const { said, subscriber, subscription, asked, observer } = meeting();
    observer.next = (value) => {
      said.push(`next ${value}`);
      if (value === 1) {
        subscriber.onNext(2);
        subscriber.onNext(3);
        subscriber.onComplete();
      }
      said.push(`end of ${value}`);
    };
    subscriber.onSubscribe(subscription());
    asked.request(5);
    subscriber.onNext(1);
    expect(said.slice(2)).toEqual(['next 1', 'end of 1', 'next 2', 'end of 2', 'next 3', 'end of 3', 'complete']);
  });

  test('recurses, 100,000 deep if it were let: one value after the other', () => {
    const publisher: Publisher<number> = {
      subscribe(subscriber) {
        let n = 0;
        subscriber.onSubscribe({
          request: () => {
            if (n < 100_000) subscriber.onNext(n++);
            else subscriber.onComplete();
          },
          cancel: () => {},
        });
      },
    };
    let [count, inside, deepest, ended] = [0, 0, 0, false];
    const asked = askOf(fromPublisher(publisher))!({
      next: () => {
        count++;
        deepest = Math.max(deepest, ++inside);
        asked.request(1);
        inside--;
      },
      error: () => {},
      complete: () => {
        ended = true;
      },
    });
    asked.request(1);
    expect([count, deepest, ended]).toEqual([100_000, 1, true]);
  });

  test('throws in subscribe(), in request() or in cancel()', async () => {
    const thrown = new Error('thrown');
    const throws = (): never => {
      throw thrown;
    };
    const seen: unknown[] = [];
    const observer = { next: () => {}, error: (reason: unknown) => seen.push(reason), complete: () => {} };
    askOf(fromPublisher({ subscribe: throws }))!(observer);
    const subscribe = (subscriber: Subscriber<unknown>) => subscriber.onSubscribe({ request: throws, cancel: throws });
    const warned = await warnings(() => askOf(fromPublisher({ subscribe }))!(observer).request(1));
    const failure = expect.objectContaining({ code: 'ERR_SOURCE', cause: thrown });
    expect(seen).toEqual([failure, failure]);
    expect(warned).toEqual([expect.stringContaining('the source of fromPublisher() failed when it had ended')]);
  });
});

describe('fromPublisher()', () => {
  const numbers = (count: number): Observable<number> =>
    fromPublisher(toPublisher(pull(() => Array.from({ length: count }, (_, n) => n))));

  test('subscribes when it is subscribed, anew each time', () => {
    const subscribe = vi.fn();
    const values = fromPublisher({ subscribe });
    expect(subscribe).not.toHaveBeenCalled();
    values.subscribe();
    values.subscribe();
    expect(subscribe).toHaveBeenCalledTimes(2);
  });

  test('is an Observable: all values, an early end, and behind operators', () => {
    const seen: unknown[] = [];
    let left = 0;
    numbers(5)
      .pipe(toArray())
      .subscribe((all) => seen.push(all));
    const publisher = toPublisher(pull(() => [1, 2, 3]).pipe(finalize(() => left++)));
    fromPublisher(publisher)
      .pipe(take(2), toArray())
      .subscribe((all) => seen.push(all));
    numbers(3)
      .pipe(
        concatMap((n) => of(n, n)),
        toArray(),
      )
      .subscribe((all) => seen.push(all));
    expect([seen, left]).toEqual([
      [
        [0, 1, 2, 3, 4],
        [1, 2],
        [0, 0, 1, 1, 2, 2],
      ],
      1,
    ]);
  });

  test.each([null, undefined, 3, {}, of(1).pipe.bind(of(1))])('refuses %o', (publisher) => {
    expect(() => fromPublisher(publisher as never)).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
  });
});
