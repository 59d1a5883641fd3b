import fc from 'fast-check';
import { take, toArray } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { DemandObserver, DemandSubscription } from '../../../runtime/demand.js';
import { askOf } from '../../../src/demand.js';
import { fromRequest, type RequestSink } from '../../../src/edges/fromRequest.js';
import { warnings } from './warned.js';

type Start<T> = Parameters<typeof fromRequest<T>>[0];

/** Asks it; what is heard, in order. */
function asking<T>(start: Start<T>, next: (value: T, asked: DemandSubscription) => void = () => {}) {
  const heard: string[] = [];
  const reasons: unknown[] = [];
  const observer: DemandObserver<T> = {
    next: (value) => {
      heard.push(`${value}`);
      next(value, asked);
    },
    error: (reason) => {
      heard.push('error');
      reasons.push(reason);
    },
    complete: () => heard.push('complete'),
  };
  const asked: DemandSubscription = askOf(fromRequest(start))!(observer);
  return { heard, reasons, asked };
}

/** Counts up when asked, to `count`. */
const counting =
  (count: number, log: string[] = []): Start<number> =>
  (sink) => {
    let n = 0;
    return {
      request: (more) => {
        log.push(`request ${more}`);
        for (let left = Math.min(more, count - n); left > 0; left--) sink.next(++n);
        if (n === count) sink.complete();
      },
      cancel: () => log.push('cancel'),
    };
  };

