/** Which step may stand where: generated from the table of traits, with the uses of samples.ts. */

import type { Observable } from 'rxjs';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import * as menuModule from '../../operators/index.js';
import { countByKey, distinctByKey, perExecutor, reduceByKey, scanByKey } from '../../operators/index.js';
import { operatorTraits } from '../../operators/lowered.js';
import type { Scope, Traits } from '../../operators/traits.js';
import { gather, keyBy, pull, shuffle, spreadKey, union } from '../../src/index.js';
import { lineOf, made, refused } from './planned.js';
import { type Sample, samples } from './samples.js';

type Numbers = Observable<number>;
type Rx = typeof rx;
type Build = (s$: Numbers) => unknown;

const menu = menuModule as unknown as Rx;
const key = (n: number): number => n % 2;
const traits = [...operatorTraits().values()];
const named = (scope: Scope): (readonly [string, Traits])[] =>
  traits.filter((of) => of.scope === scope).map((of) => [of.name, of]);

/** The first use of an operator, behind a cut to so many executors. */
function behind(parallelism: number, use: Sample, o: Rx): Build {
  return (s$) => use(s$.pipe(shuffle({ parallelism, name: 'split' })), o);
}
/** Those of ours that RxJS has no use of. */
const ourUses: Readonly<Record<string, Sample>> = {
  batch: (s) => s.pipe(menuModule.batch(2)),
  debatch: (s) =>
    s.pipe(
      menuModule.map((n: number) => [n]),
      menuModule.debatch(),
    ),
  perValue: (s) => s.pipe(menuModule.perValue(rx.map((n) => n))),
};
function useOf(name: string): Sample {
  return ourUses[name] ?? (samples[name]?.[0] as Sample);
}
function accepted(build: Build): void {
  expect(made(build).describe({ threads: 0 }).version).toBe(1);
}
/** Scopes of the steps as the plan has them. */
function scopes(build: Build): readonly string[] {
  return made(build)
    .describe({ threads: 0 })
    .segments.flatMap(({ steps }) => steps.map((step) => `${step.name} ${step.scope}`));
}

test('the table of traits is the menu', () => {
  const ours = ['perExecutor', 'pipe'];
  expect(traits.map(({ name }) => name).sort()).toEqual(
    Object.keys(menuModule)
      .filter((name) => !ours.includes(name))
      .sort(),
  );
  expect(named('stream').length).toBeGreaterThan(75);
  expect(named('key').map(([name]) => name)).toEqual(['scanByKey', 'reduceByKey', 'countByKey', 'distinctByKey']);
});

describe.each(named('stream'))('law: stream-scoped %s', (name) => {
  const use = useOf(name);

  test('is refused on two executors', () => {
    const error = refused(behind(2, use, menu));
    // What dematerialize needs before it is refused first.
    const first = name === 'dematerialize' ? 'materialize' : name;
    expect(error).toMatchObject({ code: 'ERR_SCOPE', operator: first, segment: 'split' });
    expect(error.message).toMatch(
      new RegExp(
        `^ERR_SCOPE: ${first}\\(.*\\) \\(pipe at samples\\.ts:\\d+\\) in segment "split" would run on 2 executors and \\w`,
      ),
    );
    expect(error.message).toMatch(
      new RegExp(
        `Put it after gather\\(\\), set parallelism 1,.* or say perExecutor\\(${first}\\(.*\\)\\) if that is meant$`,
      ),
    );
    expect(lineOf(error)).toContain('s.pipe(');
  });

  test('is accepted on one executor, and inside perExecutor on several', () => {
    accepted(behind(1, use, menu));
    accepted((s$) => use(s$, menu));
    accepted((s$) => use(s$.pipe(keyBy(key, { parallelism: 3 }), gather()), menu));
    accepted(() =>
      use(
        pull(() => [1]),
        menu,
      ),
    );
    accepted((s$) =>
      s$.pipe(
        shuffle({ parallelism: 2 }),
        perExecutor((part$: Numbers) => use(part$, menu)),
      ),
    );
  });
});

