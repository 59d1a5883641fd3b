import { createRuntime, type MillraceError } from 'millrace';
import { of, Subject } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import type { How } from './fixtures/endingsSeen.js';
import * as hard from './fixtures/hardEndings.js';
import { unloadable } from './fixtures/hardEndingsLoading.js';
import { first, observe, until, valuesOf } from './fixtures/observe.js';

const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());

const ways: readonly (readonly [string, How])[] = [
  ['on threads', { runtime }],
  ['on the calling thread', { threads: 0 }],
];

/** Everything is as before: the next run works, and none is left. */
async function serves(how: How): Promise<void> {
  expect(await valuesOf(of(1, 2, 3).pipe(hard.same(how)))).toEqual([1, 2, 3]);
  expect(runtime.runs).toEqual([]);
}

describe.each(ways)('whatever a step throws is ERR_OPERATOR, and the next run works, %s', (_, how) => {
  test.each(Object.keys(hard.odd) as hard.Odd[])('%s', async (what) => {
    for (const where of ['lowered', 'opaque', 'iterable', 'promise', 'pull'] as const) {
      const { values, end } = await observe(hard.throws({ ...how, args: { what, where } }));
      expect(values).toEqual([1, 2]);
      const code = where === 'pull' ? 'ERR_SOURCE' : 'ERR_OPERATOR';
      expect(end).toMatchObject({ code, topology: 'throws', segment: 'pull-1', executor: 0 });
      const { message } = end as MillraceError;
      expect(message.length).toBeLessThan(20_000);
      expect(message).toMatch(/^ERR_\w+: .* in segment "pull-1" \(pipe at hardEndings\.ts:\d+\) failed: /);
    }
    await serves(how);
  });

  test('what was thrown is the cause, as far as it can be carried', async () => {
    const causeOf = async (what: hard.Odd): Promise<unknown> =>
      ((await observe(hard.throws({ ...how, args: { what, where: 'lowered' } }))).end as MillraceError).cause;
    expect(await causeOf('nothing at all')).toBeUndefined();
    expect(await causeOf('a bigint')).toBe(2n ** 70n);
    expect(await causeOf('an object without a prototype')).toEqual({ reason: 'bare' });
    expect(await causeOf('an object')).toEqual({ reason: 'none', at: [1, { b: -0 }] });
    expect(await causeOf('a frozen error')).toStrictEqual(new RangeError('cold'));
    expect(await causeOf('an error whose stack throws')).toMatchObject({ name: 'Error', message: 'stackless' });
    expect(await causeOf('an error whose name throws')).toBeInstanceOf(TypeError);
    expect(await causeOf('an error whose message throws')).toBeInstanceOf(Error);
    expect(await causeOf('an error that is its own cause')).toMatchObject({ message: 'circle', cause: '[cycle]' });
    expect(await causeOf('an error with cycles and fields')).toMatchObject({ message: 'round', list: ['[cycle]', 1] });
  });
});

describe('a clean-up that throws is a warning: it ends no run and no thread, and keeps no other from being run', () => {
  const cleanUps: readonly hard.CleanUp[] = ['finalize', 'tap', 'iterator', 'pull', 'asyncPull', 'unsubscribe'];
  const ends = ['complete', 'take', 'error', undefined] as const;
  const names: Partial<Record<hard.CleanUp, string>> = {
    iterator: 'mergeMap(…)',
    tap: 'tap(…)',
    pull: 'a pull()',
    asyncPull: 'a pull()',
  };

  test.each(cleanUps.flatMap((where) => ends.map((end) => [where, end] as const)))(
    '%s, at the end: %s',
    async (where, end) => {
      for (const [, how] of ways) {
        if (where === 'iterator' && end === 'complete') continue;
        const warnings: Error[] = [];
        const hear = (warning: Error): void => void (warning.name === 'MillraceWarning' && warnings.push(warning));
        process.on('warning', hear);
        const counts = new Int32Array(new SharedArrayBuffer(12));
        const run$ = hard.cleanUps({ ...how, args: { where, counts, ...(end && { end }) } });
        if (end === undefined) {
          const { subscription, values } = first(run$, 5);
          await values;
          subscription.unsubscribe();
        } else {
          const { values, end: how } = await observe(run$);
          // A source that ends by itself still has somebody to tell.
          if (end === 'complete' && where.endsWith('ull'))
            expect(how).toMatchObject({ code: 'ERR_SOURCE', cause: { message: 'clean-up' } });
          else if (end === 'error')
            expect(how).toMatchObject({ code: 'ERR_OPERATOR', operator: 'map', cause: { message: 'the step' } });
          else expect(how).toBe('complete');
          expect(values).toEqual([1, 2, 3, 4, 5].slice(0, { complete: 3, take: 5, error: 4 }[end]));
        }
        await until(() => counts.every((count) => count > 0));
        await serves(how);
        expect([...counts]).toEqual([1, 1, 1]);
        process.off('warning', hear);
        // On a thread it is a warning of that thread, which Node prints.
        if (!('threads' in how) || (end === 'complete' && where.endsWith('ull'))) expect(warnings).toEqual([]);
        else {
          const whose = names[where] ?? 'step 2';
          expect(warnings).toMatchObject([
            {
              name: 'MillraceWarning',
              message: `a clean-up of ${whose} failed when it had ended: RangeError: clean-up`,
            },
          ]);
        }
      }
    },
  );

  test('a thread on which a clean-up threw is not lost to others', async () => {
    const one = createRuntime({ threads: 1 });
    const input = new Subject<number>();
    const bystander = first(input.pipe(hard.same({ runtime: one })), 2);
    input.next(1);
    for (const end of ['complete', 'take', 'error'] as const) {
      const counts = new Int32Array(new SharedArrayBuffer(12));
      await observe(hard.cleanUps({ runtime: one, args: { where: 'finalize', counts, end } }));
    }
    input.next(2);
    expect(await bystander.values).toEqual([1, 2]);
    await one.close();
  });
});

describe.each(ways)('twenty thousand empty inners are no twenty thousand calls deep, %s', (_, how) => {
  test.each(['EMPTY', 'iterables', 'async', 'concatAll', 'behind'] as const)('%s', async (args) => {
    const numbers = new Subject<number>();
    const values = valuesOf(numbers.pipe(hard.empties({ ...how, args })));
    for (let n = 0; n < 20_000; n++) numbers.next(n);
    numbers.complete();
    expect(await values).toEqual([7]);
  });
});

test('a module that throws on a thread what cannot become text', async () => {
  const { end } = await observe(of(1).pipe(unloadable({ runtime })));
  expect(end).toMatchObject({ code: 'ERR_START', topology: 'unloadable' });
  await serves({ runtime });
});

test.each(ways)('a getter that throws what cannot become text, read by structured clone, %s', async (_, how) => {
  const value = Object.defineProperty({}, 'a', {
    enumerable: true,
    get() {
      throw { toString: 1, valueOf: 1 };
    },
  });
  const { values, end } = await observe(of(1, value, 3).pipe(hard.cloned(how)));
  expect(values).toEqual([1]);
  expect(end).toMatchObject({ code: 'ERR_VALUE', topology: 'cloned', segment: 'input' });
  await serves(how);
});

test.each(ways)(
  'an operator whose own subscriber throws at the end is an error, not a clean-up, %s',
  async (_, how) => {
    const { values, end } = await observe(of(1, 2).pipe(hard.breaksAtEnd(how)));
    expect(values).toEqual([1, 2]);
    expect(end).toMatchObject({ code: 'ERR_OPERATOR', cause: { name: 'RangeError', message: 'at the end' } });
    await serves(how);
  },
);
