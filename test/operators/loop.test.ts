/** The laws of the loop: value by value, depth first, ended from inside, and what an error leaves. */

import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import * as menuModule from '../../operators/index.js';
import { catchError, concatMap, map, mergeMap, take, takeWhile, tap, toArray } from '../../operators/index.js';
import { isMillraceError } from '../../runtime/errors.js';
import { Bench, ofNumbers, Plain } from './harness.js';

const menu = menuModule as unknown as typeof rx;
type Numbers = Observable<number>;

/** An iterable that writes down what is asked of it. */
function traced(log: string[], name: string, items: Iterable<number>): Iterable<number> {
  return {
    [Symbol.iterator]() {
      const inner = items[Symbol.iterator]();
      return {
        next() {
          const result = inner.next();
          log.push(`${name} ${result.done === true ? 'done' : `gives ${result.value}`}`);
          return result;
        },
        return(value?: unknown) {
          log.push(`${name} returned`);
          return { done: true as const, value: value as undefined };
        },
      };
    },
  };
}

function* endless(): Generator<number> {
  for (let n = 0; ; n++) yield n;
}

describe('value by value', () => {
  test('law: each output goes through all steps before the next one is made', () => {
    const log: string[] = [];
    const bench = new Bench(
      ofNumbers((s) =>
        s.pipe(
          mergeMap((n) => traced(log, `outer ${n}`, [n, n + 1])),
          concatMap((n) => traced(log, `inner ${n}`, [n * 10])),
          tap((n) => log.push(`end ${n}`)),
        ),
      ),
    ).push(1);
    expect(log).toEqual([
      'outer 1 gives 1',
      'inner 1 gives 10',
      'end 10',
      'inner 1 done',
      'outer 1 gives 2',
      'inner 2 gives 20',
      'end 20',
      'inner 2 done',
      'outer 1 done',
    ]);
    expect(bench.values()).toEqual([10, 20]);
  });

  test('law: without room an iterator is asked for nothing more', () => {
    const log: string[] = [];
    const bench = new Bench(
      ofNumbers((s) => s.pipe(mergeMap(() => traced(log, 'it', [1, 2, 3])))),
      {
        onOutput: (host) => {
          host.room = false;
        },
      },
    ).push(0, 0);
    expect(log).toEqual(['it gives 1']);
    bench.grant();
    expect(log).toEqual(['it gives 1', 'it gives 2']);
    expect([bench.program.suspended, bench.waiting]).toEqual([true, 1]);
  });

  test('an endless iterator costs one value at a time', () => {
    const bench = new Bench(
      ofNumbers((s) => s.pipe(mergeMap(() => endless()))),
      {
        onOutput: (host) => {
          host.room = host.log.length % 10 !== 0;
        },
      },
    ).push(0);
    for (let turn = 1; turn <= 5; turn++) {
      expect(bench.values()).toHaveLength(10 * turn);
      bench.grant();
    }
  });
});

describe('ended from inside', () => {
  test('law: take ends the loop, returns the running iterators from the inside out and discards the rest', () => {
    const run =
      (o: typeof rx): ((s: Numbers, log: string[]) => Numbers) =>
      (s, log) =>
        s.pipe(
          o.mergeMap((n) => traced(log, 'outer', [n, n + 1])),
          o.mergeMap((n) => traced(log, 'inner', [n * 10, n * 10 + 1])),
          o.take(1),
          o.mergeMap((n) => traced(log, 'behind', [n, n])),
        );
    const [expected, log]: [string[], string[]] = [[], []];
    new Plain(ofNumbers((s) => run(rx)(s, expected))).push(1, 2);
    const bench = new Bench(ofNumbers((s) => run(menu)(s, log))).push(1, 2);
    expect(log).toEqual(expected);
    expect([bench.values(), bench.end(), bench.program.finished]).toEqual([[10, 10], 'complete', true]);
  });

  test.each([
    ['take(0)', take<number>(0)],
    ['takeWhile', takeWhile<number>(() => false)],
  ])('%s: the executor is finished, and completes once', (_, end) => {
    const bench = new Bench(ofNumbers((s) => s.pipe(end))).push(1, 2).complete();
    expect(bench.log).toEqual([{ at: 0, out: 'output', complete: true }]);
    expect(bench.program.finished).toBe(true);
  });

  test('law: a suspended value behind take still comes out, and the end after it', () => {
    const bench = new Bench(
      ofNumbers((s) =>
        s.pipe(
          take(1),
          mergeMap((n) => [n, n, n]),
        ),
      ),
      {
        onOutput: (host) => {
          host.room = false;
        },
      },
    ).push(1);
    expect([bench.values(), bench.end(), bench.program.finished]).toEqual([[1], undefined, true]);
    bench.grant().grant().grant();
    expect([bench.values(), bench.end()]).toEqual([[1, 1, 1], 'complete']);
  });

  test('an outlet that nobody takes any more ends only its own branch', () => {
    const log: string[] = [];
    const bench = new Bench(
      ofNumbers((s) => ({
        a: s.pipe(mergeMap((n) => traced(log, 'a', [n, n]))),
        b: s.pipe(tap({ unsubscribe: () => log.push('b unsubscribed') })),
      })),
    ).push(1);
    bench.program.closeOutlet(1);
    bench.push(2);
    expect([bench.values('a'), bench.values('b')]).toEqual([[1, 1, 2, 2], [1]]);
    expect(log).toContain('b unsubscribed');
    bench.program.closeOutlet(0);
    expect(bench.program.finished).toBe(true);
  });
});

