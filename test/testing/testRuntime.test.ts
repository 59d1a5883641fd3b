/**
 * A topology under marbles, as any operator: inline, and on simulated threads in the scheduler's own time.
 */
import { gather, keyBy, type MillraceError, shuffle, topology } from 'millrace';
import { bufferTime, concatMap, countByKey, delay, filter, map, take } from 'millrace/operators';
import { captured, feeder, testClock, testRuntime } from 'millrace/testing';
import { catchError, firstValueFrom, from, type Observable, type OperatorFunction, of, timer, toArray } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, test } from 'vitest';

const counted = topology(
  import.meta.url,
  (words$: Observable<string>) =>
    words$.pipe(
      shuffle({ parallelism: 2 }),
      filter((word) => word !== 'x'),
      keyBy((word) => word, { parallelism: 2 }),
      countByKey(),
      gather(),
      map(([word, count]) => `${word}${count}`),
    ),
  { name: 'counted' },
);
const late = topology(
  import.meta.url,
  (values$: Observable<string>) => values$.pipe(shuffle(), delay(3), gather(), take(3)),
  { name: 'late' },
);
const timed = topology(
  import.meta.url,
  (values$: Observable<string>) =>
    values$.pipe(
      shuffle(),
      concatMap((value) => timer(2).pipe(map(() => value))),
      bufferTime(5),
      gather(),
      map((values) => values.join('')),
    ),
  { name: 'timed' },
);
const failing = topology(
  import.meta.url,
  (values$: Observable<string>) =>
    values$.pipe(
      shuffle(),
      map((value) => {
        if (value === 'x') throw new Error('no x');
        return value;
      }),
    ),
  { name: 'failing' },
);

const runtime = testRuntime();
type Words = OperatorFunction<string, string>;
const paths: readonly (readonly [string, (topology: typeof late) => Words])[] = [
  ['inline', (topology) => (source) => topology.inline(source)],
  ['on simulated threads', (topology) => topology({ runtime })],
];

function marbles(check: (helpers: Parameters<Parameters<TestScheduler['run']>[0]>[0]) => void): void {
  new TestScheduler((actual, expected) => expect(actual).toEqual(expected)).run(check);
}

describe.each(paths)('marbles, %s', (_, on) => {
  test('values arrive in the frame they were sent in', () => {
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot('-a-x-b-a-|');
      const seen = source.pipe(on(counted));
      expectObservable(seen).toBe('-a---b-c-|', { a: 'a1', b: 'b1', c: 'a2' });
      expectSubscriptions(source.subscriptions).toBe('^--------!');
    });
  });

  test('time within steps is the time of the scheduler', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b-c-d-e-|');
      expectObservable(source.pipe(on(late))).toBe('---a-b-(c|)');
      expectSubscriptions(source.subscriptions).toBe('^------!');
    });
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('(ab)----|').pipe(on(timed))).toBe('-----a--(b|)', { a: 'ab', b: '' });
    });
  });

  test('an error of the input, and unsubscribing', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a-b-c-d');
      expectObservable(source.pipe(on(late)), '^----!').toBe('---a--');
      expectSubscriptions(source.subscriptions).toBe('^----!');
    });
  });
});

describe('marbles, on simulated threads', () => {
  test('an error of a step arrives as it does from threads', () => {
    marbles(({ cold, expectObservable }) => {
      const codes$ = cold('a-x-b|').pipe(
        failing({ runtime }),
        catchError((error: MillraceError) => of(error.code)),
      );
      expectObservable(codes$).toBe('a-(e|)', { a: 'a', e: 'ERR_OPERATOR' });
    });
  });

  test('what waits for company arrives when its batch leaves: full, by age, at the end', () => {
    marbles(({ cold, expectObservable }) => {
      const batches = { 'shuffle-1': 1, output: { size: 2, flushMs: 5, idle: false } };
      const seen = cold('a--a-----b----------c--|').pipe(failing({ runtime, batches }));
      expectObservable(seen).toBe('---(aa)-------b--------(c|)');
    });
  });

  test('a runtime serves one scheduler after the other, each from 0 on, and a clock', () => {
    for (let i = 0; i < 2; i++) {
      marbles(({ cold, expectObservable }) => {
        expectObservable(cold('-----a-b-c-|').pipe(late({ runtime }))).toBe('--------a-b-(c|)');
      });
    }
    const clock = testClock();
    try {
      const input = feeder<string>();
      const seen = captured(input.source.pipe(late({ runtime })));
      input.next('a');
      clock.advance(2);
      expect(seen.values).toEqual([]);
      clock.advance(1);
      expect(seen.values).toEqual(['a']);
      input.complete();
      clock.advance(3);
      expect(seen.end).toBe('complete');
    } finally {
      clock[Symbol.dispose]();
    }
  });

  test('without a virtual time it runs in real time', async () => {
    const values = await firstValueFrom(from(['a', 'b', 'c', 'd']).pipe(late({ runtime }), toArray()));
    expect(values).toEqual(['a', 'b', 'c']);
  });
});
