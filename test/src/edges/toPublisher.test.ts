import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as rx from 'rxjs';
import { concat, EMPTY, finalize, NEVER, Observable, of, range, Subject, throwError } from 'rxjs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Asked } from '../../../src/demand.js';
import type { Publisher, Subscriber, Subscription } from '../../../src/edges/publisher.js';
import { toPublisher } from '../../../src/edges/toPublisher.js';
import { pull } from '../../../src/pull.js';

/** Signals as words, in order. */
class Heard implements Subscriber<unknown> {
  readonly signals: string[] = [];
  readonly reasons: unknown[] = [];
  subscription: Subscription | undefined;
  onNextDo: (value: unknown) => void = () => {};

  readonly asks: number;

  constructor(asks = 0) {
    this.asks = asks;
  }

  onSubscribe(subscription: Subscription): void {
    this.signals.push('subscribe');
    this.subscription = subscription;
    if (this.asks > 0) subscription.request(this.asks);
  }

  onNext(value: unknown): void {
    this.signals.push(`next ${value}`);
    this.onNextDo(value);
  }

  onError(reason: unknown): void {
    this.signals.push('error');
    this.reasons.push(reason);
  }

  onComplete(): void {
    this.signals.push('complete');
  }
}

function heard(publisher: Publisher<unknown>, asks = 0): Heard {
  const subscriber = new Heard(asks);
  publisher.subscribe(subscriber);
  return subscriber;
}

const sources: readonly (readonly [string, (count: number) => Observable<number>])[] = [
  ['pull', (count) => pull(() => Array.from({ length: count }, (_, n) => n + 1))],
  ['a plain Observable', (count) => range(1, count)],
];

let unhandled: unknown[];
beforeEach(() => {
  unhandled = [];
  rx.config.onUnhandledError = (reason) => unhandled.push(reason);
});
afterEach(() => {
  rx.config.onUnhandledError = null;
});
/** RxJS reports by a timer. */
const reported = async (): Promise<unknown[]> => {
  await new Promise((resolve) => setTimeout(resolve));
  return unhandled;
};

