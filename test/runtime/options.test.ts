import { describe, expect, test } from 'vitest';
import { checkBatch, defaultBatch, resolveBatch } from '../../runtime/batch.js';
import { checkKeys, nearest, show } from '../../runtime/option.js';

const refused = (message: string) =>
  expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) });

describe('names', () => {
  test('an unknown name is refused with the nearest known one, or with all', () => {
    const known = ['size', 'bytes', 'flushMs', 'idle'];
    expect(() => checkKeys({ sizes: 1 }, known, 'batch')).toThrow(
      refused('batch has no option "sizes": did you mean size?'),
    );
    expect(() => checkKeys({ flushms: 1 }, known, 'batch')).toThrow(refused('did you mean flushMs?'));
    expect(() => checkKeys({ latency: 1 }, known, 'batch')).toThrow(refused('known are size, bytes, flushMs, idle'));
    expect(checkKeys({ idle: undefined }, known, 'batch')).toBeUndefined();
  });

  test('near is what is at most two edits away, of short names one', () => {
    expect(nearest('paralelism', ['parallelism'])).toBe('parallelism');
    expect(nearest('nmae', ['name'])).toBe('name');
    expect(nearest('it', ['idle'])).toBeUndefined();
    expect(nearest('x', [])).toBeUndefined();
  });

  test('a wrong value is shown shortly', () => {
    const named = function fn() {};
    const cases: [unknown, string][] = [
      ['a'.repeat(100), `"${'a'.repeat(57)}…"`],
      [1n, '1n'],
      [-0, '-0'],
      [[1, 2], 'an array of 2'],
      [new Map(), 'an object of Map'],
      [Object.create(null), 'an object of no class'],
      [named, 'a function fn'],
      [undefined, 'undefined'],
      [null, 'null'],
      [Symbol('s'), 'Symbol(s)'],
    ];
    for (const [value, shown] of cases) expect(show(value)).toBe(shown);
  });
});

describe('batch', () => {
  test('is a number of values or its parts', () => {
    const right = [
      1,
      2 ** 31 - 1,
      {},
      { size: 1, bytes: 1, flushMs: 0, idle: false },
      { flushMs: Infinity },
      'auto',
      { size: 'auto', latencyMs: 0.5 },
    ];
    for (const batch of right) expect(checkBatch(batch, 'batch')).toEqual(batch);
  });

  test.each([
    [0, 'batch must be a whole number of values, at least 1, got 0'],
    [1.5, 'got 1.5'],
    [Number.NaN, 'got NaN'],
    [Number.POSITIVE_INFINITY, 'got Infinity'],
    ['100', 'batch must be a number of values, \'auto\' or { size, bytes, flushMs, latencyMs, idle }, got "100"'],
    ['Auto', 'got "Auto"'],
    [null, 'got null'],
    [[], 'got an array of 0'],
    [{ size: 0 }, 'batch.size must be'],
    [{ size: '1' }, 'batch.size must be a whole number of values, at least 1, or \'auto\', got "1"'],
    [{ bytes: 0 }, 'batch.bytes must be a whole number from 1 to 1048576, got 0'],
    [{ bytes: 2 ** 20 + 1 }, 'batch.bytes must be'],
    [{ flushMs: -1 }, 'batch.flushMs must be milliseconds from 0 to 2147483647, or Infinity, got -1'],
    [{ flushMs: 2 ** 31 }, 'batch.flushMs must be'],
    [{ flushMs: '5' }, 'batch.flushMs must be'],
    [{ idle: 1 }, 'batch.idle must be true or false, got 1'],
    [{ flush: 5 }, 'batch has no option "flush"'],
    [{ byte: 5 }, 'did you mean bytes?'],
    [{ latencyMs: 5 }, "batch.latencyMs goes with size: 'auto', which it bounds"],
    [{ size: 100, latencyMs: 5 }, "batch.latencyMs goes with size: 'auto'"],
    [
      { size: 'auto', latencyMs: 0 },
      'batch.latencyMs must be milliseconds above 0, up to 2147483647, or Infinity, got 0',
    ],
    [{ size: 'auto', latencyMs: 2 ** 31 }, 'batch.latencyMs must be'],
  ])('%j is refused (C-191)', (batch, message) => {
    expect(() => checkBatch(batch, 'batch')).toThrow(refused(message));
  });

  test('the first shape says most, part by part; the defaults say the rest (C-186)', () => {
    expect(resolveBatch()).toEqual({ size: 100, bytes: 32 * 1024, flushMs: 5, latencyMs: Infinity, idle: true });
    expect(resolveBatch('auto', { size: 7, idle: false })).toEqual({ ...defaultBatch, size: 'auto', idle: false });
    expect(resolveBatch(7)).toEqual({ ...defaultBatch, size: 7 });
    expect(resolveBatch({ size: 1 }, 7, { size: 9, idle: false })).toEqual({ ...defaultBatch, size: 1, idle: false });
    expect(resolveBatch(undefined, { bytes: 9 }, 5)).toEqual({ ...defaultBatch, size: 5, bytes: 9 });
    expect(resolveBatch({ size: undefined } as object, 5)).toEqual({ ...defaultBatch, size: 5 });
  });
});
