import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { learn, leavesOf, parseShape, type Shape, sizeOf, widen } from '../../runtime/shape.js';
import { carryable } from './fixtures/values.js';

describe('shapes', () => {
  test('law: a shape that was learned is read again from its descriptor; widening ends after as many steps as it has kinds', () => {
    fc.assert(
      fc.property(
        carryable,
        fc.array(fc.tuple(fc.nat(), fc.boolean()), { minLength: 200, maxLength: 200 }),
        (value, wishes) => {
          const learned = learn(value);
          if (learned === undefined) return;
          expect(parseShape(JSON.stringify(learned))).toEqual(learned);
          let shape: Shape = learned;
          let changes = 0;
          for (const [node, isNumber] of wishes) {
            const next: Shape = widen(shape, node % sizeOf(shape), isNumber);
            if (JSON.stringify(next) !== JSON.stringify(shape)) changes++;
            shape = next;
          }
          expect(changes).toBeLessThanOrEqual(2 * sizeOf(learned));
          expect(leavesOf(shape).length).toBeLessThanOrEqual(leavesOf(learned).length);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('keys that an object literal would move or misread, and what has no columns, have no shape', () => {
    const none = [
      { 1: 'a' },
      JSON.parse('{"__proto__":1}'),
      { '\0': 1 },
      {},
      [],
      [null],
      Array.from({ length: 9 }, () => 1),
      null,
      undefined,
      1n,
      { a: null },
      new Date(),
    ];
    for (const value of none) expect([value, learn(value)]).toEqual([value, undefined]);
    const wide = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, i]));
    expect(learn(wide)).toBeUndefined();
    expect(learn({ a: 1, b: null, c: { d: 'x' } })).toEqual([
      ['a', 'i'],
      ['b', 'a'],
      ['c', [['d', 's']]],
    ]);
    expect(learn([{ a: [1, 'x'] }, null])).toEqual({ tuple: [[['a', { tuple: ['i', 's'] }]], 'a'] });
  });

  test('descriptors that no sender writes are refused', () => {
    const bad = [
      '',
      'x',
      '"x"',
      '[]',
      '{}',
      '[["a"]]',
      '[[1,"i"]]',
      '[["a","i"],["a","i"]]',
      '[["__proto__","i"]]',
      '[["1","i"]]',
      '{"tuple":[]}',
      '{"tuple":["i"],"more":1}',
      '{"tuple":{"length":1}}',
      'null',
    ];
    for (const descriptor of bad) expect(parseShape(descriptor)).toBeUndefined();
  });
});