describe.each(sources)('toPublisher() of %s', (_name, values) => {
  const options = { overflow: 'buffer' } as const;

  test('C-074: of 10 values, the 3 that were requested', () => {
    const seen = heard(toPublisher(values(10), options), 3);
    expect(seen.signals).toEqual(['subscribe', 'next 1', 'next 2', 'next 3']);
    seen.subscription!.request(2);
    expect(seen.signals.slice(4)).toEqual(['next 4', 'next 5']);
  });

  test('C-075: shorter than the demand, it completes after its last value', () => {
    const seen = heard(toPublisher(values(2), options), 5);
    const all = ['subscribe', 'next 1', 'next 2', 'complete'];
    expect(seen.signals).toEqual(all);
    seen.subscription!.request(5);
    seen.subscription!.cancel();
    expect(seen.signals).toEqual(all);
  });

  test.each([0, -1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, '2' as never, 3n as never, undefined as never])(
    'C-076: request(%s) is answered by an error that names §3.9',
    (n) => {
      const seen = heard(toPublisher(values(10), options), 1);
      seen.subscription!.request(n);
      seen.subscription!.request(1);
      expect(seen.signals).toEqual(['subscribe', 'next 1', 'error']);
      expect(seen.reasons).toEqual([
        expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining('§3.9') }),
      ]);
    },
  );

  test('C-076: also within onSubscribe and within onNext, when these have returned', () => {
    const order: string[] = [];
    toPublisher(values(10), options).subscribe({
      onSubscribe(subscription) {
        subscription.request(0);
        order.push('onSubscribe returns');
      },
      onNext: () => order.push('next'),
      onError: () => order.push('error'),
      onComplete: () => order.push('complete'),
    });
    expect(order).toEqual(['onSubscribe returns', 'error']);
    const seen = new Heard(3);
    seen.onNextDo = () => {
      seen.subscription!.request(-1);
      seen.signals.push('onNext returns');
    };
    toPublisher(values(10), options).subscribe(seen);
    expect(seen.signals).toEqual(['subscribe', 'next 1', 'onNext returns', 'error']);
  });

  test('C-078: 100,000 requests of 1, each within onNext', () => {
    const seen = new Heard(1);
    let [inside, deepest] = [0, 0];
    seen.onNextDo = () => {
      deepest = Math.max(deepest, ++inside);
      seen.subscription!.request(1);
      inside--;
    };
    toPublisher(values(100_000), options).subscribe(seen);
    expect([seen.signals.length, seen.signals.at(-2), seen.signals.at(-1)]).toEqual([
      100_002,
      'next 100000',
      'complete',
    ]);
    expect(deepest).toBe(1);
  });

  test('C-079: request after cancel, and cancel again, do nothing', () => {
    const seen = heard(toPublisher(values(10), options), 1);
    for (const n of [1, 0, -1]) {
      seen.subscription!.cancel();
      seen.subscription!.request(n);
    }
    expect(seen.signals).toEqual(['subscribe', 'next 1']);
  });

  test('C-080: after cancel() the subscriber can be collected', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const publisher = toPublisher(concat(values(3), NEVER), options);
    const leave = (): readonly [WeakRef<object>, Subscription] => {
      const seen = heard(publisher, 1);
      seen.subscription!.cancel();
      return [new WeakRef(seen), seen.subscription!];
    };
    const [left, subscription] = leave();
    for (let turns = 0; turns < 20 && left.deref() !== undefined; turns++) {
      await new Promise(setImmediate);
      collect();
    }
    expect([left.deref(), subscription.request(1), publisher]).toEqual([undefined, undefined, publisher]);
  });

  test('C-082: each subscriber has a subscription of its own', () => {
    const publisher = toPublisher(values(3), options);
    const [one, other] = [heard(publisher, 1), heard(publisher, 5)];
    expect(one.signals).toEqual(['subscribe', 'next 1']);
    expect(other.signals).toEqual(['subscribe', 'next 1', 'next 2', 'next 3', 'complete']);
    one.subscription!.cancel();
    expect(heard(publisher, 1).signals).toEqual(['subscribe', 'next 1']);
  });

  test('§3.17: from Number.MAX_SAFE_INTEGER on, a demand is without end', () => {
    for (const n of [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER, 1e300]) {
      const seen = new Heard(n);
      seen.onNextDo = () => seen.subscription!.request(n);
      toPublisher(values(5), options).subscribe(seen);
      expect(seen.signals.length).toBe(7);
      expect(seen.signals.at(-1)).toBe('complete');
    }
  });
});

