/** The plan: names, warnings, the shape that threads compare, rings. What order it promises: order.test.ts. */

import type { Observable } from 'rxjs';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { countByKey, filter, map, startWith, take, tap, withLatestFrom } from '../../operators/index.js';
import { logicOf } from '../../operators/logic.js';
import { comparePlans, type ExchangePlan, type Plan, pairs, planShape } from '../../runtime/plan.js';
import { sharedBytes } from '../../runtime/wiring.js';
import { broadcast, gather, keyBy, pull, shuffle, spreadKey, union } from '../../src/index.js';
import { ofNumbers, refusal } from './harness.js';

type Numbers = Observable<number>;
type Build = (s$: Numbers) => unknown;

const by2 = (n: number): number => n % 2;
const two = { parallelism: 2 };
const plus1 = map((n: number) => n + 1);

function planned(build: Build, topology = 't'): Plan {
  return logicOf(topology, ofNumbers(build)).plan;
}

describe('names', () => {
  const names = (build: Build): readonly string[] => planned(build).exchanges.map(({ name }) => name);

  test('unnamed exchanges are numbered in order of recording; own names are counted', () => {
    const build: Build = (s$) => {
      const late$ = s$.pipe(plus1, shuffle());
      const [left$, right$] = [late$.pipe(keyBy(by2)), late$.pipe(gather({ name: 'meet' }), plus1)];
      return union(right$, left$).pipe(plus1, broadcast());
    };
    expect(names(build)).toEqual(['input', 'shuffle-1', 'keyBy-2', 'meet', 'union-4', 'broadcast-5', 'output']);
  });

  test('a segment bears the name of the exchange that opens it; pulls are numbered by themselves', () => {
    const build: Build = (s$) =>
      union(
        pull(() => [1]),
        s$.pipe(shuffle({ name: 'words' })),
        pull(() => [2]),
      );
    const { segments, exchanges } = planned(build);
    expect(segments.map(({ name, exchange }) => [name, exchanges[exchange ?? -1]?.name])).toEqual([
      ['pull-1', undefined],
      ['words', 'words'],
      ['pull-2', undefined],
    ]);
  });

  test('outputs: output, that of gather, or the keys of a record', () => {
    expect(names((s$) => s$)).toEqual(['input', 'output']);
    expect(names((s$) => s$.pipe(gather({ name: 'words' })))).toEqual(['input', 'words']);
    expect(names((s$) => ({ b: s$, a: s$ }))).toEqual(['input', 'b', 'a']);
    expect(names((s$) => ({ output: s$.pipe(shuffle()) }))).toEqual(['shuffle-1', 'output']);
  });

  test('an output of one stream is told from a record of one', () => {
    expect(
      logicOf(
        't',
        ofNumbers((s$) => s$),
      ).single,
    ).toBe(true);
    expect(
      logicOf(
        't',
        ofNumbers((output) => ({ output })),
      ).single,
    ).toBe(false);
  });
});

describe('warnings', () => {
  const warnings = (build: Build): readonly string[] =>
    planned(build).warnings.map((text) => text.replace(/plan\.test\.ts:\d+/g, 'LINE'));

  test('none for a plain pipeline', () => {
    expect(warnings((s$) => s$.pipe(plus1, keyBy(by2, two), countByKey(), gather()))).toEqual([]);
  });

  test('no order at a keyBy, with the segments it comes from', () => {
    const several = 'values of one key reach it through several executors or streams';
    expect(warnings((s$) => s$.pipe(shuffle(two), keyBy(by2), countByKey()))).toEqual([
      `no order holds at keyBy-2: ${several} (shuffle-1)`,
    ]);
    expect(warnings((s$) => union(s$, s$.pipe(shuffle())).pipe(keyBy(by2)))).toEqual([
      `no order holds at keyBy-2: ${several} (the caller, shuffle-1)`,
    ]);
  });

  test('opaque steps, with their lines', () => {
    const cure = 'what comes from rxjs, import from millrace/operators';
    expect(warnings((s$) => s$.pipe(rx.map(by2)))).toEqual([`1 opaque step (LINE): ${cure}`]);
    const build: Build = (s$) => {
      const [odd$, even$] = rx.partition(s$, (n) => n % 2 === 1);
      return { odd$, even$: even$.pipe(rx.startWith(1), startWith(2)) };
    };
    expect(warnings(build)).toEqual([`3 opaque steps (LINE, LINE): ${cure}`]);
  });

  test('branches that reach no output, each once, where it ends', () => {
    const build: Build = (s$) => {
      s$.pipe(plus1, plus1);
      s$.pipe(
        shuffle(),
        filter((n) => n > 1),
      );
      return s$;
    };
    const text = 'a branch recorded at LINE reaches no output and does not run by itself';
    expect(warnings(build)).toEqual([text, text]);
  });

  test('a branch that an operator of an output uses is none of them', () => {
    expect(warnings((s$) => s$.pipe(withLatestFrom(s$.pipe(plus1, take(2)))))).toEqual([]);
  });
});

