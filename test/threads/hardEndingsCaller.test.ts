import { createRuntime, pull, type Run } from 'millrace';
import {
  concat,
  config,
  finalize,
  from,
  map,
  NEVER,
  type Observable,
  of,
  range,
  Subject,
  share,
  take,
  throwError,
} from 'rxjs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import * as leave from './fixtures/endingsLeaving.js';
import type { How } from './fixtures/endingsSeen.js';
import * as hard from './fixtures/hardEndings.js';
import { first, observe, until, valuesOf } from './fixtures/observe.js';

const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());
afterEach(() => {
  config.onUnhandledError = null;
  expect(runtime.runs).toEqual([]);
});

const ways: readonly (readonly [string, How])[] = [
  ['on threads', { runtime }],
  ['on the calling thread', { threads: 0 }],
];

/** What is heard while something runs: of RxJS's unhandled errors, and of warnings. */
function listening(): { readonly unhandled: unknown[]; readonly warnings: string[]; stop(): void } {
  const unhandled: unknown[] = [];
  const warnings: string[] = [];
  const hear = ({ name, message }: Error): void => void (name === 'MillraceWarning' && warnings.push(message));
  config.onUnhandledError = (reason) => unhandled.push(reason);
  process.on('warning', hear);
  return { unhandled, warnings, stop: () => process.off('warning', hear) };
}

describe.each(ways)('what the subscriber throws at the end, %s', (_, how) => {
  test.each(['complete', 'error'] as const)('in %s: is reported as RxJS does, and the run is over', async (which) => {
    const reason = new Error(`in ${which}`);
    const fails = (): never => {
      throw reason;
    };
    const heard = listening();
    const input =
      which === 'complete'
        ? of(1, 2)
        : concat(
            of(1, 2),
            throwError(() => new Error('the input')),
          );
    const seen: number[] = [];
    input.pipe(hard.same(how)).subscribe({ next: (n) => seen.push(n), error: fails, complete: fails });
    await until(() => heard.unhandled.length > 0);
    expect([seen, heard.unhandled, heard.warnings]).toEqual([[1, 2], [reason], []]);
    heard.stop();
    expect(await valuesOf(of(3).pipe(hard.same(how)))).toEqual([3]);
  });

  test.each(['complete', 'error'] as const)('in a clean-up behind the topology, on %s: is a warning', async (which) => {
    const heard = listening();
    const input =
      which === 'complete'
        ? of(1, 2)
        : concat(
            of(1, 2),
            throwError(() => new Error('the input')),
          );
    const end = observe(
      input.pipe(
        hard.same(how),
        finalize(() => {
          throw new Error('behind');
        }),
      ),
    );
    expect((await end).values).toEqual([1, 2]);
    await until(() => heard.warnings.length > 0);
    expect(heard.warnings).toEqual(['a clean-up of an output failed when it had ended: Error: behind']);
    expect(heard.unhandled).toEqual([]);
    heard.stop();
  });

  test('in a clean-up behind one output: the other one hears its end all the same', async () => {
    const heard = listening();
    const { even, odd } = leave.sides(how)(
      concat(
        of(1, 2),
        throwError(() => new Error('the input')),
      ),
    );
    const fails = finalize<number>(() => {
      throw new Error('behind');
    });
    const ends = await Promise.all([observe(even.pipe(fails)), observe(odd.pipe(fails))]);
    expect(ends.map(({ end }) => end)).toMatchObject([{ code: 'ERR_SOURCE' }, { code: 'ERR_SOURCE' }]);
    await until(() => heard.warnings.length === 2);
    heard.stop();
  });

  test('in a clean-up behind, while it unsubscribes: unsubscribe() throws it, as in RxJS', async () => {
    const input = new Subject<number>();
    const subscription = input
      .pipe(
        hard.same(how),
        finalize(() => {
          throw new Error('behind');
        }),
      )
      .subscribe();
    expect(() => subscription.unsubscribe()).toThrow('behind');
    expect(input.observed).toBe(false);
  });

  test('in a clean-up of the input: is a warning, and the run is over', async () => {
    const heard = listening();
    const fails = finalize<number>(() => {
      throw new Error('before');
    });
    concat(of(1), NEVER).pipe(fails, hard.same(how)).subscribe().unsubscribe();
    expect(await valuesOf(concat(of(1), NEVER).pipe(fails, hard.same(how), take(1)))).toEqual([1]);
    const iterator = pull(() => ({
      [Symbol.iterator]: () => ({
        next: () => ({ done: false, value: 1 }),
        return: () => {
          throw new Error('before');
        },
      }),
    }));
    expect(await valuesOf(iterator.pipe(hard.same(how), take(1)))).toEqual([1]);
    await until(() => heard.warnings.length === 3);
    const message = 'failed when it had ended: Error: before';
    expect(heard.warnings).toEqual([
      `a clean-up of the input ${message}`,
      `a clean-up of the input ${message}`,
      `a clean-up of a pull() ${message}`,
    ]);
    expect(heard.unhandled).toEqual([]);
    heard.stop();
  });
});