describe.each(named('value'))('law: value-scoped %s', (name) => {
  test('is accepted on several executors', () => {
    accepted(behind(2, useOf(name), menu));
    accepted((s$) => useOf(name)(s$.pipe(keyBy(key, { parallelism: 4 })), menu));
  });
});

describe.each(Object.entries(samples))('law: of %s imported from rxjs nothing is known', (_, uses) => {
  test('so it is stream-scoped', () => {
    const use = uses[0] as Sample;
    const error = refused(behind(2, use, rx));
    expect(error).toMatchObject({ code: 'ERR_SCOPE', segment: 'split', operator: 'step 1' });
    expect(error.message).toContain('ERR_SCOPE: step 1 (pipe at samples.ts:');
    accepted(behind(1, use, rx));
    accepted((s$) =>
      s$.pipe(
        shuffle({ parallelism: 2 }),
        perExecutor((part$: Numbers) => use(part$, rx)),
      ),
    );
  });
});

describe('a function that declares the index counts the stream', () => {
  const indexed: Readonly<Record<string, rx.OperatorFunction<number, unknown>>> = {
    map: menu.map((n, i) => n + i),
    'map with thisArg': menu.map((n, i) => n + i, {}),
    'map(parseInt)': menu.map(Number.parseInt as never),
    filter: menu.filter((n, i) => n > i),
    mergeMap: menu.mergeMap((n, i) => [n, i]),
    'mergeMap, one at a time': menu.mergeMap((n, i) => [n, i], 1),
    concatMap: menu.concatMap((n, i) => [n, i]),
  };
  test.each(Object.entries(indexed))('%s', (name, operator) => {
    const error = refused((s$) => s$.pipe(shuffle({ parallelism: 3 }), operator));
    expect(error).toMatchObject({ code: 'ERR_SCOPE', operator: name.replace(/\W.*/, '') });
    expect(error.message).toContain(
      'would run on 3 executors and count the index anew on each (its function declares the index)',
    );
    accepted((s$) => s$.pipe(shuffle(), operator));
    accepted((s$) => s$.pipe(shuffle({ parallelism: 3 }), perExecutor(operator)));
    expect(scopes((s$) => s$.pipe(operator))[0]).toMatch(/ stream$/);
  });

  test('one that does not declare it is value-scoped', () => {
    const operators = [
      menu.map((n: number) => n),
      menu.filter((n: number) => n > 1),
      menu.concatMap((n: number) => [n]),
    ];
    for (const operator of operators)
      accepted((s$) => s$.pipe(shuffle({ parallelism: 2 }), operator as rx.OperatorFunction<number, unknown>));
  });
});

