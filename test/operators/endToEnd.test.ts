/** Segments as a run drives them: real executors, rings and codec, all on the calling thread. */

import fc from 'fast-check';
import * as rx from 'rxjs';
import { lastValueFrom, type Observable, toArray } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { concatMap, countByKey, map, mergeMap, take } from '../../operators/index.js';
import { isMillraceError } from '../../runtime/errors.js';
import { type Batch, keyBy, shuffle, topology } from '../../src/index.js';
import { type Build, ofNumbers, Plain } from './harness.js';
import { buildOf, loweredPipeline, mixedPipeline, modelOf } from './pipelines.js';

type Numbers = Observable<number>;

interface Outcome {
  readonly values: readonly unknown[];
  readonly end: unknown;
}

function run(build: (s: Numbers) => unknown, source: Numbers, batch: Batch = 100): Promise<Outcome> {
  const t = topology(import.meta.url, build as (s: Numbers) => Observable<unknown>);
  const values: unknown[] = [];
  return new Promise((resolve) => {
    t({ threads: 0, batches: { default: batch } })(source).subscribe({
      next: (value) => values.push(value),
      error: (reason: unknown) => resolve({ values, end: isMillraceError(reason) ? reason.code : reason }),
      complete: () => resolve({ values, end: 'complete' }),
    });
  });
}

function model(build: Build, values: readonly number[]): Outcome {
  const { log } = new Plain(build).push(...values).complete();
  const end = log.some((left) => 'error' in left) ? 'ERR_OPERATOR' : 'complete';
  return { values: log.flatMap((left) => ('next' in left ? [left.next] : [])), end };
}

describe('in the segment of the input, and behind a cut', () => {
  const inputs = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 12 });
  const batch = fc.constantFrom<Batch>(1, 3, 100, { size: 7, flushMs: 0 });

  test('law: random pipelines give what RxJS gives, whatever the batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(loweredPipeline, mixedPipeline),
        inputs,
        batch,
        fc.boolean(),
        async (pipeline, values, size, cut) => {
          const build = buildOf(pipeline) as unknown as (s: Numbers) => unknown;
          const outcome = await run(cut ? (s) => build(s.pipe(shuffle())) : build, rx.from(values), size);
          expect(outcome).toEqual(model(modelOf(pipeline), values));
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('room', () => {
  test('one value that becomes 100,000 passes a ring of 512 KiB in order', async () => {
    const build = (s: Numbers): unknown =>
      s.pipe(
        mergeMap((n) => new Array<string>(n).fill('some forty bytes of text in every one…')),
        map((text, n) => [n, text.length]),
        shuffle(),
        concatMap((pair) => [pair[0]]),
      );
    const { values, end } = await run(build, rx.of(100_000));
    expect(end).toBe('complete');
    expect(values).toEqual(Array.from({ length: 100_000 }, (_, n) => n));
  });

  test('a take behind it ends an endless iterator', async () => {
    function* endless(): Generator<number> {
      for (let n = 0; ; n++) yield n;
    }
    const build = (s: Numbers): unknown =>
      s.pipe(
        mergeMap(() => endless()),
        shuffle(),
        take(1000),
      );
    const { values, end } = await run(build, rx.of(0));
    expect([values.length, end]).toEqual([1000, 'complete']);
  });
});

describe('waking', () => {
  test.each<[string, (s: Numbers) => unknown]>([
    ['subscribeOn', (s) => s.pipe(rx.subscribeOn(rx.asyncScheduler, 2))],
    ['a subscription delay', (s) => s.pipe(rx.delayWhen(() => rx.of(0), rx.timer(2)))],
    ['a timed step', (s) => s.pipe(rx.delay(2))],
    ['a promise inner', (s) => s.pipe(concatMap(async (n) => n))],
    ['an inner that ends later', (s) => s.pipe(mergeMap((n) => rx.timer(1).pipe(rx.map(() => n)), 1))],
  ])('the executor sleeps until %s goes on', async (_, build) => {
    expect(await run((s) => (build(s.pipe(shuffle())) as Numbers).pipe(shuffle()), rx.of(1, 2, 3))).toEqual({
      values: [1, 2, 3],
      end: 'complete',
    });
  });
});

describe('ends', () => {
  test('retry ends with its code instead of trying for ever', async () => {
    const throwing = map((n: number) => {
      if (n === 2) throw new Error('thrown');
      return n;
    });
    expect(await run((s) => s.pipe(throwing, rx.retry()), rx.of(1, 2, 3))).toEqual({
      values: [1],
      end: 'ERR_NOT_REPEATABLE',
    });
  });

  test('a lost key ends with its code', async () => {
    const build = (s: Numbers): unknown =>
      s.pipe(
        keyBy((n) => n),
        mergeMap((n) => rx.of(n)),
        countByKey(),
      );
    expect(await run(build, rx.of(1))).toEqual({ values: [], end: 'ERR_KEY_LOST' });
  });

  test('inline, cuts are transparent', async () => {
    const t = topology(import.meta.url, (s: Numbers) =>
      s.pipe(
        shuffle({ parallelism: 2 }),
        keyBy((n) => n),
        map((n) => n),
      ),
    );
    expect(await lastValueFrom(t.inline(rx.of(3, 1, 2)).pipe(toArray()))).toEqual([3, 1, 2]);
    const build = ofNumbers((s) => t.inline(s));
    expect(new Plain(build).push(1).log).toEqual([{ at: 0, out: 'output', next: 1 }]);
  });
});
