import { createRuntime, isMillraceError } from 'millrace';
import { from } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { same } from '../runtime/fixtures/values.js';
import { observe, valuesOf } from './fixtures/observe.js';
import * as values from './fixtures/values.js';
import { carried, type Kind, large } from './fixtures/valuesKinds.js';
import { refused } from './fixtures/valuesRefused.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());

const ways = [
  ['on two threads', { runtime }],
  ['on one thread', { runtime, threads: 1 }],
  ['on the calling thread', { runtime, threads: 0 }],
] as const;
const layouts = Object.keys(values.layouts) as values.Layout[];

const arrivalOf = (kind: Kind): unknown => ('arrives' in kind ? kind.arrives : kind.make());

/** Names of the kinds that did not arrive as they should. */
function wrong(kinds: readonly Kind[], arrived: readonly unknown[], layout: values.Layout): string[] {
  return kinds.filter((kind, i) => !same(arrived[i], values.layouts[layout](arrivalOf(kind)))).map(({ name }) => name);
}

test('the tables have more than 200 kinds, each once', () => {
  expect(carried.length + large.length).toBeGreaterThan(120);
  expect(refused.length).toBeGreaterThan(80);
  for (const kinds of [carried, refused]) expect(new Set(kinds.map(({ name }) => name)).size).toBe(kinds.length);
});

describe.each(ways)('what is carried, %s', { timeout: 60_000 }, (_way, options) => {
  test.each(layouts)('%s', async (layout) => {
    for (const batch of [1, 7, 1000]) {
      const sent = carried.map((kind) => values.layouts[layout](kind.make()));
      const arrived = await valuesOf(from(sent).pipe(values.hops({ ...options, batches: { default: batch } })));
      expect(arrived).toHaveLength(carried.length);
      expect(wrong(carried, arrived, layout)).toEqual([]);
    }
  });

  test('in a column of its own kind', async () => {
    const rows = (make: (kind: Kind) => unknown): unknown[] =>
      carried.flatMap((kind) => [0, 1, 2].map((id) => ({ id, word: `word ${id}`, value: make(kind) })));
    const sent = rows((kind) => kind.make());
    const arrived = await valuesOf(from(sent).pipe(values.hops({ ...options, batches: { default: 3 } })));
    expect(rows(arrivalOf).filter((row, i) => !same(arrived[i], row))).toEqual([]);
  });
});

test.each(long ? ways : ways.slice(0, 1))(
  'what has very many elements is carried, %s',
  { timeout: 60_000 },
  async (_way, options) => {
    const sent = large.map((kind) => values.layouts['in a column'](kind.make()));
    const arrived = await valuesOf(from(sent).pipe(values.hops(options)));
    expect(wrong(large, arrived, 'in a column')).toEqual([]);
  },
);

describe.each(ways)('what is refused, %s', { timeout: 60_000 }, (_way, options) => {
  const steps: Readonly<Record<values.Layout, string>> = {
    alone: '',
    'in an object and an array': '.user.list[1]',
    'in a Map and a Set': '.get("k").values()[1]',
    'in a column': '.value',
  };

  /** What is wrong with the way a kind was refused: on its way from here, or from a step on a thread. */
  async function offence(kind: Kind, layout: values.Layout, from$: 'here' | 'lowered' | 'opaque'): Promise<string[]> {
    const sent = values.around(layout, kind.make());
    const args = { kind: refused.indexOf(kind), layout, opaque: from$ === 'opaque' };
    const run$ = from$ === 'here' ? from(sent).pipe(values.hops(options)) : values.makes({ ...options, args });
    const { values: before, end } = await observe(run$);
    const segment = from$ === 'here' ? 'input' : 'pull-1';
    const fails = isMillraceError(end) && end.code === 'ERR_VALUE' && end.segment === segment;
    const begin = `ERR_VALUE: value${kind.refused === '' ? '' : `${steps[layout]}${kind.path ?? ''} ${kind.refused}`}`;
    if (fails && end.message.startsWith(begin) && same(before, sent.slice(0, 1))) return [];
    return [`${kind.name}, ${from$}: ${String(end)} after ${before.length} values, expected ${begin}`];
  }

  // All of them in the long form; else each kind in two layouts, which ones depends on the kind.
  test.each(layouts)('%s, where it is emitted, with the path', async (layout) => {
    const turn = layouts.indexOf(layout);
    const turns = refused.flatMap((kind, i) => [
      ...(long || (i + turn) % 4 === 0 ? [[kind, 'here'] as const] : []),
      ...(long || (i + turn) % 4 === 1 ? [[kind, i % 8 < 4 ? 'lowered' : 'opaque'] as const] : []),
    ]);
    const offences: string[] = [];
    for (let i = 0; i < turns.length; i += 8) {
      const some = turns.slice(i, i + 8).map(([kind, from$]) => offence(kind, layout, from$));
      offences.push(...(await Promise.all(some)).flat());
    }
    expect(offences).toEqual([]);
    expect(runtime.runs).toEqual([]);
  });
});

test('inline, cuts hand on the values themselves', async () => {
  const sent = [...carried, ...large, ...refused].map(({ make }) => make());
  const arrived = await valuesOf(values.hops.inline(from(sent)));
  expect(arrived).toHaveLength(sent.length);
  expect(arrived.findIndex((value, i) => !Object.is(value, sent[i]))).toBe(-1);
});