describe('what the refusal says', () => {
  const split = (parallelism: number) => shuffle<number>({ parallelism, name: 'split' });
  const cases: readonly (readonly [string, Build, string])[] = [
    [
      'take',
      (s$) => s$.pipe(split(4), menu.take(10)),
      'take(10) (pipe at scope.test.ts:LINE) in segment "split" would run on 4 executors and let 40 values pass. ' +
        'Put it after gather(), set parallelism 1, or say perExecutor(take(10)) if that is meant',
    ],
    [
      'first',
      (s$) => s$.pipe(split(3), menu.first()),
      'first() (pipe at scope.test.ts:LINE) in segment "split" would run on 3 executors and let 3 values pass. ' +
        'Put it after gather(), set parallelism 1, or say perExecutor(first()) if that is meant',
    ],
    [
      'startWith',
      (s$) => s$.pipe(split(2), menu.startWith(7)),
      'startWith(7) (pipe at scope.test.ts:LINE) in segment "split" would run on 2 executors and emit its values 2 times. ' +
        'Put it after gather(), set parallelism 1, or say perExecutor(startWith(7)) if that is meant',
    ],
    [
      'scan',
      (s$) =>
        s$.pipe(
          split(2),
          menu.scan((a, n) => a + n, 0),
        ),
      'scan(…, 0) (pipe at scope.test.ts:LINE) in segment "split" would run on 2 executors and see only its own part of the values on each. ' +
        'Put it after gather(), set parallelism 1, use scanByKey, or say perExecutor(scan(…, 0)) if that is meant',
    ],
    [
      'groupBy',
      (s$) => s$.pipe(split(2), menu.groupBy(key)),
      'groupBy(…) (pipe at scope.test.ts:LINE) in segment "split" would run on 2 executors and see only its own part of the values on each. ' +
        'Put it after gather(), set parallelism 1, open the segment with keyBy(), or say perExecutor(groupBy(…)) if that is meant',
    ],
    [
      'an operator of rxjs',
      (s$) =>
        s$.pipe(
          split(2),
          menu.map((n) => n),
          rx.map((n) => n),
        ),
      'step 2 (pipe at scope.test.ts:LINE) in segment "split" would run on 2 executors and may speak of the whole stream: ' +
        'it is not from millrace/operators. If it comes from rxjs, import it from there, put it after gather(), set parallelism 1, ' +
        'or say perExecutor(…) if that is meant',
    ],
  ];
  test.each(cases)('%s', (_, build, message) => {
    const error = refused(build);
    expect(error.message.replace(/test\.ts:\d+/, 'test.ts:LINE')).toBe(`ERR_SCOPE: ${message}`);
  });

  test.each([
    ['reduce', menu.reduce((a: number, n: number) => a + n), 'use reduceByKey'],
    ['count', menu.count<number>(), 'use countByKey'],
    ['distinct', menu.distinct<number, number>(), 'use distinctByKey'],
  ] as const)('the ByKey form of %s', (_, operator, cure) => {
    expect(refused((s$) => s$.pipe(split(2), operator as rx.OperatorFunction<number, unknown>)).message).toContain(
      cure,
    );
  });
});