describe('errors', () => {
  const throwing = (at: number): MonoTypeOperatorFunction<number> =>
    map((n) => {
      if (n === at) throw new Error('thrown');
      return n;
    });

  test('law: the outputs of earlier values are delivered, then the error; it names its step and line', () => {
    const bench = new Bench(
      ofNumbers((s) =>
        s.pipe(
          mergeMap((n) => [n, n + 1, n + 2]),
          throwing(2),
          map(String),
        ),
      ),
    ).push(1);
    expect(bench.values()).toEqual(['1']);
    expect(bench.failure).toMatchObject({ arose: 'step', place: { operator: 'map' }, reason: new Error('thrown') });
    expect(bench.failure?.place.at).toMatch(/loop\.test\.ts:\d+:\d+$/);
  });

  test('law: steps behind it see the error as in RxJS, and running iterators are returned', () => {
    const log: string[] = [];
    const bench = new Bench(
      ofNumbers((s) =>
        s.pipe(
          mergeMap((n) => traced(log, 'it', [n, 2, 3])),
          throwing(2),
          catchError(() => [7, 8]),
          toArray(),
        ),
      ),
    ).push(1);
    expect([bench.values(), bench.end()]).toEqual([[[1, 7, 8]], 'complete']);
    expect(log.at(-1)).toBe('it returned');
  });

  test('an error of the source is told from one of a step, and reaches the steps', () => {
    const source = new Bench(ofNumbers((s) => s.pipe(map(String)))).push(1).error('lost');
    expect([source.values(), source.failure]).toMatchObject([['1'], { arose: 'source', reason: 'lost' }]);
    const caught = new Bench(ofNumbers((s) => s.pipe(catchError((reason) => [reason])))).error('lost');
    expect([caught.values(), caught.end()]).toEqual([['lost'], 'complete']);
  });

  test('an operator that throws while it subscribes is an error of that step', () => {
    const broken = (): Observable<never> => {
      throw new Error('broken');
    };
    let planned = false;
    const operator = (s: Numbers): Numbers => (planned ? broken() : new rx.Observable(() => void s));
    const bench = new Bench(
      ofNumbers((s) => {
        const result = s.pipe(operator);
        planned = true;
        return result;
      }),
    );
    expect(bench.failure).toMatchObject({ reason: new Error('broken'), place: { operator: 'step 1' } });
  });

  test.each([
    ['retry()', rx.retry<number>()],
    ['catchError that starts again', rx.catchError<number, Numbers>((_, caught) => caught)],
  ])('%s ends with ERR_NOT_REPEATABLE instead of trying for ever', (_, operator) => {
    const bench = new Bench(ofNumbers((s) => s.pipe(throwing(2), operator))).push(1, 2, 3);
    expect(bench.values()).toEqual([1]);
    const { reason } = bench.failure as { readonly reason: unknown };
    expect(isMillraceError(reason) && [reason.code, reason.operator]).toEqual(['ERR_NOT_REPEATABLE', 'step 2']);
  });
});