describe('fromRequest()', () => {
  test('asks for what it is asked for; values come within request()', () => {
    const log: string[] = [];
    const { heard, asked } = asking(counting(5, log));
    asked.request(2);
    asked.request(1);
    expect([heard, log]).toEqual([
      ['1', '2', '3'],
      ['request 2', 'request 1'],
    ]);
    asked.request(Number.POSITIVE_INFINITY);
    asked.request(1);
    asked.unsubscribe();
    expect([heard, log]).toEqual([
      ['1', '2', '3', '4', '5', 'complete'],
      ['request 2', 'request 1', 'request Infinity'],
    ]);
  });

  test('values may come later', () => {
    let sink!: RequestSink<number>;
    const { heard, asked } = asking<number>((given) => {
      sink = given;
      return { request: () => {}, cancel: () => {} };
    });
    asked.request(2);
    expect(heard).toEqual([]);
    sink.next(1);
    sink.next(2);
    sink.complete();
    expect(heard).toEqual(['1', '2', 'complete']);
  });

  test('what is asked for within next comes when it has returned, 100,000 times', () => {
    let [inside, deepest] = [0, 0];
    const { heard, asked } = asking(counting(100_000), (_, own) => {
      deepest = Math.max(deepest, ++inside);
      own.request(1);
      inside--;
    });
    asked.request(1);
    expect([heard.length, heard.at(-1), deepest]).toEqual([100_001, 'complete', 1]);
  });

  test('more than was requested is ERR_SOURCE, which says the cure; cancelled once, and nothing after', () => {
    const cancels: string[] = [];
    let sink!: RequestSink<number>;
    const { heard, reasons, asked } = asking<number>((given) => {
      sink = given;
      return { request: () => {}, cancel: () => cancels.push('cancel') };
    });
    asked.request(1);
    for (const value of [1, 2, 3]) sink.next(value);
    sink.error(new Error('late'));
    asked.unsubscribe();
    expect([heard, cancels]).toEqual([['1', 'error'], ['cancel']]);
    expect(reasons).toEqual([
      expect.objectContaining({
        code: 'ERR_SOURCE',
        message: expect.stringContaining('no more than request() asked for'),
      }),
    ]);
  });

  test('a value within start() is one too many, and the source is cancelled when it is there', () => {
    const cancels: string[] = [];
    const { heard, asked } = asking<number>((sink) => {
      sink.next(1);
      return { request: () => cancels.push('request'), cancel: () => cancels.push('cancel') };
    });
    asked.request(1);
    expect([heard, cancels]).toEqual([['error'], ['cancel']]);
  });

  test('an end may come within start(), and is not followed by cancel()', () => {
    for (const end of ['complete', 'error'] as const) {
      const calls: string[] = [];
      const { heard, asked } = asking<number>((sink) => {
        if (end === 'complete') sink.complete();
        else sink.error(new Error('end'));
        return { request: () => calls.push('request'), cancel: () => calls.push('cancel') };
      });
      asked.request(1);
      asked.unsubscribe();
      expect([heard, calls]).toEqual([[end], []]);
    }
  });

  test('what start() or request() throws is ERR_SOURCE with the cause; what cancel() throws is a warning', async () => {
    const thrown = new Error('thrown');
    const throws = (): never => {
      throw thrown;
    };
    const failure = [expect.objectContaining({ code: 'ERR_SOURCE', cause: thrown })];
    expect(asking(throws).reasons).toEqual(failure);
    const { reasons, asked } = asking(() => ({ request: throws, cancel: () => {} }));
    asked.request(1);
    expect(reasons).toEqual(failure);
    const warned = await warnings(() => asking(() => ({ request: () => {}, cancel: throws })).asked.unsubscribe());
    expect(warned).toEqual([expect.stringContaining('the source of fromRequest() failed when it had ended')]);
  });

  test.each([undefined, null, 3, {}, { request() {} }])('start() that returns %o is ERR_OPTION', (source) => {
    expect(asking((() => source) as never).reasons).toEqual([
      expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining('{ request(n), cancel() }') }),
    ]);
  });

  test('is an Observable', () => {
    const [seen, log]: [unknown[], string[]] = [[], []];
    fromRequest(counting(3))
      .pipe(toArray())
      .subscribe((all) => seen.push(all));
    fromRequest(counting(10, log))
      .pipe(take(2), toArray())
      .subscribe((all) => seen.push(all));
    expect([seen, log]).toEqual([
      [
        [1, 2, 3],
        [1, 2],
      ],
      ['request Infinity', 'cancel'],
    ]);
  });

  test.each([undefined, null, {}, 'start'])('refuses %o', (start) => {
    expect(() => fromRequest(start as never)).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
  });

  test('law: whoever asks, leaves and gives in whatever order, a source is asked for the sum, gives that at most, and is left once', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('request' as const), n: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant('give' as const), n: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constantFrom('leave' as const, 'complete' as const, 'error' as const), n: fc.constant(0) }),
    );
    const law = (steps: readonly { kind: string; n: number }[], withinNext: readonly number[]): void => {
      let sink!: RequestSink<number>;
      let [passed, cancels, given, asked, lateCancel] = [0, 0, 0, 0, false];
      // The model: what is left to give, and whether it is over.
      let [left, over, ended, delivered] = [0, false, false, 0];
      const { heard, asked: own } = asking<number>(
        (to) => {
          sink = to;
          return {
            request: (n) => {
              passed += n;
            },
            cancel: () => {
              cancels++;
              lateCancel ||= ended;
            },
          };
        },
        (_, subscription) => {
          const more = withinNext[heard.length - 1];
          if (more !== undefined) subscription.request(more);
        },
      );
      for (const { kind, n } of steps) {
        if (kind === 'request') {
          own.request(n);
          if (!over) [asked, left] = [asked + n, left + n];
        } else if (kind === 'give') {
          for (let i = 0; i < n; i++) {
            sink.next(given++);
            if (over) continue;
            if (left === 0) over = true;
            else {
              const more = withinNext[delivered++] ?? 0;
              [asked, left] = [asked + more, left - 1 + more];
            }
          }
        } else if (kind === 'leave') {
          own.unsubscribe();
          over = true;
        } else {
          if (kind === 'complete') sink.complete();
          else sink.error(new Error('end'));
          ended ||= !over;
          over = true;
        }
      }
      own.unsubscribe();
      expect(passed).toBe(asked);
      expect(heard.filter((word) => /\d/.test(word)).length).toBe(delivered);
      expect(cancels).toBe(ended ? 0 : 1);
      expect(lateCancel).toBe(false);
    };
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 5 }), law),
      { numRuns: 500 },
    );
  });
});