describe('key-scoped steps', () => {
  const byKey: Readonly<Record<string, rx.OperatorFunction<number, unknown>>> = {
    scanByKey: scanByKey<number, number>(
      (sum, n) => sum + n,
      () => 0,
    ),
    reduceByKey: reduceByKey<number, number>(
      (sum, n) => sum + n,
      () => 0,
    ),
    countByKey: countByKey<number>(),
    distinctByKey: distinctByKey<number>(),
  };
  const keyed = keyBy<number, number>(key, { parallelism: 2 });

  describe.each(Object.entries(byKey))('%s', (name, operator) => {
    const elsewhere: readonly (readonly [string, Build, string])[] = [
      ['in segment input', (s$) => s$.pipe(operator), 'with the input'],
      ['after shuffle', (s$) => s$.pipe(shuffle({ parallelism: 2 }), operator), 'with shuffle()'],
      ['after spreadKey', (s$) => s$.pipe(spreadKey(key, { parallelism: 4 }), operator), 'with spreadKey()'],
      ['after keyBy and gather', (s$) => s$.pipe(keyed, gather(), operator), 'with gather()'],
      ['after a union of keyed segments', (s$) => union(s$.pipe(keyed), s$.pipe(keyed)).pipe(operator), 'with union()'],
      ['after a pull', () => pull(() => [1]).pipe(operator), 'with pull()'],
      ['in perExecutor', (s$) => s$.pipe(shuffle({ parallelism: 2 }), perExecutor(operator)), 'with shuffle()'],
    ];
    test.each(elsewhere)('%s is refused', (_, build, opening) => {
      const error = refused(build);
      expect(error).toMatchObject({ code: 'ERR_SCOPE', operator: name });
      expect(error.message).toMatch(
        new RegExp(`^ERR_SCOPE: ${name}\\(.*\\) \\(pipe at scope.test.ts:\\d+\\) in segment "`),
      );
      expect(error.message).toContain(`works per key, but the segment begins ${opening}. Put keyBy() before it`);
      expect(lineOf(error)).toMatch(/pipe\(/);
    });

    const late: readonly (readonly [string, Build, string])[] = [
      ['an operator of rxjs', (s$) => s$.pipe(keyed, perExecutor(rx.map((n) => n)), operator), 'an operator'],
      [
        'an opaque step of the menu',
        (s$) => s$.pipe(keyed, perExecutor(menu.switchAll() as never), operator),
        'switchAll()',
      ],
      [
        'a step that emits at the start',
        (s$) => s$.pipe(keyed, perExecutor(menu.startWith(1)), operator),
        'startWith(1)',
      ],
      ['a step that emits at the end', (s$) => s$.pipe(keyed, perExecutor(menu.count()), operator), 'count()'],
      ['a step that holds values back', (s$) => s$.pipe(keyed, perExecutor(menu.skipLast(1)), operator), 'skipLast(1)'],
      [
        'a timed step',
        (s$) =>
          s$.pipe(
            keyBy(key),
            menu.debounceTime(1),
            menu.map((n) => n),
            operator,
          ),
        'debounceTime(1)',
      ],
      [
        'a timed step in a branch',
        (s$) => s$.pipe(keyBy(key), (k$) => union(k$, k$.pipe(menu.delay(1))), operator),
        'delay(1)',
      ],
      ['perValue', (s$) => s$.pipe(keyed, menuModule.perValue(rx.map((n) => n)), operator), 'perValue(…)'],
      [
        'groupBy',
        (s$) =>
          s$.pipe(
            keyed,
            menu.groupBy(key),
            menu.mergeMap((group$) => group$),
            operator,
          ),
        'groupBy(…)',
      ],
    ];
    test.each(late)('behind %s the key is lost', (_, build, step) => {
      const error = refused(build);
      expect(error).toMatchObject({ code: 'ERR_KEY_LOST', operator: name });
      expect(error.message).toContain(`stands behind ${step} (pipe at scope.test.ts:`);
      expect(error.message).toContain('Put keyBy() directly before it');
    });

    test('in a keyed segment, also behind lowered steps and in a branch, it is accepted', () => {
      accepted((s$) => s$.pipe(keyed, operator));
      accepted((s$) =>
        s$.pipe(
          keyed,
          menu.map((n) => n * 2),
          menu.filter((n) => n > 1),
          menu.mergeMap((n) => [n]),
          operator,
        ),
      );
      accepted((s$) => s$.pipe(keyed, (k$) => union(k$, k$.pipe(menu.map((n) => n))), operator));
      accepted((s$) => s$.pipe(keyed, perExecutor(menu.take(2)), operator));
      expect(scopes((s$) => s$.pipe(keyed, perExecutor(menu.take(2)), operator))).toEqual([
        'take(2) value',
        expect.stringMatching(new RegExp(`^${name}\\(.*\\) key$`)),
      ]);
    });
  });

  test('groupBy is key-scoped in a keyed segment, and refused in any other of several executors', () => {
    const groups =
      (cut: rx.OperatorFunction<number, number>): Build =>
      (s$) =>
        s$.pipe(
          cut,
          menu.groupBy(key),
          menu.mergeMap((g$) => g$.pipe(rx.count())),
        );
    expect(scopes(groups(keyed))).toEqual(['groupBy(…) key', 'mergeMap(…) value']);
    expect(scopes(groups(shuffle()))).toEqual(['groupBy(…) stream', 'mergeMap(…) value']);
    for (const cut of [shuffle<number>({ parallelism: 2 }), spreadKey<number>(key, { parallelism: 2 })])
      expect(refused(groups(cut))).toMatchObject({ code: 'ERR_SCOPE', operator: 'groupBy' });
    expect(refused((s$) => s$.pipe(keyed, rx.groupBy(key)))).toMatchObject({ code: 'ERR_SCOPE', operator: 'step 1' });
  });

  test('the rule holds for what runs: a branch that leads nowhere is not judged', () => {
    accepted((s$) => {
      s$.pipe(shuffle({ parallelism: 2 }), menu.take(1));
      return s$;
    });
  });
});
