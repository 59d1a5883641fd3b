/** Every operator that RxJS exports does in an executor what it does in RxJS: same values, same virtual times, same end. */

import * as rx from 'rxjs';
import * as rxOperators from 'rxjs/operators';
import { describe, expect, test } from 'vitest';
import * as menuModule from '../../operators/index.js';
import type { MillraceError } from '../../runtime/errors.js';
import { Bench, type Build, inVirtualTime, type Left, ofNumbers, Plain, seen } from './harness.js';
import { refusedOperators } from './refused.js';
import { type Sample, samples } from './samples.js';

type Rx = typeof rx;
const menu = menuModule as unknown as Rx;
const exported: Readonly<Record<string, unknown>> = { ...rx };
/** What 'rxjs' exports and 'rxjs/operators' calls an operator; creation functions of the same name are others there. */
const operators = Object.entries(rxOperators).flatMap(([name, operator]) =>
  exported[name] === operator ? [name] : [],
);
const inputs = ['--1-2--3-2-4-----5|', '(12324|)', '--1-(234)-#', '---|', '#', '-1-2-3-1-2-3'];

function build(sample: Sample, o: Rx): Build {
  return ofNumbers((input) => sample(input, o));
}

function plainly(marbles: string, sample: Sample, o: Rx): readonly Left[] {
  return inVirtualTime(marbles, (now) => new Plain(build(sample, o), now));
}

function executed(marbles: string, sample: Sample, o: Rx): readonly Left[] {
  return inVirtualTime(marbles, (now) => new Bench(build(sample, o), { now }));
}

test('the table has every operator that RxJS exports, and no other name', () => {
  expect(Object.keys(samples).sort()).toEqual(operators.concat('onErrorResumeNextWith').sort());
});

test('the menu has every operator of RxJS that is not deprecated', () => {
  const deprecated = [
    'combineAll',
    'concatMapTo',
    'exhaust',
    'flatMap',
    'mapTo',
    'mergeMapTo',
    'multicast',
    'pluck',
    'publish',
  ];
  deprecated.push(
    'publishBehavior',
    'publishLast',
    'publishReplay',
    'refCount',
    'repeatWhen',
    'retryWhen',
    'switchMapTo',
    'timeoutWith',
  );
  const missing = Object.keys(samples).filter((name) => !(name in menu));
  expect(missing.sort()).toEqual(deprecated.sort());
});

function restarts(name: string, marbles: string): boolean {
  const refused = refusedOperators.find((operator) => operator.name === name);
  return refused !== undefined && marbles.includes(refused.at === 'error' ? '#' : '|');
}

describe.each(Object.entries(samples))('law: %s is the same in an executor', (name, uses) => {
  const inMenu = name in menu;
  const cases = uses.flatMap((use, index) => inputs.map((marbles) => [index + 1, marbles, use] as const));
  test.each(cases.filter(([, marbles]) => !restarts(name, marbles)))('use %i of input %s', (_, marbles, use) => {
    const expected = seen(plainly(marbles, use, rx));
    expect(seen(executed(marbles, use, rx))).toEqual(expected);
    if (!inMenu) return;
    expect(seen(plainly(marbles, use, menu))).toEqual(expected);
    expect(seen(executed(marbles, use, menu))).toEqual(expected);
  });
});

describe.each(refusedOperators)('$name is refused where it would start its source again', ({ name, code, at }) => {
  const [use] = samples[name] as readonly [Sample];
  const ends = inputs.filter((marbles) => marbles.includes(at === 'error' ? '#' : '|'));
  test.each(ends)('input %s', (marbles) => {
    for (const o of name in menu ? [rx, menu] : [rx]) {
      const log = executed(marbles, use, o);
      const passed = inVirtualTime(marbles, (now) => new Plain((input) => input, now)).filter((left) => 'next' in left);
      expect(log.slice(0, -1)).toEqual(passed);
      const { error } = log.at(-1) as { readonly error: MillraceError };
      expect(error).toMatchObject({ code, operator: expect.any(String), at: expect.stringContaining('samples.ts') });
      expect(error.message).toContain('before or after the topology');
    }
  });
});
