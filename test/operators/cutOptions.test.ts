/** Every option of every cut is checked where the cut is written, whether or not it stands in a build. */

import { from, of } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { ExchangeOptions } from '../../operators/cut.js';
import { broadcast, gather, keyBy, pull, route, shuffle, spreadKey, union } from '../../src/index.js';
import { refusal } from './harness.js';
import { lineOf, made, refused } from './planned.js';

type Given = ExchangeOptions<number>;
const zero = (): number => 0;
const cuts: Readonly<Record<string, (options: unknown) => ReturnType<typeof shuffle<number>>>> = {
  shuffle: (options) => shuffle<number>(options as Given),
  keyBy: (options) => keyBy<number, number>(zero, options as Given),
  spreadKey: (options) => spreadKey<number>(zero, options as Given),
  route: (options) => route<number>(zero, options as Given),
  broadcast: (options) => broadcast<number>(options as Given),
  gather: (options) => gather<number>(options as Given),
};
const codec = { name: 'plus', encode: (n: number) => n + 1, decode: (n: unknown) => n as number };

const wrong: readonly (readonly [options: unknown, message: RegExp])[] = [
  [null, /the options of \w+\(\) must be an object, got null/],
  [2, /the options of \w+\(\) must be an object, got 2/],
  [{ batch: 0 }, /batch of \w+\(\) must be a whole number of values, at least 1, got 0/],
  [{ batch: -1 }, /at least 1, got -1/],
  [{ batch: 1.5 }, /at least 1, got 1\.5/],
  [{ batch: Number.NaN }, /at least 1, got NaN/],
  [{ batch: Number.POSITIVE_INFINITY }, /at least 1, got Infinity/],
  [{ batch: 'Auto' }, /must be a number of values, 'auto' or \{ size, bytes, flushMs, latencyMs, idle \}, got "Auto"/],
  [{ batch: null }, /must be a number of values, 'auto' or \{ size, bytes, flushMs, latencyMs, idle \}, got null/],
  [{ batch: { size: 0 } }, /batch of \w+\(\)\.size must be a whole number of values, at least 1, or 'auto', got 0/],
  [{ batch: { size: 'Auto' } }, /\.size must be a whole number of values, at least 1, or 'auto', got "Auto"/],
  [{ batch: { bytes: 0 } }, /\.bytes must be a whole number from 1 to 1048576, got 0/],
  [{ batch: { bytes: 2 ** 20 + 1 } }, /\.bytes must be a whole number from 1 to 1048576, got 1048577/],
  [{ batch: { flushMs: -1 } }, /\.flushMs must be milliseconds from 0 to 2147483647, or Infinity, got -1/],
  [{ batch: { flushMs: 2 ** 31 } }, /\.flushMs must be milliseconds from 0 to 2147483647, or Infinity, got 2147483648/],
  [{ batch: { flushMs: '5' } }, /\.flushMs must be milliseconds.*got "5"/],
  [{ batch: { flushMs: Number.NaN } }, /\.flushMs must be milliseconds.*got NaN/],
  [{ batch: { idle: 1 } }, /\.idle must be true or false, got 1/],
  [{ batch: { latencyMs: 10 } }, /\.latencyMs goes with size: 'auto', which it bounds/],
  [{ batch: { siez: 10 } }, /has no option "siez": did you mean size\?/],
  [{ codec: 'int32' }, /a codec that is not known, "int32": known are 'auto', 'clone' and \{ name, encode, decode \}/],
  [{ codec: 'Clone' }, /a codec that is not known, "Clone": did you mean 'clone'\?/],
  [{ codec: { encode: zero } }, /a codec that is not known, an object of Object: known are/],
  [{ codec: { word: 'string' } }, /a codec that is not known, an object of Object: known are/],
  [{ nmae: 'a' }, /\w+\(\) has no option "nmae": did you mean name\?/],
  [{ Batch: 1 }, /\w+\(\) has no option "Batch": did you mean batch\?/],
  [{ timeoutMs: 0 }, /\w+\(\) has no option "timeoutMs": known are /],
];