describe('the plan as data', () => {
  const build: Build = (s$) => ({
    a: s$.pipe(plus1, keyBy(by2, { parallelism: 3, batch: { size: 5 }, codec: 'clone' }), countByKey()),
    b: union(
      s$,
      pull(() => [1]),
    ).pipe(shuffle({ local: true, codec: { name: 'own', encode: (n) => n, decode: Number } })),
  });

  test('is versioned JSON', () => {
    const plan = planned(build);
    expect(plan.version).toBe(1);
    const read = JSON.parse(JSON.stringify(plan)) as Plan;
    expect(read).toEqual(plan);
    expect(planShape(read)).toBe(planShape(plan));
    expect(
      plan.exchanges.map(({ name, kind, from, to, codec, local }) => [name, kind, from, to, codec, local]),
    ).toEqual([
      ['input', 'input', [-1], 0, 'auto', false],
      ['keyBy-1', 'keyBy', [0], 1, 'clone', false],
      ['shuffle-2', 'shuffle', [0, 2], 3, 'own', true],
      ['a', 'output', [1], -1, 'auto', false],
      ['b', 'output', [3], -1, 'auto', false],
    ]);
    expect(plan.outputs).toEqual([3, 4]);
  });

  test('every build gives the same shape, whatever lines it stands on', () => {
    const one = planned((s$) => s$.pipe(plus1, shuffle(), take(3)));
    const other = planned((s$) => {
      const cut$ = s$.pipe(plus1).pipe(shuffle());
      return cut$.pipe(take(3));
    });
    expect(one.segments[1]?.steps[0]?.at).not.toBe(other.segments[1]?.steps[0]?.at);
    expect(planShape(other)).toBe(planShape(one));
    expect(() => comparePlans(other, planShape(one))).not.toThrow();
  });

  const base: Build = (s$) =>
    s$.pipe(
      map((n) => n),
      keyBy(by2, { parallelism: 2 }),
      filter((n) => n > 1),
    );
  test.each<[string, Build]>([
    [
      'another name',
      (s$) =>
        s$.pipe(
          map((n) => n),
          keyBy(by2, { parallelism: 2, name: 'k' }),
          filter((n) => n > 1),
        ),
    ],
    [
      'another kind',
      (s$) =>
        s$.pipe(
          map((n) => n),
          spreadKey(by2, { parallelism: 2, name: 'keyBy-1' }),
          filter((n) => n > 1),
        ),
    ],
    [
      'another width',
      (s$) =>
        s$.pipe(
          map((n) => n),
          keyBy(by2, { parallelism: 3 }),
          filter((n) => n > 1),
        ),
    ],
    [
      'another codec',
      (s$) =>
        s$.pipe(
          map((n) => n),
          keyBy(by2, { parallelism: 2, codec: 'clone' }),
          filter((n) => n > 1),
        ),
    ],
    [
      'another step',
      (s$) =>
        s$.pipe(
          tap((n) => n),
          keyBy(by2, { parallelism: 2 }),
          filter((n) => n > 1),
        ),
    ],
    [
      'another scope',
      (s$) =>
        s$.pipe(
          map((n, i) => n + i),
          keyBy(by2, { parallelism: 2 }),
          filter((n) => n > 1),
        ),
    ],
    [
      'an opaque step',
      (s$) =>
        s$.pipe(
          rx.map((n) => n),
          keyBy(by2, { parallelism: 2 }),
          filter((n) => n > 1),
        ),
    ],
    [
      'one step more',
      (s$) =>
        s$.pipe(
          map((n) => n),
          keyBy(by2, { parallelism: 2 }),
          filter((n) => n > 1),
          map((n) => n),
        ),
    ],
    [
      'another output',
      (s$) => ({
        a: s$.pipe(
          map((n) => n),
          keyBy(by2, { parallelism: 2 }),
          filter((n) => n > 1),
        ),
      }),
    ],
  ])('%s is another shape', (_, build) => {
    expect(planShape(planned(build))).not.toBe(planShape(planned(base)));
    const error = refusal(() => comparePlans(planned(build), planShape(planned(base))));
    expect(error.code).toBe('ERR_PLAN_MISMATCH');
    expect(error.message).toContain('build must make the same pipeline for the same args');
  });
});

describe('rings', () => {
  const kib = 1024;
  const counted = (build: Build): readonly number[] => {
    const plan = planned(build);
    return plan.exchanges.map((exchange) => pairs(plan, exchange as ExchangePlan));
  };

  test('one for every directed pair of executors', () => {
    expect(counted((s$) => s$)).toEqual([1, 1]);
    const wide: Build = (s$) => s$.pipe(shuffle({ parallelism: 3 }), keyBy(by2, { parallelism: 4 }), gather());
    expect(counted(wide)).toEqual([3, 12, 4]);
    const joined: Build = (s$) =>
      union(
        s$.pipe(shuffle({ parallelism: 3 })),
        s$,
        pull(() => [1]),
      ).pipe(keyBy(by2, { parallelism: 2 }));
    expect(counted(joined)).toEqual([3, 10, 2]);
  });

  test.each<[number, number]>([
    [1, 512], // 2 exchanges of 1 pair, 512 KiB each
    [16, 512], // 8 MiB for 16 pairs
    [17, 256],
    [33, 128],
    [65, 64],
    [128, 64],
    [200, 64], // not less than 64 KiB, so more than 8 MiB
  ])('%i pairs: %i KiB each', (parallelism, ring) => {
    const plan = planned((s$) => s$.pipe(shuffle({ parallelism })));
    expect(sharedBytes(plan)).toBe(2 * parallelism * ring * kib);
  });
});
