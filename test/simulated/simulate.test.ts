/**
 * simulate(): what it says of a run, of a run that cannot end, and of options that are wrong.
 */
import { gather, isMillraceError, keyBy, type MillraceError, pull, shuffle, source, topology } from 'millrace';
import { concatMap, countByKey, delay, filter, map, mergeMap, tap, toArray } from 'millrace/operators';
import { type SimulateOptions, type Simulation, simulate } from 'millrace/testing';
import { defer, interval, NEVER, type Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';

const made = <In, Out>(name: string, build: (input$: Observable<In>) => Observable<Out>) =>
  topology(import.meta.url, (input$: Observable<In>) => build(input$), { name });

const counted = made('counted', (lines$: Observable<string>) =>
  lines$.pipe(
    shuffle({ parallelism: 2, name: 'split' }),
    mergeMap((line) => line.split(' ')),
    keyBy((word) => word, { parallelism: 2, name: 'count' }),
    countByKey(),
  ),
);
const passing = made('passing', (values$: Observable<number>) => values$.pipe(shuffle({ name: 'pass' })));
const late = made('late', (values$: Observable<number>) => values$.pipe(shuffle({ name: 'pass' }), delay(10)));
const ticking = source(
  import.meta.url,
  () => pull(() => [1, 2]).pipe(mergeMap((n) => interval(100).pipe(map((i) => n * 10 + i)))),
  { name: 'ticking' },
);
const two = topology(
  import.meta.url,
  (values$: Observable<number>) => {
    const all$ = values$.pipe(shuffle());
    return { even: all$.pipe(filter((n) => n % 2 === 0)), all: all$.pipe(toArray(), gather()) };
  },
  { name: 'two' },
);
const scaled = topology(
  import.meta.url,
  (values$: Observable<number>, by: number) =>
    values$.pipe(
      shuffle(),
      map((n) => n * by),
    ),
  { name: 'scaled' },
);

const values = <O>({ outputs }: Simulation<O>, name = 'output') => outputs[name]!.map(([, value]) => value);
const stalled = (end: Simulation<unknown>['end']): string =>
  isMillraceError(end) && end.code === 'ERR_STALLED' ? end.message : `not stalled: ${String(end)}`;

describe('simulate', () => {
  test('the calm seed takes no time: what is sent at a time arrives at it', () => {
    const input = {
      values: [
        [0, 1],
        [3, 2],
        [3, 3],
        [20, 4],
      ],
      endMs: 30,
    } as const;
    const run = simulate(passing, { input });
    expect(run).toMatchObject({ seed: 0, end: 'complete', endMs: 30 });
    expect(run.outputs).toEqual({
      output: [
        [0, 1],
        [3, 2],
        [3, 3],
        [20, 4],
      ],
    });
    expect(simulate(late, { input }).outputs['output']).toEqual([
      [10, 1],
      [13, 2],
      [13, 3],
      [30, 4],
    ]);
  });

  test('every batch is told, with its reason', () => {
    const { flushes } = simulate(passing, {
      input: {
        values: [
          [0, 1],
          [0, 2],
          [0, 3],
          [10, 4],
        ],
        endMs: 12,
      },
      run: { batches: { pass: { size: 2, flushMs: 5, idle: false }, output: 1 } },
    });
    expect(flushes.filter(({ channel }) => channel === 'pass:caller->pass/0')).toEqual([
      { atMs: 0, channel: 'pass:caller->pass/0', count: 2, reason: 'size' },
      { atMs: 5, channel: 'pass:caller->pass/0', count: 1, reason: 'age' },
      { atMs: 12, channel: 'pass:caller->pass/0', count: 1, reason: 'end' },
    ]);
    expect(flushes.filter(({ channel }) => channel === 'output:pass/0->caller').map(({ count }) => count)).toEqual([
      1, 1, 1, 1,
    ]);
  });

  test('a record of outputs, args, a source without input, and a time to stop at', () => {
    const run = simulate(two, { input: [1, 2, 3, 4] });
    expect([values(run, 'even'), values(run, 'all'), run.end]).toEqual([[2, 4], [[1, 2, 3, 4]], 'complete']);
    const wanted = simulate(two, { input: [1, 2], run: { outputs: ['even'] } });
    expect([Object.keys(wanted.outputs), wanted.end]).toEqual([['even'], 'complete']);
    expect(values(simulate(scaled, { input: [1, 2], args: 3 }))).toEqual([3, 6]);
    const ended = simulate(ticking, { untilMs: 250 });
    expect(ended).toMatchObject({ end: 'unsubscribed', endMs: 200 });
    expect(ended.outputs['output']).toEqual([
      [100, 10],
      [100, 20],
      [200, 11],
      [200, 21],
    ]);
  });

  test('the trace tells who did what, and when', () => {
    const { trace } = simulate(counted, { input: { values: [[5, 'to be']] } });
    const lines = trace.split('\n').map((line) => line.trim().replace(/\s+/g, ' '));
    for (const line of [
      '5.000 ms caller split:caller->split/0: 1 value (asleep)',
      '5.000 ms thread 1 count:split/0->count/0: 2 values (end)',
      '5.000 ms caller output ◀ ["to",1]',
      '5.000 ms caller ends: complete',
    ])
      expect(lines).toContain(line);
  });

  test('a fault that never came true is told', () => {
    const { trace } = simulate(passing, { input: [1], faults: [{ kind: 'die', executor: 'pass/0', atValue: 2 }] });
    expect(trace).toContain('die of pass/0 at value 2 never came true');
  });

  test('what build throws is thrown, and what a step throws is the end', () => {
    const wrong = made('wrong', (values$: Observable<number>) => values$.pipe(shuffle({ parallelism: 2 }), toArray()));
    expect(() => simulate(wrong, { input: [1] })).toThrow(expect.objectContaining({ code: 'ERR_SCOPE' }));
    const throwing = made('throwing', (values$: Observable<number>) =>
      values$.pipe(
        shuffle(),
        tap((n) => {
          if (n === 2) throw new Error('no 2');
        }),
      ),
    );
    const run = simulate(throwing, { input: [1, 2, 3] });
    expect(values(run)).toEqual([1]);
    expect(run.end).toMatchObject({ code: 'ERR_OPERATOR', segment: 'shuffle-1', cause: { message: 'no 2' } });
    const { end } = simulate(passing, { input: { values: [[0, 1]], endMs: 3, error: new Error('gone') } });
    expect(end).toMatchObject({ code: 'ERR_SOURCE', cause: { message: 'gone' } });
    const aborted = simulate(passing, { input: [1], run: { signal: AbortSignal.abort('enough') } });
    expect(aborted.end).toMatchObject({ code: 'ERR_CLOSED', cause: 'enough' });
  });
});

describe('a run that cannot end', () => {
  test('who waits for whom', () => {
    const never = made('never', (values$: Observable<number>) =>
      values$.pipe(
        shuffle({ name: 'first' }),
        concatMap(() => NEVER),
        shuffle({ name: 'second' }),
      ),
    );
    const message = stalled(simulate(never, { input: [1, 2] }).end);
    expect(message).toContain('can do nothing more and has not ended');
    expect(message).toContain('first/0 waits for its own steps: one takes no input until what it has begun is done');
    expect(message).toContain('second/0 waits for input: first/0 has sent nothing more by second:first/0->second/0');
    expect(message).toContain('caller waits for input: second/0 has sent nothing more by output:second/0->caller');
  });

  test('the input that does not end', () => {
    const message = stalled(simulate(passing, { input: { values: [[0, 1]], endMs: Number.POSITIVE_INFINITY } }).end);
    expect(message).toContain('caller waits for the input, which has not ended');
  });

  test('timers and promises of the user are named, by line', () => {
    const foreign = made('foreign', (values$: Observable<number>) =>
      values$.pipe(
        shuffle(),
        concatMap((n) => new Promise<number>((resolve) => setTimeout(() => resolve(n), 1))),
      ),
    );
    const run = simulate(foreign, { input: [1] });
    expect(stalled(run.end)).toMatch(
      /not of virtual time, and so never heard of: setTimeout at .*simulate\.test\.ts:\d+, a promise at /,
    );
    expect(run.trace).toMatch(/setTimeout at .*simulate\.test\.ts:\d+ is not of virtual time/);
  });

  test('asynchronous sources are', () => {
    const lines = source(
      import.meta.url,
      () =>
        pull(async function* () {
          yield 1;
        }),
      { name: 'lines' },
    );
    expect(stalled(simulate(lines).end)).toContain('never heard of: a promise at');
  });

  test('a run that never comes to rest', () => {
    const endless = source(import.meta.url, () => pull(() => [1]).pipe(mergeMap(() => defer(() => interval(0)))), {
      name: 'endless',
    });
    const message = stalled(simulate(endless).end);
    expect(message).toContain('did not come to rest within 250,000 steps');
  });
});

describe('options of simulate()', () => {
  const refusal = (options: unknown): string => {
    try {
      simulate(passing, options as SimulateOptions<number>);
    } catch (error) {
      return (error as MillraceError).message;
    }
    return 'accepted';
  };

  test.each([
    [3, 'ERR_OPTION: the options of simulate() must be an object, got 3'],
    [{ sed: 1 }, 'ERR_OPTION: simulate() has no option "sed": did you mean seed?'],
    [{ seed: -1 }, 'ERR_OPTION: seed of simulate() must be a whole number from 0 to 2^32 - 1, got -1'],
    [{ seed: 1.5 }, 'ERR_OPTION: seed of simulate() must be a whole number from 0 to 2^32 - 1, got 1.5'],
    [{ untilMs: -1 }, 'ERR_OPTION: untilMs of simulate() must be milliseconds, at least 0, got -1'],
    [{ run: 1 }, 'ERR_OPTION: run of simulate() must be an object of run options, got 1'],
    [{ run: { runtime: {} } }, 'ERR_OPTION: run of simulate() has its own runtime: leave `runtime` out'],
    [{ input: 'ab' }, 'ERR_OPTION: input must be an array of values or { values, endMs, error }, got "ab"'],
    [{ faults: 'die' }, 'ERR_OPTION: faults must be an array of faults, got "die"'],
    [
      { faults: [{ kind: 'dies' }] },
      'ERR_OPTION: faults[0].kind must be one of die, pause, slow, full, lateDoorbell, starve, sourceStall, subscriberThrows, unsubscribe, got "dies"',
    ],
    [
      { faults: [{ kind: 'die', at: 1 }] },
      'ERR_OPTION: faults[0] has no option "at": known are kind, executor, atValue, forMs',
    ],
    [
      { faults: [{ kind: 'die', executor: 1 }] },
      'ERR_OPTION: faults[0].executor must be an id such as "words/0", got 1',
    ],
    [
      { faults: [{ kind: 'die', executor: 'passe/0' }] },
      'ERR_OPTION: a fault names executor "passe/0", which this plan does not have: did you mean pass/0?',
    ],
    [
      { faults: [{ kind: 'die', atValue: -1 }] },
      'ERR_OPTION: faults[0].atValue must be a whole number of values, at least 0, got -1',
    ],
    [
      { faults: [{ kind: 'pause', forMs: Number.NaN }] },
      'ERR_OPTION: faults[0].forMs must be milliseconds, at least 0, got NaN',
    ],
  ])('%j', (options, message) => {
    expect(refusal(options)).toBe(message);
  });

  test('what is no topology', () => {
    expect(() => simulate((() => {}) as never)).toThrow(
      'simulate() runs what topology() or source() returned, got a function',
    );
  });
});
