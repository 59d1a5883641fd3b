import fc from 'fast-check';
import { EMPTY, map, Observable, of, Subject, type Subscriber, take, throwError } from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import { Demand, type DemandSubscription } from '../../runtime/demand.js';
import { Asked, askOf, demand, observableOf } from '../../src/demand.js';
import { askable, checkEdge } from '../../src/edges/edge.js';
import { pull } from '../../src/pull.js';
import { seenBy } from './fixtures/asking.js';
import { counted, type Kind, kinds } from './fixtures/kinds.js';

const edge = checkEdge({ overflow: 'buffer' }, 'toTest()');

/** Asks `length` values of a kind; `until` resolves when that many were seen and, at the end, one end. */
function asking(kind: Kind, length: number, onNext: (value: unknown, asked: DemandSubscription) => void = () => {}) {
  const { values, start } = kind(length);
  let requested = 0;
  let within = false;
  let notify = (): void => {};
  // What is thrown within `next` is not always seen.
  const breaches: unknown[] = [];
  const { observer, ...seen } = seenBy((value) => {
    if (within || seen.values.length > requested || seen.ends.length > 0) breaches.push(value);
    within = true;
    onNext(value, asked);
    within = false;
    notify();
  });
  const told =
    <A extends unknown[]>(tell: (...args: A) => void) =>
    (...args: A): void => {
      tell(...args);
      notify();
    };
  const heard = { next: observer.next, error: told(observer.error), complete: told(observer.complete) };
  const inner = askable(values, edge, 'toTest()')(heard);
  const asked: DemandSubscription = {
    request(n) {
      requested += n;
      inner.request(n);
    },
    unsubscribe: () => inner.unsubscribe(),
  };
  start?.();
  const until = (count: number, ends = 0): Promise<void> =>
    new Promise((resolve) => {
      notify = () => {
        if (seen.values.length >= count && seen.ends.length >= ends) resolve();
      };
      notify();
    });
  return { ...seen, breaches, asked, until };
}

describe.each(Object.entries(kinds))('%s', (_name, kind) => {
  test('law: never more than was asked for, never less, in order, and the end behind it (C-074, C-075)', async () => {
    const requests = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 12 }), requests, async (length, script) => {
        const { values, ends, breaches, asked, until } = asking(kind, length);
        let sum = 0;
        for (const n of script) {
          asked.request(n);
          sum += n;
          await until(Math.min(sum, length));
        }
        expect(values).toEqual(counted(Math.min(sum, length)));
        if (sum < length) asked.unsubscribe();
        else {
          asked.request(1);
          await until(length, 1);
          expect(ends).toEqual(['complete']);
        }
        asked.request(1);
        expect([values.length, breaches]).toEqual([Math.min(sum, length), []]);
      }),
      { numRuns: 25 },
    );
  });

  test('100,000 requests of 1, each within next, nest nothing (C-078)', async () => {
    const { values, ends, breaches, asked, until } = asking(kind, 100_000, (_value, to) => to.request(1));
    asked.request(1);
    await until(100_000, 1);
    expect([values.length, values.at(-1), ends, breaches]).toEqual([100_000, 99_999, ['complete'], []]);
  });

  test('left within next, nothing comes any more; left again and asked again, nothing happens (C-079)', async () => {
    const { values, ends, breaches, asked, until } = asking(kind, 10, (value, to) => {
      if (value === 2) to.unsubscribe();
    });
    asked.request(Number.POSITIVE_INFINITY);
    await until(3);
    asked.unsubscribe();
    for (const n of [1, 0, Number.NaN]) asked.request(n);
    // What is under way comes within one turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect([values, ends, breaches]).toEqual([[0, 1, 2], [], []]);
  });

  test('a wrong request is refused where it is made (C-076)', () => {
    const { asked } = asking(kind, 10);
    for (const n of [0, -1, 1.5]) expect(() => asked.request(n)).toThrow('request() takes a whole number above 0');
    asked.unsubscribe();
  });
});

