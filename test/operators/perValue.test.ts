/** The laws of perValue: on a plain Observable, as a step of an executor, under random weather, and on threads. */

import fc from 'fast-check';
import { createRuntime } from 'millrace';
import * as built from 'millrace/testing';
import * as rx from 'rxjs';
import { Subject } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { perValue, take } from '../../operators/index.js';
import { valuesOf } from '../threads/fixtures/observe.js';
import { type Chain, chained, executors, lookedUp, worked } from '../threads/fixtures/perValue.js';
import { Bench, ofNumbers } from './harness.js';
import {
  arrivals,
  type Course,
  chain,
  concurrency,
  course,
  enoughMs,
  executed,
  expected,
  feed,
  harmless,
  inTime,
  nothing,
  rooms,
  withoutTimes,
  work,
} from './perValueModel.js';

describe('in order', () => {
  test('law: outputs and the end are those of the values one after the other, at the times the model says', () => {
    fc.assert(
      fc.property(work, arrivals, (given, when) => {
        const { chain, ...options } = given;
        const model = expected(when.times, when.endMs, given);
        const seen = nothing();
        const input = new Subject<number>();
        expect(course(() => input.pipe(perValue(chained(chain, seen), options)), feed(input, when))).toEqual(model);
        expect(seen.most).toBeLessThanOrEqual(given.concurrency);
        expect(seen.closed).toBe(seen.opened);
      }),
      { numRuns: 120 },
    );
  });

  test('law: … also as a step of an executor, while there is room', () => {
    fc.assert(
      fc.property(work, arrivals, (given, when) => {
        const seen = nothing();
        expect(executed(given, when, [true], seen)).toEqual(expected(when.times, when.endMs, given));
        expect([seen.most <= given.concurrency, seen.closed]).toEqual([true, seen.opened]);
      }),
      { numRuns: 120 },
    );
  });

  test('law: … and the same values when the executor stops at any output', () => {
    fc.assert(
      fc.property(work, arrivals, rooms, (given, when, bits) => {
        const seen = nothing();
        const found = executed(given, when, bits, seen);
        expect(withoutTimes(found)).toEqual(withoutTimes(expected(when.times, when.endMs, given)));
        expect([seen.most <= given.concurrency, seen.closed]).toEqual([true, seen.opened]);
      }),
      { numRuns: 120 },
    );
  });

  test('marbles', () => {
    new TestScheduler((actual, wanted) => expect(actual).toEqual(wanted)).run(
      ({ hot, expectObservable, expectSubscriptions }) => {
        const source = hot<string>('--3--1------1---|');
        const late = rx.delayWhen((n: string) => rx.timer(2 * Number(n)));
        expectObservable(source.pipe(perValue(late))).toBe('--------(31)--1-|');
        expectObservable(source.pipe(perValue(late, { concurrency: 1 }))).toBe('--------3-1---1-|');
        expectObservable(source.pipe(perValue(late, { ordered: false }))).toBe('-------13-----1-|');
        expectObservable(source.pipe(perValue(late)), '-----------!').toBe('--------(31)');
        expectSubscriptions(source.subscriptions).toBe([
          '^---------------!',
          '^---------------!',
          '^---------------!',
          '^----------!',
        ]);
      },
    );
  });
});

describe('as they come', () => {
  test('law: mergeMap of RxJS, at every time', () => {
    fc.assert(
      fc.property(work, arrivals, ({ chain, concurrency }, when) => {
        const input = new Subject<number>();
        const seen = nothing();
        const flat = rx.mergeMap((n: number) => rx.of(n).pipe(chained(chain)), concurrency);
        const model = course(() => input.pipe(flat), feed(input, when));
        const [again, options] = [new Subject<number>(), { concurrency, ordered: false }];
        expect(course(() => again.pipe(perValue(chained(chain), options)), feed(again, when))).toEqual(model);
        expect(executed({ chain, ...options }, when, [true], seen)).toEqual(model);
        expect([seen.most <= concurrency, seen.closed]).toEqual([true, seen.opened]);
      }),
      { numRuns: 100 },
    );
  });

  test('law: nothing is lost when the executor stops at any output', () => {
    fc.assert(
      fc.property(harmless, concurrency, arrivals, rooms, (chain, concurrency, when, bits) => {
        const seen = nothing();
        const given = { chain, concurrency };
        const found = executed({ ...given, ordered: false }, when, bits, seen);
        const model = expected(when.times, when.endMs, { ...given, ordered: true });
        const sorted = ({ outputs }: Course): readonly number[] => outputs.map(([, n]) => n).sort((a, b) => a - b);
        expect([sorted(found), found.end]).toEqual([sorted(model), 'complete']);
        expect([seen.most <= concurrency, seen.closed]).toEqual([true, seen.opened]);
      }),
      { numRuns: 100 },
    );
  });
});