const wrongParallelism: readonly unknown[] = [0, -1, 1.5, '2', 1025, Number.NaN, Number.POSITIVE_INFINITY, null, 2n];

const right: readonly Given[] = [
  {},
  { batch: 1, codec: 'auto', name: 'a' },
  { batch: { size: 1, bytes: 2 ** 20, flushMs: 2 ** 31 - 1, idle: false }, codec: 'clone' },
  { batch: { flushMs: Number.POSITIVE_INFINITY } },
  { batch: { flushMs: 0 }, codec },
];

describe.each(Object.entries(cuts))('ERR_OPTION of %s()', (kind, cut) => {
  const several = kind !== 'gather';

  test.each(wrong)('%o', (options, message) => {
    const error = refused((s$) => s$.pipe(cut(options)));
    expect(error.code).toBe('ERR_OPTION');
    expect(error.message).toMatch(message);
    expect(error.message).toContain(`${kind}()`);
    expect(lineOf(error)).toContain(`${kind}`);
    // Also outside of a build, where a cut is transparent.
    expect(refusal(() => from([1]).pipe(cut(options))).message).toBe(error.message);
  });

  test.each(wrongParallelism)('parallelism %o', (parallelism) => {
    const error = refused((s$) => s$.pipe(cut({ parallelism })));
    expect(error.code).toBe('ERR_OPTION');
    const range = `parallelism of ${kind}() must be a whole number from 1 to 1024, got `;
    expect(error.message).toContain(
      several ? range : 'gather() has no option "parallelism": known are batch, name, codec',
    );
  });

  test('local is an option of shuffle alone', () => {
    if (kind === 'shuffle') {
      expect(refusal(() => cut({ local: 'yes' })).message).toContain(
        'local of shuffle() must be true or false, got "yes"',
      );
      cut({ local: true });
      return;
    }
    const error = refusal(() => cut({ local: true }));
    expect(error.message).toMatch(new RegExp(`ERR_OPTION: ${kind}\\(\\) has no option "local": known are `));
  });

  test.each(right)('accepted: %o', (options) => {
    const widest = several ? { ...options, parallelism: 1024 } : options;
    expect(made((s$) => s$.pipe(cut(options), cut({ name: 'last' }))).describe({ threads: 0 }).version).toBe(1);
    expect(() => cut(widest)).not.toThrow();
  });
});

describe('ERR_OPTION of what takes a function or streams', () => {
  const noFunctions: readonly unknown[] = [undefined, null, 'word', { a: 1 }, 7];
  const takers: readonly (readonly [string, (fn: never) => unknown])[] = [
    ['the first argument of keyBy()', (fn) => keyBy(fn)],
    ['the first argument of spreadKey()', (fn) => spreadKey(fn)],
    ['the first argument of route()', (fn) => route(fn)],
    ['the argument of pull()', (fn) => pull(fn)],
  ];
  test.each(takers)('%s', (what, taker) => {
    for (const fn of noFunctions) {
      const error = refused(() => taker(fn as never));
      expect(error.code).toBe('ERR_OPTION');
      expect(error.message).toContain(`${what} must be a function, got `);
      expect(lineOf(error)).toMatch(/(keyBy|spreadKey|route|pull)\(fn\)/);
    }
  });

  test('union', () => {
    const none = refused(() => union());
    expect(none).toMatchObject({ code: 'ERR_OPTION', message: 'ERR_OPTION: union() needs at least one stream' });
    expect(lineOf(none)).toContain('union()');
    for (const input of [[1, 2], Promise.resolve(1), undefined, of]) {
      const error = refused((s$) => union(s$, input as never));
      expect(error.code).toBe('ERR_OPTION');
      expect(error.message).toMatch(
        /union\(\) takes Observables, got (an array of 2|an object of Promise|undefined|a function of)$/,
      );
      expect(lineOf(error)).toContain('union(s$, input');
    }
  });
});