describe('an Observable that can be asked', () => {
  const endless = (log: string[]): Asked<number> =>
    new Asked((observer) => {
      const left = new Demand();
      let next = 0;
      let over = false;
      left.onMore = () => {
        log.push(`asked for ${left.left}`);
        for (; left.left > 0 && !over; left.spend()) observer.next(next++);
      };
      return {
        request: (n) => left.request(n),
        unsubscribe() {
          over = true;
          log.push('left');
        },
      };
    });

  test('carries the symbol all copies know; an operator behind it drops it', () => {
    const asked = endless([]);
    expect(demand).toBe(Symbol.for('millrace.demand/1'));
    expect(Object.keys(asked)).not.toContain(demand);
    expect(typeof askOf(asked)).toBe('function');
    expect([askOf(asked.pipe(map((x) => x))), askOf(of(1)), askOf(asked.pipe()) !== undefined]).toEqual([
      undefined,
      undefined,
      true,
    ]);
    expect([typeof askOf(pull(() => [1])), askOf(pull(() => [1]).pipe(take(1)))]).toEqual(['function', undefined]);
  });

  test('is asked on itself, whoever made it', () => {
    const foreign = Object.assign(new Observable<number>(), {
      first: 7,
      [demand](this: { first: number }, observer: { next(value: number): void }): DemandSubscription {
        return { request: () => observer.next(this.first), unsubscribe: () => {} };
      },
    });
    const { observer, values } = seenBy();
    askOf(foreign)?.(observer).request(1);
    expect(values).toEqual([7]);
  });

  test('subscribed, it is asked without end, and left when that is over', () => {
    const log: string[] = [];
    const values: number[] = [];
    endless(log)
      .pipe(take(3))
      .subscribe((value) => values.push(value));
    expect([values, log]).toEqual([
      [0, 1, 2],
      ['asked for Infinity', 'left'],
    ]);
  });

  test('one that fails or ends before it is asked is not asked', () => {
    const request = vi.fn();
    const unsubscribe = vi.fn();
    const log: unknown[] = [];
    for (const end of ['error', 'complete'] as const)
      new Asked((observer) => {
        observer[end]('failed');
        return { request, unsubscribe };
      }).subscribe({ error: (reason) => log.push(reason), complete: () => log.push('complete') });
    expect([log, request.mock.calls.length]).toEqual([['failed', 'complete'], 0]);
  });
});

describe('what stands for an Observable', () => {
  test('an Observable stands for itself', () => {
    for (const values of [of(1), EMPTY, new Subject<number>(), throwError(() => 1)])
      expect(observableOf(values, 'toTest()')).toBe(values);
  });

  test('what implements Symbol.observable, by the name of a day before or after RxJS was loaded', () => {
    const later = Symbol('observable');
    const own = Object.getOwnPropertyDescriptor(Symbol, 'observable');
    Object.defineProperty(Symbol, 'observable', { value: later, configurable: true });
    try {
      for (const name of ['@@observable', later]) {
        const { observer, values, ends } = seenBy();
        const foreign = { first: 1, [name]: (): Observable<number> => of(1, 2) };
        observableOf(foreign, 'toTest()').subscribe(observer);
        expect([values, ends]).toEqual([[1, 2], ['complete']]);
      }
    } finally {
      if (own === undefined) Reflect.deleteProperty(Symbol, 'observable');
      else Object.defineProperty(Symbol, 'observable', own);
    }
  });

  test('its method may throw or return no Observable: that is an error of the source', () => {
    for (const foreign of [() => undefined, () => expect.unreachable()]) {
      const { observer, ends } = seenBy();
      askable({ '@@observable': foreign }, edge, 'toTest()')(observer);
      expect(ends).toEqual([expect.any(Error)]);
    }
  });

  test('an Observable of another RxJS, which does not know our subscribers, is left by what it returns', () => {
    const left = vi.fn();
    let target: Subscriber<number> | undefined;
    const foreign = {
      lift() {},
      subscribe({ next }: Subscriber<number>) {
        target = { next } as Subscriber<number>;
        return { unsubscribe: left };
      },
    };
    const { observer, ends } = seenBy();
    const asked = askable(foreign, edge, 'toTest()')(observer);
    expect([target === undefined, left.mock.calls.length]).toEqual([false, 0]);
    asked.unsubscribe();
    expect([left.mock.calls.length, ends]).toEqual([1, []]);
  });
});
