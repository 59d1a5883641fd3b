/** What goes in: a schedule for every input that makes sense, a sentence for every other. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Input, scheduleOf } from '../../src/testing/input.js';

const times = fc
  .array(fc.double({ min: 0, max: 1e6, noNaN: true }), { maxLength: 6 })
  .map((all) => [...all].sort((a, b) => a - b));

describe('inputs', () => {
  test('law: an array is its values at 0 ms, then completion', () => {
    fc.assert(
      fc.property(fc.array(fc.anything()), (values) => {
        expect(scheduleOf(values)).toEqual({ values: values.map((value) => [0, value]), endMs: 0, failure: undefined });
      }),
    );
  });

  test('law: values at ascending times are taken as they are, and the end is told or with the last', () => {
    fc.assert(
      fc.property(times, fc.option(fc.nat(), { nil: undefined }), fc.boolean(), (all, tailMs, fails) => {
        const values = all.map((atMs, index) => [atMs, index] as const);
        const lastMs = all.at(-1) ?? 0;
        const input = {
          values,
          ...(tailMs === undefined ? {} : { endMs: lastMs + tailMs }),
          ...(fails ? { error: 'reason' } : {}),
        };
        expect(scheduleOf(input)).toEqual({
          values,
          endMs: lastMs + (tailMs ?? 0),
          failure: fails ? { error: 'reason' } : undefined,
        });
      }),
    );
  });

  test('law: times that do not ascend are refused at the first that does not', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 50 }), { minLength: 2 }), (all) => {
        const index = all.findIndex((atMs, at) => at > 0 && atMs < (all[at - 1] as number));
        fc.pre(index > 0);
        const values = all.map((atMs) => [atMs, 'value'] as const);
        expect(() => scheduleOf({ values })).toThrow(
          `ERR_OPTION: input.values[${index}] is at ${all[index]} ms, before the value at ${all[index - 1]} ms; put the values in order of time`,
        );
      }),
    );
  });

  test('an end that never comes, an error that is undefined, an end that is undefined', () => {
    expect(scheduleOf({ values: [[1, 'a']], endMs: Number.POSITIVE_INFINITY }).endMs).toBeUndefined();
    expect(scheduleOf({ values: [], error: undefined })).toEqual({
      values: [],
      endMs: 0,
      failure: { error: undefined },
    });
    expect(scheduleOf({ values: [[2, 'a']], endMs: undefined } as never)).toMatchObject({ endMs: 2 });
  });

  const refused: readonly (readonly [string, unknown, string])[] = [
    ['no input', undefined, 'input must be an array of values or { values, endMs, error }, got undefined'],
    ['a text', 'abc', 'input must be an array of values or { values, endMs, error }, got "abc"'],
    ['an unknown name', { values: [], end: 3 }, 'input has no option "end": did you mean endMs?'],
    ['no values', {}, 'input.values must be an array of [atMs, value], got undefined'],
    [
      'plain values',
      { values: ['a'] },
      'input.values[0] must be [atMs, value], got "a"; plain values go into an array: input: [1, 2]',
    ],
    [
      'too much',
      { values: [[0, 'a', 1]] },
      'input.values[0] must be [atMs, value], got an array of 3; plain values go into an array: input: [1, 2]',
    ],
    [
      'a hole',
      { values: new Array(1) },
      'input.values[0] must be [atMs, value], got undefined; plain values go into an array: input: [1, 2]',
    ],
    ['a negative time', { values: [[-1, 'a']] }, 'input.values[0] must have a time in milliseconds from 0 on, got -1'],
    [
      'an infinite time',
      { values: [[Number.POSITIVE_INFINITY, 'a']] },
      'input.values[0] must have a time in milliseconds from 0 on, got Infinity',
    ],
    [
      'a text as time',
      {
        values: [
          [0, 'a'],
          ['1', 'b'],
        ],
      },
      'input.values[1] must have a time in milliseconds from 0 on, got "1"',
    ],
    [
      'an early end',
      { values: [[5, 'a']], endMs: 4 },
      'input.endMs must be milliseconds, not before the last value at 5, or Infinity for no end, got 4',
    ],
    [
      'an end that is no number',
      { values: [], endMs: Number.NaN },
      'input.endMs must be milliseconds, not before the last value at 0, or Infinity for no end, got NaN',
    ],
    [
      'an error that never comes',
      { values: [], endMs: Number.POSITIVE_INFINITY, error: 1 },
      'input.error never comes when endMs is Infinity; say when, or leave one out',
    ],
  ];

  test.each(refused)('%s is refused', (_, input, message) => {
    expect(() => scheduleOf(input as Input<unknown>)).toThrow(`ERR_OPTION: ${message}`);
  });
});