describe.each(ways)('within one another, %s', (_, how) => {
  test('a subscription inside next, inside next, inside next', async () => {
    const seen: number[] = [];
    const again = (n: number, depth: number): Promise<void> =>
      new Promise((done, failed) => {
        const inner: Promise<void>[] = [];
        of(n, n + 1)
          .pipe(hard.same(how))
          .subscribe({
            next: (value) => {
              seen.push(value);
              if (depth > 0) inner.push(again(value * 10, depth - 1));
            },
            error: failed,
            complete: () => done(Promise.all(inner).then(() => undefined)),
          });
      });
    await again(1, 3);
    expect(seen).toHaveLength(2 + 4 + 8 + 16);
    const expected = [1, 2].flatMap((a) => [a, ...[0, 1].flatMap((b) => [a * 10 + b])]);
    expect(expected.every((n) => seen.includes(n))).toBe(true);
  });

  test('a subscription to the same stream inside its own next, once', async () => {
    const stream = range(1, 3).pipe(hard.same(how));
    const inner: Promise<number[]>[] = [];
    const outer = await valuesOf(
      stream.pipe(
        map((n) => {
          if (n === 2) inner.push(valuesOf(stream));
          return n;
        }),
      ),
    );
    expect([outer, ...(await Promise.all(inner))]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  test('a topology whose input is a topology, five deep', async () => {
    let stream: Observable<number> = range(0, 2000);
    for (let i = 0; i < 5; i++) stream = stream.pipe(hard.same(how));
    expect(await valuesOf(stream)).toEqual(Array.from({ length: 2000 }, (_, n) => n));
  });

  test('five deep, the innermost one is left by take outside', async () => {
    const input = new Subject<number>();
    let stream: Observable<number> = input;
    for (let i = 0; i < 5; i++) stream = stream.pipe(hard.same(how));
    const values = valuesOf(stream.pipe(take(2)));
    for (const n of [1, 2, 3]) input.next(n);
    expect(await values).toEqual([1, 2]);
    expect(input.observed).toBe(false);
  });

  test('a topology that is read by the pull of another one', async () => {
    async function* read(): AsyncGenerator<number> {
      yield* await valuesOf(range(0, 100).pipe(hard.same(how)));
    }
    expect(await valuesOf(pull(read).pipe(hard.same(how)))).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  test.each(['threads', 'here', 'source'] as const)('a step that runs a topology on its thread: %s', async (args) => {
    const values = await valuesOf(range(1, 3).pipe(hard.nested({ ...how, args })));
    expect(values.toSorted((a, b) => a - b)).toEqual([-3, -2, -1, 1, 2, 3]);
  });

  test('unsubscribed inside the next of another one', async () => {
    const input = new Subject<number>();
    const left = first(input.pipe(hard.same(how)), 1);
    const values = valuesOf(
      from([1, 2, 3]).pipe(
        hard.same(how),
        map((n) => {
          if (n === 2) left.subscription.unsubscribe();
          return n;
        }),
      ),
    );
    expect(await values).toEqual([1, 2, 3]);
    expect(input.observed).toBe(false);
  });

  test('share() that is left by all begins anew', async () => {
    const runs: Run[] = [];
    const shared = concat(of(1, 2), NEVER).pipe(hard.same({ ...how, onRun: (run) => runs.push(run) }), share());
    for (let i = 0; i < 3; i++) {
      const [one, other] = [first(shared, 2), first(shared, 2)];
      expect(await Promise.all([one.values, other.values])).toEqual([
        [1, 2],
        [1, 2],
      ]);
      one.subscription.unsubscribe();
      expect(runtime.runs.length + runs.length).toBeGreaterThan(i);
      other.subscription.unsubscribe();
    }
    expect(runs).toHaveLength(3);
  });
});
