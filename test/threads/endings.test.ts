import { createRuntime, isMillraceError, type MillraceError, pull, type Run } from 'millrace';
import { concat, config, from, map, Observable, of, range, Subject, throwError } from 'rxjs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import * as fail from './fixtures/endings.js';
import { bothWays, type How, told } from './fixtures/endingsSeen.js';
import { errorOf, observe, until } from './fixtures/observe.js';

const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());

const ways: readonly (readonly [string, How])[] = [
  ['on threads', { runtime }],
  ['on the calling thread', { threads: 0 }],
];

const broken = (valve = fail.fault) => ({
  name: 'Broken',
  message: `valve ${valve} is broken`,
  valve,
  cause: { name: 'Error', message: 'rust' },
});

/** What `told` makes of the error of a step. */
const failed = (fields: object, message: RegExp) =>
  expect.objectContaining({ name: 'MillraceError', ...fields, message: expect.stringMatching(message) });

const n$ = range(1, 5);

describe('an error in a step', () => {
  test.each([
    ['lowered', fail.lowered, 'map'],
    ['opaque', fail.opaque, 'step 2'],
  ] as const)(
    '%s: what it emitted before comes first, then the error with its place and cause',
    async (name, topology, operator) => {
      const { values, end } = await bothWays(runtime, (how) => n$.pipe(topology(how)));
      expect(values).toEqual([1, 2]);
      const at = expect.stringMatching(/\/fixtures\/endings\.ts:\d+$/);
      expect(told(end)).toEqual({
        name: 'MillraceError',
        code: 'ERR_OPERATOR',
        topology: name,
        segment: 'work',
        executor: 0,
        operator,
        at,
        message: expect.stringMatching(
          /^ERR_OPERATOR: (map|step 2) in segment "work" \(pipe at endings\.ts:\d+\) failed: Broken: valve 3 is broken$/,
        ),
        cause: broken(),
      });
      expect(isMillraceError(end)).toBe(true);
      expect((end as MillraceError).cause).toBeInstanceOf(RangeError);
      expect(((end as MillraceError).cause as Error).stack).toMatch(/breaks.*endings\.ts/);
    },
  );

  test.each(['iterable', 'promise', 'observable'] as const)('an inner %s of a flattening step', async (args) => {
    const { values, end } = await bothWays(runtime, (how) => of(1, 2, 3).pipe(fail.inner({ ...how, args })));
    expect(values).toEqual([1, 2]);
    expect(told(end)).toEqual(failed({ code: 'ERR_OPERATOR', operator: 'mergeMap', cause: broken() }, /Broken/));
  });

  test.each(['a text', '', 7, null, undefined, { a: [1] }])(
    'what is thrown need not be an error: %j',
    async (value) => {
      const { end } = await bothWays(runtime, (how) => of(value).pipe(fail.throws(how)));
      expect(told(end)).toEqual(failed({ code: 'ERR_OPERATOR', cause: value }, /failed: /));
    },
  );

  test('the first error wins: of all executors that fail, one is heard', async () => {
    const { values, end } = await bothWays(runtime, (how) =>
      from([1, 1, 1, 1, 1, 1, 1, 1]).pipe(fail.all(how), dropIndex()),
    );
    expect(values).toEqual([]);
    expect(told(end)).toEqual(failed({ code: 'ERR_OPERATOR', segment: 'work', cause: broken(1) }, /valve 1/));
  });

  test('the first error wins: what the input says later is not heard', async () => {
    const late = new Error('too late');
    const { values, end } = await bothWays(runtime, (how) =>
      concat(
        n$,
        throwError(() => late),
      ).pipe(fail.lowered(how)),
    );
    expect(values).toEqual([1, 2]);
    expect(told(end)).toEqual(failed({ code: 'ERR_OPERATOR', cause: broken() }, /map/));
  });

  test('a step that emits at the end only emits nothing', async () => {
    const { values, end } = await bothWays(runtime, (how) => n$.pipe(fail.sums(how)));
    expect(values).toEqual([]);
    expect(told(end)).toEqual(failed({ code: 'ERR_OPERATOR' }, /map/));
  });

  test('an output without values errors as well', async () => {
    const { end } = await bothWays(runtime, (how) => n$.pipe(fail.silent(how)));
    expect(told(end)).toEqual(failed({ code: 'ERR_OPERATOR', operator: 'filter', cause: broken() }, /filter/));
  });

  test('an error reaches all outputs', async () => {
    for (const [, how] of ways) {
      const { good, bad } = fail.both(how)(concat(n$, new Subject<number>()));
      const [left, right] = await Promise.all([observe(good), observe(bad)]);
      expect(right.values).toEqual([1, 2]);
      expect(told(right.end)).toEqual(failed({ code: 'ERR_OPERATOR', segment: 'right', cause: broken() }, /map/));
      expect(left.end).toBe(right.end);
      expect(runtime.runs).toEqual([]);
    }
  });
});

