/** Where the key of a value is not known, a keyed step says so; and how keyed steps and keyBy end. */

import type { Observable } from 'rxjs';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { concatMap, countByKey, map, mergeMap, reduceByKey, scanByKey, take, tap } from '../../operators/index.js';
import { keyBy } from '../../operators/keyBy.js';
import { spreadKey } from '../../operators/spreadKey.js';
import { isMillraceError, type MillraceError } from '../../runtime/errors.js';
import { Bench, type Build, ofNumbers, Plain, refusal, said } from './harness.js';

type Numbers = Observable<number>;

const collected = (acc: readonly number[], value: number): readonly number[] => [...acc, value];
const empty = (): readonly number[] => [];

describe('the key is lost', () => {
  const asynchronous: readonly (readonly [string, rx.OperatorFunction<number, number>])[] = [
    ['an inner Observable', mergeMap((n) => rx.of(n))],
    ['a promise', concatMap(async (n) => n)],
  ];
  test.each(asynchronous)('behind %s: ERR_KEY_LOST at run time, also inline', async (_, step) => {
    const build = (s: Numbers): Observable<unknown> =>
      s.pipe(
        keyBy((n) => n),
        step,
        countByKey(),
      );
    const bench = new Bench(ofNumbers(build), { segment: 'keyBy-1' }).push(1);
    const inline = new Plain(build as Build).push(1);
    await new Promise(setImmediate);
    expect(said(bench.end())).toBe('ERR_KEY_LOST');
    const error = bench.end() as MillraceError;
    expect(error.operator).toBe('countByKey');
    expect(error.message).toMatch(/countByKey.*asynchronous.*Put keyBy\(\) directly before/);
    expect(bench.failure?.place.at).toMatch(/keyLost\.test\.ts/);
    const [left] = inline.log as unknown as readonly [{ readonly error: unknown }];
    // Synchronous inners of RxJS leave the key in the register inline: threads are stricter.
    if (step === asynchronous[1]?.[1]) expect(isMillraceError(left.error) && left.error.code).toBe('ERR_KEY_LOST');
  });

  test.each<[string, rx.OperatorFunction<number, number>]>([
    ['an operator of RxJS', rx.map((n) => n)],
    ['a timed step', rx.delay(1)],
  ])('behind %s: refused while planning', (_, step) => {
    const error = refusal(
      () =>
        new Bench(
          ofNumbers((s) =>
            s.pipe(
              keyBy((n) => n),
              step,
              countByKey(),
            ),
          ),
        ),
    );
    expect([error.code, error.operator]).toEqual(['ERR_KEY_LOST', 'countByKey']);
    expect(error.message).toMatch(/keyLost\.test\.ts:\d+.*Put keyBy\(\) directly before it/);
  });

  test('inline without keyBy, and inline after a reduceByKey has ended', () => {
    const run = (s: Observable<unknown>): unknown => {
      let end: unknown;
      s.subscribe({ error: (reason: unknown) => (end = reason) });
      return isMillraceError(end) ? end.code : end;
    };
    expect(run(rx.of(1).pipe(countByKey()))).toBe('ERR_KEY_LOST');
    rx.of(1)
      .pipe(
        keyBy((n) => n),
        reduceByKey(
          (a: number, b) => a + b,
          () => 0,
        ),
      )
      .subscribe();
    expect(run(rx.of(1).pipe(countByKey()))).toBe('ERR_KEY_LOST');
  });
});

describe('errors and ends', () => {
  const failing = (): never => {
    throw 'thrown';
  };
  const keyed: readonly (readonly [string, rx.OperatorFunction<number, unknown>])[] = [
    ['scanByKey', scanByKey(failing, empty)],
    ['reduceByKey', reduceByKey(failing, empty)],
    ['a seed', scanByKey(collected, failing)],
  ];
  test.each(keyed)('%s that throws is an error of that step, inline and in the loop', (_, step) => {
    const build = (s: Numbers): Observable<unknown> =>
      s.pipe(
        keyBy((n) => n),
        step,
      );
    const bench = new Bench(ofNumbers(build), { segment: 'keyBy-1' }).push(1);
    expect([bench.end(), bench.failure?.arose]).toEqual(['thrown', 'step']);
    let [asked, end]: [number, unknown] = [0, undefined];
    const source = rx.range(0, 1e9).pipe(tap(() => asked++));
    build(source).subscribe({ error: (reason: unknown) => (end = reason) });
    expect([asked, end]).toEqual([1, 'thrown']);
  });

  test.each<[string, rx.OperatorFunction<number, unknown>]>([
    ['scanByKey', scanByKey(collected, empty)],
    ['countByKey', countByKey()],
    ['keyBy', map((n) => n)],
  ])('%s inline lets go of an endless synchronous source', (_, step) => {
    const seen: unknown[] = [];
    rx.range(0, 1e15)
      .pipe(
        keyBy((n) => n),
        step,
        take(2),
      )
      .subscribe((value) => seen.push(value));
    expect(seen).toHaveLength(2);
  });

  test('a selector that throws inline is an error there', () => {
    let end: unknown;
    rx.range(0, 1e15)
      .pipe(keyBy(failing))
      .subscribe({ error: (reason: unknown) => (end = reason) });
    expect(end).toBe('thrown');
  });

  test('strict: a selector that says another key at the receiver is ERR_KEY', () => {
    let calls = 0;
    const build = ofNumbers((s) =>
      s.pipe(
        keyBy(() => calls++, { parallelism: 64 }),
        map(String),
      ),
    );
    const bench = new Bench(build, { segment: 'keyBy-1', index: 5, strict: true }).push(1, 2);
    expect(said(bench.end())).toBe('ERR_KEY');
    expect((bench.end() as MillraceError).message).toContain('must depend on the value alone');
  });

  test('spreadKey gives no key: a keyed step behind it is refused', () => {
    const error = refusal(
      () =>
        new Bench(
          ofNumbers((s) =>
            s.pipe(
              spreadKey((n) => n),
              countByKey(),
            ),
          ),
        ),
    );
    expect([error.code, error.message]).toEqual(['ERR_SCOPE', expect.stringMatching(/spreadKey\(\).*Put keyBy\(\)/)]);
  });
});
