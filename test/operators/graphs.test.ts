/** Shapes of pipelines: which segments and exchanges they make, and that a run of them gives what plain RxJS gives. */

import fc from 'fast-check';
import type { Observable } from 'rxjs';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { countByKey, filter, map, mergeMap, perExecutor, reduce, scan, take, tap } from '../../operators/index.js';
import { broadcast, gather, keyBy, pull, route, shuffle, spreadKey, union } from '../../src/index.js';
import { inline, made, run, sorted } from './planned.js';

type Numbers = Observable<number>;
type Build = (s$: Numbers) => unknown;

const sum = (a: number, b: number): number => a + b;
const odd = (n: number): boolean => n % 2 === 1;
const mod3 = (n: number): number => n % 3;
const plus1 = map((n: number) => n + 1);
const two = { parallelism: 2 };

/** `a, b → c × 2: step, step` for each segment, `a → output` for each output. */
function drawn(build: Build): readonly string[] {
  const { segments, exchanges, outputs } = made(build).describe({ threads: 0 });
  const lines = segments.map(({ name, parallelism, steps }) => {
    const from = exchanges.find(({ to }) => to === name)?.from.join(', ');
    const labels = steps.map((step) => step.name.replace(/\(.*/, '')).join(', ');
    return `${from === undefined ? '' : `${from} → `}${name} × ${parallelism}${labels === '' ? '' : `: ${labels}`}`;
  });
  const ends = outputs.map((name) => {
    const exchange = exchanges.find((other) => other.name === name && other.to === 'caller');
    return `${exchange?.from.join(', ')} → ${name}`;
  });
  return [...lines, ...ends];
}

interface Shape {
  readonly build: Build;
  readonly plan: readonly string[];
}

const shapes: Readonly<Record<string, Shape>> = {
  'the input itself': { build: (s$) => s$, plan: ['caller → input × 1', 'input → output'] },
  'steps without a cut': {
    build: (s$) => s$.pipe(plus1, scan(sum)),
    plan: ['caller → input × 1: map, scan', 'input → output'],
  },
  'nothing before the first cut: the caller routes': {
    build: (s$) => s$.pipe(shuffle(two), plus1),
    plan: ['caller → shuffle-1 × 2: map', 'shuffle-1 → output'],
  },
  'steps before the first cut': {
    build: (s$) => s$.pipe(plus1, keyBy(mod3, two), countByKey(), gather()),
    plan: ['caller → input × 1: map', 'input → keyBy-1 × 2: countByKey', 'keyBy-1 → output'],
  },
  'two cuts in a row: an executor hands on': {
    build: (s$) => s$.pipe(shuffle(two), keyBy(mod3), plus1),
    plan: ['caller → shuffle-1 × 2', 'shuffle-1 → keyBy-2 × 1: map', 'keyBy-2 → output'],
  },
  'a cut at the end': {
    build: (s$) => s$.pipe(plus1, shuffle(two)),
    plan: ['caller → input × 1: map', 'input → shuffle-1 × 2', 'shuffle-1 → output'],
  },
  'gather at the very end makes no executor': {
    build: (s$) => s$.pipe(shuffle(two), plus1, gather({ name: 'all', batch: 7, codec: 'clone' })),
    plan: ['caller → shuffle-1 × 2: map', 'shuffle-1 → all'],
  },
  'gather alone': { build: (s$) => s$.pipe(gather()), plan: ['caller → input × 1', 'input → output'] },
  'gather twice at the end': {
    build: (s$) => s$.pipe(shuffle(two), gather(), gather()),
    plan: ['caller → shuffle-1 × 2', 'shuffle-1 → gather-2 × 1', 'gather-2 → output'],
  },
  'gather with a step behind it': {
    build: (s$) => s$.pipe(shuffle(two), plus1, gather(), reduce(sum)),
    plan: ['caller → shuffle-1 × 2: map', 'shuffle-1 → gather-2 × 1: reduce', 'gather-2 → output'],
  },
  'gather that is an output and goes on': {
    build: (s$) => {
      const all$ = s$.pipe(shuffle(two), gather({ name: 'meet' }));
      return { all: all$, total: all$.pipe(reduce(sum)) };
    },
    plan: ['caller → shuffle-1 × 2', 'shuffle-1 → meet × 1: reduce', 'meet → all', 'meet → total'],
  },
  'gather as two outputs': {
    build: (s$) => {
      const all$ = s$.pipe(shuffle(two), gather());
      return { a: all$, b: all$ };
    },
    plan: ['caller → shuffle-1 × 2', 'shuffle-1 → a', 'shuffle-1 → b'],
  },
  'the same stream as two outputs': {
    build: (s$) => {
      const same$ = s$.pipe(plus1);
      return { a: same$, b: same$ };
    },
    plan: ['caller → input × 1: map', 'input → a', 'input → b'],
  },
  'the input as two outputs': {
    build: (s$) => ({ a: s$, b: s$ }),
    plan: ['caller → input × 1', 'input → a', 'input → b'],
  },
  'the input used by a cut and a step': {
    build: (s$) => ({ a: s$.pipe(shuffle(two)), b: s$.pipe(plus1) }),
    plan: ['caller → input × 1: map', 'input → shuffle-1 × 2', 'shuffle-1 → a', 'input → b'],
  },
  'the input used by two cuts': {
    build: (s$) => ({ a: s$.pipe(shuffle(two), plus1), b: s$.pipe(keyBy(mod3, two), countByKey()) }),
    plan: ['caller → shuffle-1 × 2: map', 'caller → keyBy-2 × 2: countByKey', 'shuffle-1 → a', 'keyBy-2 → b'],
  },
  'the input used by a cut, and an output': {
    build: (s$) => ({ a: s$, b: s$.pipe(shuffle()) }),
    plan: ['caller → input × 1', 'input → shuffle-1 × 1', 'input → a', 'shuffle-1 → b'],
  },
  'a cut piped twice': {
    build: (s$) => {
      const k$ = s$.pipe(keyBy(mod3, two));
      return { counts: k$.pipe(countByKey()), rest: k$.pipe(filter(odd), spreadKey(mod3, two), plus1) };
    },
    plan: [
      'caller → keyBy-1 × 2: countByKey, filter',
      'keyBy-1 → spreadKey-2 × 2: map',
      'keyBy-1 → counts',
      'spreadKey-2 → rest',
    ],
  },
  'partition of RxJS': {
    build: (s$) => {
      const [odd$, even$] = rx.partition(s$.pipe(shuffle()), odd);
      return { odd: odd$.pipe(plus1), even: even$ };
    },
    plan: ['caller → shuffle-1 × 1: an operator, an operator, map', 'shuffle-1 → odd', 'shuffle-1 → even'],
  },
  'what is multicast keeps all that stands before it': {
    build: (s$) =>
      s$.pipe(plus1, rx.publish(), rx.refCount(), rx.multicast(new rx.Subject()), rx.refCount(), shuffle(), plus1),
    plan: ['caller → input × 1: map, an operator, an operator', 'input → shuffle-1 × 1: map', 'shuffle-1 → output'],
  },
  'union within one segment': {
    build: (s$) => {
      const k$ = s$.pipe(keyBy(mod3, two));
      return union(k$.pipe(filter(odd)), k$.pipe(plus1)).pipe(tap(() => {}));
    },
    plan: ['caller → keyBy-1 × 2: filter, map, tap', 'keyBy-1 → output'],
  },
  'union of one': { build: (s$) => union(s$).pipe(plus1), plan: ['caller → input × 1: map', 'input → output'] },
  'union of one behind which a cut follows': {
    build: (s$) => union(s$).pipe(shuffle(two)),
    plan: ['caller → shuffle-1 × 2', 'shuffle-1 → output'],
  },
  'union across segments': {
    build: (s$) =>
      union(s$.pipe(shuffle(two), plus1), s$.pipe(keyBy(mod3, two))).pipe(
        scan(sum, 0),
        reduce((n) => n + 1, 0),
      ),
    plan: [
      'caller → shuffle-1 × 2: map',
      'caller → keyBy-2 × 2',
      'shuffle-1, keyBy-2 → union-3 × 1: scan, reduce',
      'union-3 → output',
    ],
  },
  'union across segments behind which a cut follows: none is needed between': {
    build: (s$) => union(s$.pipe(shuffle(two), plus1), s$.pipe(keyBy(mod3, two))).pipe(keyBy(mod3, two), countByKey()),
    plan: [
      'caller → shuffle-1 × 2: map',
      'caller → keyBy-2 × 2',
      'shuffle-1, keyBy-2 → keyBy-3 × 2: countByKey',
      'keyBy-3 → output',
    ],
  },
  'union across segments as the output': {
    build: (s$) => union(s$.pipe(shuffle(two)), s$.pipe(plus1)),
    plan: ['caller → input × 1: map', 'input → shuffle-1 × 2', 'shuffle-1, input → output'],
  },
  'union with the input, before a cut': {
    build: (s$) => union(s$, s$.pipe(shuffle(two))).pipe(shuffle(), plus1),
    plan: ['caller → shuffle-1 × 2', 'caller, shuffle-1 → shuffle-2 × 1: map', 'shuffle-2 → output'],
  },
  'union with the input, before a step': {
    build: (s$) => union(s$, s$.pipe(shuffle(two))).pipe(plus1),
    plan: ['caller → input × 1', 'input → shuffle-1 × 2', 'input, shuffle-1 → union-2 × 1: map', 'union-2 → output'],
  },
  'union of the input with itself, before a cut': {
    build: (s$) => union(s$, s$).pipe(keyBy(mod3, two), plus1),
    plan: ['caller → input × 1', 'input → keyBy-1 × 2: map', 'keyBy-1 → output'],
  },
  'union of the input with itself, by way of another union': {
    build: (s$) =>
      union(
        s$,
        union(
          s$,
          pull(() => [7]),
        ).pipe(),
      ).pipe(shuffle(two)),
    plan: ['caller → input × 1', 'pull-1 × 1', 'input, pull-1 → shuffle-1 × 2', 'shuffle-1 → output'],
  },
  'union of the same stream twice': {
    build: (s$) => {
      const far$ = s$.pipe(shuffle(two), plus1);
      return union(far$, far$);
    },
    plan: ['caller → shuffle-1 × 2: map', 'shuffle-1 → output'],
  },
  'union of unions': {
    build: (s$) => {
      const [a$, b$, c$] = [s$.pipe(shuffle()), s$.pipe(shuffle(two)), s$.pipe(broadcast())];
      return union(union(a$, b$), union(b$, union(c$)), a$).pipe(
        gather(),
        scan(sum, 0),
        reduce((n) => n + 1, 0),
      );
    },
    plan: [
      'caller → shuffle-1 × 1',
      'caller → shuffle-2 × 2',
      'caller → broadcast-3 × 1',
      'shuffle-1, shuffle-2, broadcast-3 → gather-4 × 1: scan, reduce',
      'gather-4 → output',
    ],
  },
  'a union used by a cut and a step': {
    build: (s$) => {
      const both$ = union(s$.pipe(shuffle()), s$.pipe(keyBy(mod3)));
      return { a: both$.pipe(shuffle(two)), b: both$.pipe(plus1) };
    },
    plan: [
      'caller → shuffle-1 × 1',
      'caller → keyBy-2 × 1',
      'shuffle-1, keyBy-2 → union-3 × 1: map',
      'union-3 → shuffle-4 × 2',
      'shuffle-4 → a',
      'union-3 → b',
    ],
  },
  'pulls begin segments': {
    build: (s$) => union(s$, pull(() => [1, 2]).pipe(plus1), pull(() => [5]).pipe(shuffle(two), plus1)),
    plan: [
      'caller → input × 1',
      'pull-1 × 1: map',
      'pull-2 × 1',
      'pull-2 → shuffle-1 × 2: map',
      'input, pull-1, shuffle-1 → output',
    ],
  },
  'a pull without the input': { build: () => pull(() => [3, 4]), plan: ['pull-1 × 1', 'pull-1 → output'] },
  'a diamond that closes behind a cut': {
    build: (s$) => {
      const a$ = s$.pipe(plus1);
      return union(
        a$.pipe(
          shuffle(two),
          mergeMap((n) => [n, n]),
        ),
        a$.pipe(filter(odd)),
      ).pipe(keyBy(mod3, two), plus1);
    },
    plan: [
      'caller → input × 1: map, filter',
      'input → shuffle-1 × 2: mergeMap',
      'shuffle-1, input → keyBy-2 × 2: map',
      'keyBy-2 → output',
    ],
  },
  'unused branches are not run': {
    build: (s$) => {
      s$.pipe(
        shuffle(two),
        map((): never => {
          throw new Error('runs');
        }),
      );
      union(
        s$,
        s$.pipe(
          tap(() => {
            throw new Error('runs');
          }),
        ),
      );
      return s$.pipe(shuffle());
    },
    plan: ['caller → shuffle-1 × 1', 'shuffle-1 → output'],
  },
  'the input unused': { build: () => ({ a: pull(() => [1]).pipe(plus1) }), plan: ['pull-1 × 1: map', 'pull-1 → a'] },
  'route, and steps of one executor each': {
    build: (s$) =>
      s$.pipe(
        route(odd as unknown as () => number, two),
        perExecutor(take(3)),
        gather(),
        reduce((n) => n + 1, 0),
      ),
    plan: ['caller → route-1 × 2: take', 'route-1 → gather-2 × 1: reduce', 'gather-2 → output'],
  },
};

test.each(Object.entries(shapes))('plan: %s', (_, { build, plan }) => {
  expect(drawn(build)).toEqual(plan);
});

describe('law: a run gives what plain RxJS gives', () => {
  const numbers = fc.array(fc.nat({ max: 20 }), { maxLength: 12 });
  // route lets other values through than plain RxJS, where cuts are transparent.
  const alike = Object.entries(shapes).filter(([name]) => !name.startsWith('route'));
  test.each(alike)('%s', async (_, { build }) => {
    const t = made(build);
    await fc.assert(
      fc.asyncProperty(numbers, async (values) => {
        expect(sorted(await run(t, values))).toEqual(sorted(await inline(t, values)));
      }),
      { numRuns: 4 },
    );
  });
});

test('a plan takes no longer for every fork that meets again', () => {
  const fork = (t$: Numbers): Numbers => union(t$.pipe(filter(odd)), t$.pipe(filter((n) => !odd(n))));
  const forks = new Array<typeof fork>(40).fill(fork) as [typeof fork];
  const build: Build = (s$) => s$.pipe(keyBy(mod3, two), ...forks, countByKey());
  expect(drawn(build)).toHaveLength(2);
  const rekeyed: Build = (s$) => s$.pipe(keyBy(mod3, two), ...forks, keyBy(mod3, two));
  expect(made(rekeyed).describe({ threads: 0 }).exchanges[1]).toMatchObject({ name: 'keyBy-2', order: 'key' });
});

test('the last gather sets the options of its hop', async () => {
  const codec = { name: 'text', encode: (n: number) => String(n), decode: Number };
  const t = made((s$) => s$.pipe(plus1, gather({ name: 'all', batch: 1, codec })));
  expect(await run(t, [1, 2])).toEqual({ output: { values: [2, 3], end: 'complete' } });
});

test('broadcast gives every executor every value, and route what it chooses', async () => {
  const copies = made((s$) => s$.pipe(broadcast({ parallelism: 3 }), perExecutor(scan(sum))));
  expect(sorted(await run(copies, [1, 2]))).toEqual([['output', ['1', '1', '1', '3', '3', '3'], 'complete']]);
  const chosen = made((s$) =>
    s$.pipe(
      route((n) => [n, (n + 1) % 3], { parallelism: 3 }),
      perExecutor(scan((all: number[], n) => [...all, n], [])),
    ),
  );
  const values = [[0], [0, 2], [0], [0, 1], [1], [1, 2]];
  expect(sorted(await run(chosen, [0, 1, 2]))).toEqual(sorted({ output: { values, end: 'complete' } }));
});