describe.each([true, false])('ordered: %s', (ordered) => {
  test('law: an early end closes every inner, and what stands above', () => {
    fc.assert(
      fc.property(harmless, concurrency, fc.nat({ max: 6 }), arrivals, (chain, concurrency, count, when) => {
        const seen = nothing();
        const step = perValue(chained([['wait', 1], ...chain], seen), { concurrency, ordered });
        const input = new Subject<number>();
        const plain = course(() => input.pipe(step, take(count)), feed(input, when));
        expect([seen.closed, input.observed]).toEqual([seen.opened, false]);
        inTime((clock) => {
          const bench = new Bench(ofNumbers((s) => s.pipe(step, take(count))));
          feed({ next: (value) => bench.push(value), complete: () => bench.complete() }, when)(clock);
          clock.advance(enoughMs);
          expect([bench.values().length, bench.end()]).toEqual([plain.outputs.length, 'complete']);
        });
        expect(seen.closed).toBe(seen.opened);
      }),
      { numRuns: 60 },
    );
  });
});

/** Work takes time in a simulation, so a timeout may be due, and outputs of one value that wait may change places. */
function insensitive(all: Chain): Chain {
  const several = all.some(([part]) => part === 'several');
  const wait = all.findIndex(([part]) => part === 'wait');
  return all.filter(([part], i) => part !== 'timeout' && (part !== 'wait' || (i === wait && !several)));
}

describe('under random weather', () => {
  const segment = ['shuffle-1/0', 'shuffle-1/1', 'shuffle-1/2'];
  const harmlessFaults = (parallelism: number) =>
    built.arbitrary
      .faults(segment.slice(0, parallelism))
      .map((all) => all.filter(({ kind }) => !['die', 'unsubscribe', 'subscriberThrows'].includes(kind)));
  const weather = fc.integer({ min: 1, max: 3 }).chain((parallelism) =>
    fc.record({
      chain: chain.map(insensitive),
      concurrency,
      ordered: fc.boolean(),
      parallelism: fc.constant(parallelism),
      times: fc.array(fc.nat(30), { maxLength: 40 }).map((all) => [...all].sort((a, b) => a - b)),
      seed: built.arbitrary.seed(),
      faults: harmlessFaults(parallelism),
      batch: built.arbitrary.batch(),
    }),
  );

  test('law: on one executor in order, on several the same values; the bound holds in each; every inner is closed', () => {
    fc.assert(
      fc.property(weather, ({ times, seed, faults, batch, ...args }) => {
        executors.length = 0;
        const input = { values: times.map((atMs, value) => [atMs, value] as const) };
        const run = { batches: { default: batch } };
        const { outputs, end } = built.simulate(worked, { input, args, seed, faults, run });
        const got = (outputs['output'] ?? []).map(([, value]) => value);
        const model = expected(times, 0, args);
        const all = model.outputs.map(([, value]) => value);
        const complete = model.end === 'complete';
        expect(end).toEqual(
          complete ? 'complete' : expect.objectContaining({ code: 'ERR_OPERATOR', operator: 'perValue' }),
        );
        if (args.ordered && args.parallelism === 1) expect(got).toEqual(all);
        else if (complete) expect(got.sort((a, b) => a - b)).toEqual(all.sort((a, b) => a - b));
        for (const { opened, closed, most } of executors) {
          expect([most <= args.concurrency, closed]).toEqual([true, opened]);
        }
      }),
      { numRuns: 120 },
    );
  });
});

describe('on threads', () => {
  const runtime = createRuntime({ threads: 2 });
  afterAll(() => runtime.close());

  test('lookups that take time come in order, each retried alone', { timeout: 20_000 }, async () => {
    const rows = await valuesOf(rx.range(0, 300).pipe(lookedUp({ runtime })));
    expect(rows).toEqual(Array.from({ length: 300 }, (_, n) => `row ${n}`));
  });
});