/** The executor that fails first is any of them. */
function dropIndex<T>() {
  return (source: Observable<T>): Observable<T> =>
    new Observable((subscriber) =>
      source.subscribe({
        next: (value) => subscriber.next(value),
        error: (reason: object) => subscriber.error(Object.assign(reason, { executor: 'any' })),
        complete: () => subscriber.complete(),
      }),
    );
}

describe('an error in a pull', () => {
  test.each(['throw', 'reject', 'stream'] as const)('that %ss while it is read', async (args) => {
    const { values, end } = await bothWays(runtime, (how) => fail.pulls({ ...how, args }));
    expect(values).toEqual([1, 2]);
    expect(told(end)).toEqual(
      failed(
        { code: 'ERR_SOURCE', topology: 'pulls', segment: 'pull-1', executor: 0, operator: 'pull()', cause: broken() },
        /^ERR_SOURCE: pull\(\) in segment "pull-1" \(pipe at endings\.ts:\d+\) failed: Broken: valve 3 is broken$/,
      ),
    );
  });

  test('that cannot be made', async () => {
    const { values, end } = await bothWays(runtime, (how) => fail.pulls({ ...how, args: 'make' }));
    expect(values).toEqual([]);
    expect(told(end)).toEqual(failed({ code: 'ERR_SOURCE', segment: 'pull-1', cause: broken() }, /pull\(\)/));
  });

  test('that is nothing that can be read', async () => {
    const { end } = await bothWays(runtime, (how) => fail.pulls({ ...how, args: 'nothing' }));
    const message =
      /^ERR_SOURCE: the function given to pull\(\) must return an iterable, an async iterable or a readable stream, got undefined$/;
    expect(told(end)).toEqual(failed({ code: 'ERR_SOURCE', segment: 'pull-1' }, message));
  });
});

describe('an error of the input', () => {
  const reason = new fail.Broken(9);
  const inputs: readonly (readonly [string, () => Observable<number>])[] = [
    [
      'that fails inside subscribe',
      () =>
        concat(
          of(1, 2),
          throwError(() => reason),
        ),
    ],
    [
      'that fails later',
      () =>
        concat(
          of(1, 2),
          from(Promise.resolve()).pipe(
            map(() => {
              throw reason;
            }),
          ),
        ),
    ],
    [
      'that is a pull',
      () =>
        pull(function* () {
          yield* [1, 2];
          throw reason;
        }),
    ],
    [
      'that is an asynchronous pull',
      () =>
        pull(async function* () {
          yield* [1, 2];
          throw reason;
        }),
    ],
  ];

  test.each(inputs)('%s keeps its identity', async (_, input) => {
    for (const args of ['cut', 'input', 'inputAndCut'] as const) {
      const { values, end } = await bothWays(runtime, (how) => input().pipe(fail.passed({ ...how, args })));
      expect(values).toEqual([1, 2]);
      expect(told(end)).toEqual(
        failed(
          { code: 'ERR_SOURCE', topology: 'passed', segment: 'input', operator: 'the input' },
          /^ERR_SOURCE: the input failed: Broken: valve 9 is broken$/,
        ),
      );
      expect((end as MillraceError).cause).toBe(reason);
    }
  });

  test.each(inputs)('%s is seen as it is by the steps before the first cut', async (_, input) => {
    const { values, end } = await bothWays(runtime, (how) => input().pipe(fail.caught({ ...how, args: 'input' })));
    expect(values).toEqual(['1', '2', 'Broken: valve 9 is broken']);
    expect(end).toBe('complete');
  });

  test('behind a cut no step takes it', async () => {
    const [, input] = inputs[0]!;
    for (const args of ['same', 'later'] as const) {
      const { values, end } = await bothWays(runtime, (how) => input().pipe(fail.caught({ ...how, args })));
      expect(values).toEqual([1, 2]);
      expect((end as MillraceError).cause).toBe(reason);
    }
  });
});

describe('a cut is an error boundary', () => {
  test('catchError in the same segment takes the error', async () => {
    const { values, end } = await bothWays(runtime, (how) => n$.pipe(fail.caught({ ...how, args: 'same' })));
    expect(values).toEqual([1, 2, 'Broken: valve 3 is broken']);
    expect(end).toBe('complete');
  });

  test('catchError in a later segment does not', async () => {
    const { values, end } = await bothWays(runtime, (how) => n$.pipe(fail.caught({ ...how, args: 'later' })));
    expect(values).toEqual([1, 2]);
    expect(told(end)).toEqual(failed({ code: 'ERR_OPERATOR', segment: 'work', cause: broken() }, /map/));
  });
});

