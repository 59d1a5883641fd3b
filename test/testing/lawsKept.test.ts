/** assertLaws: what RxJS and the operators of millrace do breaks no law; and what is refused at the door. */
import fc from 'fast-check';
import * as rx from 'rxjs';
import { Observable, type OperatorFunction } from 'rxjs';
import { describe, expect, test } from 'vitest';
import * as op from '../../operators/index.js';
import { keyBy } from '../../operators/keyBy.js';
import { arbitrary, assertLaws, testClock } from '../../src/testing/index.js';
import { samples } from '../operators/samples.js';

const input = arbitrary.input(fc.integer({ min: 0, max: 4 }));
const seed = 7;
const long = process.env['MILLRACE_LONG'] === '1';

type Operator = OperatorFunction<number, unknown>;

const identity: Operator = (source) =>
  new Observable((to) => {
    const subscription = source.subscribe({
      next: (n) => to.next(n),
      error: (reason) => to.error(reason),
      complete: () => to.complete(),
    });
    return () => subscription.unsubscribe();
  });

describe('law: what is lawful passes', () => {
  test('an operator as the documentation of RxJS writes it', () => assertLaws(() => identity, { input, runs: 25 }));

  const quick = Object.entries(samples).filter(([name]) => !/^(expand|repeat|window)/.test(name));
  const cases = quick.flatMap(([name, uses]) =>
    (long ? uses : uses.slice(0, 1)).map((use, index) => [name, index + 1, use] as const),
  );
  test.each(cases)('%s of RxJS, use %i, is like itself', async (_, __, use) => {
    const made = (): OperatorFunction<number, unknown> => (source) => use(source, rx);
    await assertLaws(made, { input, runs: long ? 100 : 2, seed, hosts: ['inline'], like: made });
  });

  const ours: readonly (readonly [name: string, ours: () => Operator, theirs: () => Operator])[] = [
    ['map', () => op.map((n) => n * 2), () => rx.map((n) => n * 2)],
    ['map that throws', () => op.map(notThree), () => rx.map(notThree)],
    ['filter', () => op.filter((n) => n > 1), () => rx.filter((n) => n > 1)],
    ['scan', () => op.scan((sum, n) => sum + n, 0), () => rx.scan((sum, n) => sum + n, 0)],
    ['take', () => op.take(2), () => rx.take(2)],
    ['mergeMap', () => op.mergeMap((n) => [n, n + 1]), () => rx.mergeMap((n) => [n, n + 1])],
    [
      'pipe',
      () =>
        op.pipe(
          op.map((n: number) => n + 1),
          op.reduce((sum, n) => sum + n, 0),
        ),
      () => rx.reduce((sum, n) => sum + n + 1, 0),
    ],
    [
      'countByKey',
      () =>
        op.pipe(
          keyBy((n: number) => n % 2),
          op.countByKey(),
        ),
      () => (source) => {
        const counts = [0, 0];
        return source.pipe(rx.map((n) => [n % 2, ++(counts[n % 2] as number)]));
      },
    ],
  ];
  test.each(ours)('%s is like that of RxJS, and simulated it is as inline', async (_, made, like) => {
    await assertLaws(made, { input, runs: 20, like });
  });

  test('mergeMap of timers is like that of RxJS', async () => {
    const like = () => rx.mergeMap((n: number) => rx.timer(n).pipe(rx.map(() => n)));
    const made = () => op.mergeMap((n: number) => rx.timer(n).pipe(rx.map(() => n)));
    await assertLaws(made, { input, runs: 20, like, hosts: ['inline'] });
  });

  test('what the reference breaks, the operator may break', async () => {
    for (const made of [
      () => rx.shareReplay<number>(1),
      () => rx.materialize<number>(),
      () => rx.switchMap((n: number) => [n, n]),
    ]) {
      await assertLaws(made, { input, runs: 20, seed, hosts: ['inline'], like: made });
      await expect(assertLaws(made, { input, runs: 20, seed, hosts: ['inline'] })).rejects.toThrow('law: ');
    }
  });
});

function notThree(n: number): number {
  if (n === 3) throw new Error('three');
  return n;
}

describe('refused', () => {
  const map = () => rx.map((n: number) => n);
  const wrong: readonly (readonly [target: unknown, laws: unknown, message: string])[] = [
    [
      map(),
      { input },
      'the function given to assertLaws() must return an operator, such as () => map(f), but threw TypeError',
    ],
    [() => 7, { input }, 'the function given to assertLaws() must return an operator, got 7'],
    [7, { input }, 'takes a function that makes an operator, such as () => map(f), or a topology, got 7'],
    [map, undefined, 'the laws of assertLaws() must be an object, got undefined'],
    [
      map,
      {},
      'input of assertLaws() must be an arbitrary, such as arbitrary.input(fc.nat()) or fc.array(fc.string()), got undefined',
    ],
    [map, { input: [1] }, 'got an array of 1'],
    [
      map,
      { input: fc.nat() },
      'what input of assertLaws() draws must be an array of values or { values, endMs, error }, got ',
    ],
    [map, { input, run: 3 }, 'the laws of assertLaws() has no option "run": did you mean runs?'],
    [map, { input, runs: 0 }, 'runs of assertLaws() must be a whole number of inputs, at least 1, got 0'],
    [map, { input, seed: -1 }, 'seed of assertLaws() must be a whole number from 0 to 2^32 - 1, got -1'],
    [map, { input, like: map() }, 'like must return an operator, such as () => map(f), but threw TypeError'],
    [map, { input, like: 3 }, 'like of assertLaws() must be a function that makes an operator, got 3'],
    [
      map,
      { input, hosts: [] },
      'hosts of assertLaws() must be a list of "inline", "simulated", "threads", got an array of 0',
    ],
    [map, { input, hosts: ['inlin'] }, 'got "inlin"; did you mean "inline"?'],
    [
      map,
      { input, hosts: ['threads'] },
      "hosts of assertLaws() has 'threads', but a thread loads modules, and an operator made here cannot go there: put it into a topology",
    ],
  ];
  test.each(wrong.map(([target, laws, message]) => [message, target, laws] as const))(
    '%s',
    async (message, target, laws) => {
      const reason = (await assertLaws(target as never, laws as never).catch((reason: unknown) => reason)) as Error;
      expect(reason).toMatchObject({ code: 'ERR_OPTION' });
      expect(reason.message).toContain(message);
    },
  );

  test('while the clock of the test is in place', async () => {
    using clock = testClock();
    await expect(assertLaws(map, { input })).rejects.toThrow('another one is in place');
    expect(clock.nowMs).toBe(0);
  });
});
