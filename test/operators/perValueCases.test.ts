/** perValue, case by case: demand, ends, errors, what cannot be kept out, and what is refused. */

import * as rx from 'rxjs';
import { type Observable, type OperatorFunction, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { countByKey, map, mergeWith, perValue, take } from '../../operators/index.js';
import { keyBy } from '../../operators/keyBy.js';
import { captured } from '../../src/testing/captured.js';
import { chained } from '../threads/fixtures/perValue.js';
import { Bench, ofNumbers, refusal, said } from './harness.js';
import { course, inTime, nothing } from './perValueModel.js';

describe('in order', () => {
  test('the first value that fails, in order, ends it; nothing is opened behind one that has failed', () => {
    const opened: number[] = [];
    const failing: OperatorFunction<number, number> = (value$) =>
      value$.pipe(
        rx.mergeMap((n) => {
          opened.push(n);
          return n === 0 ? rx.timer(9).pipe(rx.map(() => n)) : rx.throwError(() => `failed ${n}`);
        }),
      );
    const build = (s: Observable<number>): Observable<number> => s.pipe(perValue(failing, { concurrency: 3 }));
    const plain = course(() => build(rx.range(0, 10)));
    expect([plain, opened.splice(0)]).toEqual([{ outputs: [[9, 0]], endMs: 9, end: 'failed 1' }, [0, 1]]);
    inTime((clock) => {
      const bench = new Bench(ofNumbers(build)).push(0, 1, 2, 3, 4);
      expect([bench.waiting > 0, bench.end()]).toEqual([true, undefined]);
      clock.advance(9);
      expect([bench.values(), bench.end()]).toEqual([[0], 'failed 1']);
    });
    expect(opened).toEqual([0, 1]);
  });

  test('an operator that throws when it is applied, or gives no stream, fails its value', () => {
    const throwing = perValue<number, number>(() => {
      throw 'applied';
    });
    expect(captured(rx.of(1).pipe(throwing)).end).toEqual({ error: 'applied' });
    const none = perValue<number, number>((() => undefined) as never);
    expect(String((captured(rx.of(1).pipe(none)).end as { error: unknown }).error)).toContain('TypeError');
    const bench = new Bench(ofNumbers((s) => s.pipe(throwing))).push(1);
    expect([bench.end(), bench.failure?.place.operator]).toEqual(['applied', 'perValue']);
  });

  test('what is emitted while parked outputs are handed over comes behind them', () => {
    const [first, second] = [new Subject<string>(), new Subject<string>()];
    const step = perValue<number, string>((value$) => value$.pipe(rx.mergeMap((n) => (n === 0 ? first : second))));
    const answering = rx.tap<string>((text) => {
      if (text === 'b1') second.next('answer');
    });
    const got: string[] = [];
    rx.of(0, 1)
      .pipe(step, answering)
      .subscribe((text) => got.push(text));
    const bench = new Bench(ofNumbers((s) => s.pipe(step, answering))).push(0, 1);
    for (const text of ['b1', 'b2']) second.next(text);
    first.next('a');
    first.complete();
    expect(got).toEqual(['a', 'b1', 'b2', 'answer', 'answer']);
    expect(bench.values()).toEqual(got);
  });

  test('thousands of values that are through at once are not as many calls deep', () => {
    const gate = new Subject<void>();
    const step = perValue<number, number>(
      rx.mergeMap((n) => (n === 0 ? (gate.pipe(rx.ignoreElements()) as never) : [n])),
      { concurrency: 50_000 },
    );
    const count = (stream$: Observable<number>): unknown[] => {
      const ends: unknown[] = [];
      stream$.pipe(step, rx.count()).subscribe({ next: (n) => ends.push(n), complete: () => ends.push('complete') });
      return ends;
    };
    const plain = count(rx.range(0, 20_000));
    const bench = new Bench(ofNumbers((s) => s.pipe(step)))
      .push(...Array.from({ length: 20_000 }, (_, n) => n))
      .complete();
    gate.complete();
    expect(plain).toEqual([19_999, 'complete']);
    expect([bench.values().length, bench.end()]).toEqual([19_999, 'complete']);
  });

  test('65,536 outputs wait for their turn, one more is ERR_OUTPUT_BURST', () => {
    const outputs = (count: number) =>
      perValue<number, number>(rx.mergeMap((n) => (n === 0 ? rx.NEVER : rx.range(0, count))));
    for (const end of [
      captured(rx.of(0, 1).pipe(outputs(65_537))).end as { error: unknown },
      { error: new Bench(ofNumbers((s) => s.pipe(outputs(65_537)))).push(0, 1).end() },
    ]) {
      expect(said(end.error)).toBe('ERR_OUTPUT_BURST');
      expect((end.error as Error).message).toContain('wait for those of an earlier value. Say ordered: false');
    }
    expect(captured(rx.of(0, 1).pipe(outputs(65_536))).end).toBe('open');
  });
});

describe.each([true, false])('ordered: %s', (ordered) => {
  test('the executor takes no input while so many values are open', () => {
    const ends: Subject<never>[] = [];
    const open = perValue<number, never>(
      (value$) =>
        value$.pipe(
          rx.mergeMap(() => {
            const end = new Subject<never>();
            ends.push(end);
            return end;
          }),
        ),
      { concurrency: 3, ordered },
    );
    const bench = new Bench(
      ofNumbers((s) =>
        s.pipe(
          map((n) => n),
          open,
        ),
      ),
    )
      .push(0, 1, 2, 3, 4, 5)
      .complete();
    expect([ends.length, bench.waiting]).toEqual([3, 3]);
    ends[1]?.complete();
    // In order, a value that has ended waits for its turn in its place.
    expect([ends.length, bench.waiting]).toEqual(ordered ? [3, 3] : [4, 2]);
    ends[0]?.complete();
    expect([ends.length, bench.waiting]).toEqual([5, 1]);
    for (let n = 2; n < 6; n++) ends[n]?.complete();
    expect([ends.length, bench.waiting, bench.end()]).toEqual([6, 0, 'complete']);
  });

  test.each(['stop', 'error'])('%s closes every inner at once', (how) => {
    const seen = nothing();
    const open = perValue<number, number>((value$) => rx.concat(value$, rx.NEVER).pipe(chained([], seen)), {
      concurrency: 3,
      ordered,
    });
    const bench = new Bench(ofNumbers((s) => s.pipe(open))).push(0, 1, 2);
    expect(seen).toEqual({ opened: 3, closed: 0, most: 3 });
    if (how === 'stop') bench.stop();
    else bench.error('gone');
    expect([seen.closed, bench.end()]).toEqual([3, how === 'stop' ? undefined : 'gone']);

    const input = new Subject<number>();
    const ends: unknown[] = [];
    const subscription = input.pipe(open).subscribe({ error: (reason: unknown) => ends.push(reason) });
    for (const n of [0, 1, 2, 3]) input.next(n);
    expect([seen.opened, seen.closed]).toEqual([6, 3]);
    if (how === 'stop') subscription.unsubscribe();
    else input.error('gone');
    expect([seen.opened, seen.closed, ends]).toEqual([6, 6, how === 'stop' ? [] : ['gone']]);
  });

  test('values that come through a step that cannot be suspended wait, and none is lost', () => {
    const gates = new Map<number, Subject<number>>();
    const gated = perValue<number, number>(
      rx.mergeMap((n) => {
        const gate = new Subject<number>();
        gates.set(n, gate);
        return gate;
      }),
      { concurrency: 2, ordered },
    );
    const bench = new Bench(
      ofNumbers((s) =>
        s.pipe(
          rx.mergeMap((n) => [n, n + 1, n + 2, n + 3]),
          gated,
        ),
      ),
    )
      .push(0)
      .complete();
    const order: number[] = [];
    for (let left = 4; left > 0; left--) {
      expect(gates.size).toBe(left === 1 ? 1 : 2);
      const [n, gate] = [...gates][0] as [number, Subject<number>];
      gates.delete(n);
      order.push(n);
      gate.next(n);
      gate.complete();
    }
    expect([order, bench.values(), bench.end()]).toEqual([[0, 1, 2, 3], [0, 1, 2, 3], 'complete']);
  });

  test('an inner that reads a stream of its segment does not starve it', () => {
    const build = ofNumbers((s) =>
      s.pipe(
        perValue(
          (value$) =>
            value$.pipe(
              rx.mergeMap((n) =>
                s.pipe(
                  rx.take(1),
                  rx.map((next) => n * 10 + next),
                ),
              ),
            ),
          { concurrency: 2, ordered },
        ),
      ),
    );
    const bench = new Bench(build).push(1, 2, 3, 4);
    expect([bench.values(), bench.waiting]).toEqual([[12, 23, 34], 0]);
  });

  test('steps of ours inside are those of RxJS', () => {
    const inside = perValue<number, number>(
      rx.pipe(
        map((n: number) => n + 1),
        mergeWith(rx.of(7)),
        take(2),
      ),
      { ordered },
    );
    const bench = new Bench(ofNumbers((s) => s.pipe(inside))).push(1, 2).complete();
    expect([bench.values(), bench.end()]).toEqual([[2, 7, 3, 7], 'complete']);
  });

  test('retry and timeout are those of one value', () => {
    const attempts: number[] = [];
    const step = perValue<number, number>(
      rx.pipe(
        rx.mergeMap((n) => {
          attempts.push(n);
          const left = attempts.filter((other) => other === n).length;
          return n === 1 && left < 3 ? rx.NEVER : rx.timer(n).pipe(rx.map(() => n));
        }),
        rx.timeout(10),
        rx.retry({ count: 2, delay: 5 }),
      ),
      { ordered },
    );
    const found = course(() => rx.of(0, 1, 2).pipe(step));
    const outputs = ordered
      ? [
          [0, 0],
          [31, 1],
          [31, 2],
        ]
      : [
          [0, 0],
          [2, 2],
          [31, 1],
        ];
    expect(found).toEqual({ outputs, endMs: 31, end: 'complete' });
    expect(attempts).toEqual([0, 1, 2, 1, 1]);
  });

  test('the key is lost: refused while planning', () => {
    const build = ofNumbers((s) =>
      s.pipe(
        keyBy((n) => n),
        perValue(
          rx.map((n) => n),
          { ordered },
        ),
        countByKey(),
      ),
    );
    expect(refusal(() => new Bench(build))).toMatchObject({ code: 'ERR_KEY_LOST', operator: 'countByKey' });
  });
});

describe('what is refused', () => {
  const identity = rx.map((n: number) => n);
  test.each<readonly [string, unknown, unknown, string]>([
    ['no operator', 5, undefined, 'the first argument of perValue() must be a function, got 5'],
    ['no options', identity, 4, 'the options of perValue() must be an object { concurrency, ordered }, got 4'],
    ['null', identity, null, 'the options of perValue() must be an object { concurrency, ordered }, got null'],
    [
      'an unknown option',
      identity,
      { concurency: 4 },
      'the options of perValue() has no option "concurency": did you mean concurrency?',
    ],
    [
      'a concurrency of 0',
      identity,
      { concurrency: 0 },
      'concurrency of perValue() must be a whole number of values, at least 1, got 0',
    ],
    [
      'half a value',
      identity,
      { concurrency: 1.5 },
      'concurrency of perValue() must be a whole number of values, at least 1, got 1.5',
    ],
    [
      'text',
      identity,
      { concurrency: '4' },
      'concurrency of perValue() must be a whole number of values, at least 1, got "4"',
    ],
    [
      'no bound',
      identity,
      { concurrency: Infinity },
      'concurrency of perValue() must be a whole number of values, at least 1, got Infinity: without a bound nothing would hold the input back',
    ],
    ['an order that is none', identity, { ordered: 1 }, 'ordered of perValue() must be true or false, got 1'],
  ])('%s', (_, operator, options, message) => {
    expect(refusal(() => perValue(operator as never, options as never)).message).toBe(`ERR_OPTION: ${message}`);
  });
});