describe('an error at a cut', () => {
  test.each([
    ['selector', 'ERR_OPERATOR', 'keyBy()', /the key selector of "faulty" threw/, true],
    ['key', 'ERR_KEY', 'keyBy()', /a key cannot be or hold Symbol\(three\); use strings, numbers/, false],
    ['route', 'ERR_OPERATOR', 'route()', /route\(\) of "faulty" chose 2, but executors are numbered 0 to 1/, false],
    ['routeThrows', 'ERR_OPERATOR', 'route()', /the function of route\(\) "faulty" threw/, true],
    ['routeNames', 'ERR_OPERATOR', 'route()', /chose -1, but executors are numbered 0 to 1/, false],
  ] as const)('%s: %s names the cut', async (kind, code, operator, message, hasCause) => {
    for (const side of ['input', 'executor'] as const) {
      const { values, end } = await bothWays(runtime, (how) =>
        n$.pipe(fail.exchange({ ...how, args: { kind, side } })),
      );
      expect([1, 2]).toEqual(expect.arrayContaining(values));
      const place = side === 'input' ? { segment: 'input' } : { segment: 'first', executor: 0 };
      const cause = hasCause ? { cause: broken() } : {};
      expect(told(end)).toEqual(failed({ code, topology: 'exchange', operator, ...place, ...cause }, message));
      if (!hasCause) expect(end).not.toHaveProperty('cause');
    }
  });
});

describe('a value that may not travel', () => {
  const messages = {
    nested: 'value.rows[1]["call back"] is a function; send data, or give the exchange a codec',
    map: 'value.byName.get("a").deep is a symbol; send data, or give the exchange a codec',
    set: 'value.values()[1] is an instance of WeakMap; send data, or give the exchange a codec',
    class: 'value[0] is an instance of Meter; send data, or give the exchange a codec',
    cycle: "value.next.ring refers back to value; codec: 'clone' carries that",
    bare: 'value is a function; send data, or give the exchange a codec',
  };

  test.each(Object.entries(messages) as [fail.BadValue, string][])(
    '%s: ERR_VALUE with the path',
    async (bad, message) => {
      const expected = { name: 'MillraceError', code: 'ERR_VALUE', message: `ERR_VALUE: ${message}` };
      for (const side of ['segment', 'output'] as const) {
        const { values, end } = await bothWays(runtime, (how) => n$.pipe(fail.sends({ ...how, args: { bad, side } })));
        expect(values).toEqual([1, 2]);
        expect(told(end)).toEqual({ ...expected, topology: 'sends', segment: 'work', executor: 0 });
      }
      const { values, end } = await bothWays(runtime, (how) => of(1, 2, fail.badValue(bad), 4).pipe(fail.hop(how)));
      expect(values).toEqual([1, 2]);
      expect(told(end)).toEqual({ ...expected, topology: 'hop', segment: 'input' });
    },
  );

  test('the input is unsubscribed', async () => {
    for (const [, how] of ways) {
      const input = new Subject<unknown>();
      const end = errorOf(input.pipe(fail.hop(how)));
      input.next(() => {});
      expect(await end).toMatchObject({ code: 'ERR_VALUE' });
      expect(input.observed).toBe(false);
    }
  });
});

describe('what the subscriber throws', () => {
  afterEach(() => {
    config.onUnhandledError = null;
  });

  test.each(ways)('%s: is reported as RxJS does, and the run goes on', async (_, how) => {
    const reported: unknown[] = [];
    config.onUnhandledError = (reason) => reported.push(reason);
    const seen: number[] = [];
    await new Promise<void>((complete, error) => {
      n$.pipe(fail.hop(how)).subscribe({
        next: (n) => {
          seen.push(n as number);
          if (n === 3) throw new fail.Broken(3);
        },
        error,
        complete,
      });
    });
    await until(() => reported.length > 0);
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    expect(reported).toEqual([new fail.Broken(3)]);
  });

  test.each(ways)('%s: an operator behind the topology ends the run', async (_, how) => {
    let run: Run | undefined;
    const reason = new Error('behind');
    const behind$ = concat(n$, new Subject<number>()).pipe(
      fail.hop({ ...how, onRun: (started) => (run = started) }),
      map(() => {
        throw reason;
      }),
    );
    expect(await errorOf(behind$)).toBe(reason);
    expect(run?.metrics().out).toBe(1);
    expect(runtime.runs).toEqual([]);
  });

  test.each(ways)('%s: an error nobody takes is reported as RxJS does', async (_, how) => {
    const reported: unknown[] = [];
    config.onUnhandledError = (reason) => reported.push(reason);
    n$.pipe(fail.lowered(how)).subscribe();
    await until(() => reported.length > 0);
    expect(reported).toEqual([expect.objectContaining({ code: 'ERR_OPERATOR' })]);
  });
});