describe('toPublisher()', () => {
  test.each([null, undefined, 3, {}, { onSubscribe() {}, onNext() {}, onError() {} }])(
    'C-082: subscribe(%o) throws',
    (subscriber) => {
      expect(() => toPublisher(of(1)).subscribe(subscriber as never)).toThrow(
        expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining('§1.9') }),
      );
    },
  );

  test('C-082: onSubscribe comes first, also before an error and before an end', () => {
    const reason = new Error('no');
    const failed = heard(toPublisher(throwError(() => reason)));
    expect([failed.signals, failed.reasons]).toEqual([['subscribe', 'error'], [reason]]);
    expect(heard(toPublisher(EMPTY)).signals).toEqual(['subscribe', 'complete']);
  });

  test('C-082: an error without a reason gets one', () => {
    for (const nothing of [null, undefined]) {
      const seen = heard(toPublisher(throwError(() => nothing)));
      expect(seen.reasons).toEqual([expect.objectContaining({ code: 'ERR_SOURCE', cause: nothing })]);
    }
  });

  test('a value that is null or undefined ends the subscription, and the message says the cure', () => {
    for (const nothing of [null, undefined]) {
      let left = 0;
      const values = concat(of(1, nothing, 2), NEVER).pipe(finalize(() => left++));
      const seen = heard(toPublisher(values), 5);
      expect([seen.signals, left]).toEqual([['subscribe', 'next 1', 'error'], 1]);
      expect(seen.reasons).toEqual([
        expect.objectContaining({ code: 'ERR_VALUE', message: expect.stringMatching(/§2\.13.*filter it out/) }),
      ]);
    }
  });

  test('the source is subscribed when onSubscribe has returned, and not by who cancels there', () => {
    const order: string[] = [];
    const values = new Observable<number>(() => {
      order.push('source');
    });
    const subscriber = (then: (subscription: Subscription) => void): Subscriber<number> => ({
      onSubscribe(subscription) {
        then(subscription);
        order.push('onSubscribe returns');
      },
      onNext() {},
      onError() {},
      onComplete() {},
    });
    toPublisher(values).subscribe(subscriber((subscription) => subscription.request(1)));
    expect(order).toEqual(['onSubscribe returns', 'source']);
    toPublisher(values).subscribe(subscriber((subscription) => subscription.cancel()));
    expect(order).toEqual(['onSubscribe returns', 'source', 'onSubscribe returns']);
  });

  test('cancel() leaves the source, once', () => {
    let left = 0;
    const seen = heard(toPublisher(NEVER.pipe(finalize(() => left++))), 1);
    expect(left).toBe(0);
    seen.subscription!.cancel();
    seen.subscription!.cancel();
    expect(left).toBe(1);
  });

  test.each(['onSubscribe', 'onNext', 'onError', 'onComplete'] as const)(
    'what %s throws ends its own subscription alone, and is reported',
    async (signal) => {
      const source = new Subject<number>();
      const publisher = toPublisher(source);
      const thrown = new Error(`thrown by ${signal}`);
      const bad = new Heard(5);
      bad[signal] = () => {
        throw thrown;
      };
      publisher.subscribe(bad);
      const good = heard(publisher, 5);
      source.next(1);
      source.next(2);
      if (signal === 'onError') source.error(new Error('end'));
      else source.complete();
      expect(good.signals).toEqual(['subscribe', 'next 1', 'next 2', signal === 'onError' ? 'error' : 'complete']);
      if (signal === 'onNext') expect(bad.signals).toEqual(['subscribe']);
      expect(await reported()).toEqual([thrown]);
    },
  );

  test('an aborted signal is an error, after the signal that is running', () => {
    const aborter = new AbortController();
    const seen = new Heard(5);
    seen.onNextDo = () => {
      aborter.abort(new Error('enough'));
      seen.signals.push('onNext returns');
    };
    const publisher = toPublisher(
      pull(() => [1, 2, 3]),
      { signal: aborter.signal },
    );
    publisher.subscribe(seen);
    expect([seen.signals, seen.reasons]).toEqual([
      ['subscribe', 'next 1', 'onNext returns', 'error'],
      [aborter.signal.reason],
    ]);
    expect(heard(publisher, 1).signals).toEqual(['subscribe', 'error']);
  });

  test('a plain Observable overflows as the option says', () => {
    const few = heard(toPublisher(range(1, 10), { overflow: { strategy: 'dropOldest', capacity: 2 } }));
    few.subscription!.request(5);
    expect(few.signals).toEqual(['subscribe', 'next 9', 'next 10', 'complete']);
    const [source, seen] = [new Subject<number>(), new Heard(1)];
    toPublisher(source, { overflow: { capacity: 2 } }).subscribe(seen);
    for (let n = 1; n < 6; n++) source.next(n);
    seen.subscription!.request(5);
    expect(seen.signals).toEqual(['subscribe', 'next 1', 'next 2', 'next 3', 'error']);
    expect(seen.reasons).toEqual([expect.objectContaining({ code: 'ERR_OVERFLOW' })]);
  });

  test('an Observable that is asked is asked for what is requested, and nothing else', () => {
    const asked: number[] = [];
    const values = new Asked<number>(() => ({ request: (n) => asked.push(n), unsubscribe: () => {} }));
    const seen = heard(toPublisher(values), 2);
    seen.subscription!.request(3);
    expect(asked).toEqual([2, 3]);
  });

  test('what its source throws instead of saying becomes onError', () => {
    const reason = new Error('thrown');
    const throws = (): never => {
      throw reason;
    };
    for (const ask of [throws, () => ({ request: throws, unsubscribe: () => {} })]) {
      const seen = heard(toPublisher(new Asked<number>(ask)), 1);
      expect([seen.signals, seen.reasons]).toEqual([['subscribe', 'error'], [reason]]);
    }
  });

  test.each([
    [3, undefined, 'takes an Observable'],
    [of(1), null, 'the options of toPublisher()'],
    [of(1), { overlow: 'latest' }, 'did you mean overflow?'],
    [of(1), { signal: 3 }, 'signal of toPublisher()'],
  ])('refuses %o with %o', (values, options, message) => {
    expect(() => toPublisher(values as never, options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) }),
    );
  });
});
