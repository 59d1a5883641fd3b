import { createRuntime, type Run } from 'millrace';
import { from, Subject } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { same } from '../runtime/fixtures/values.js';
import { observe, valuesOf } from './fixtures/observe.js';
import * as values from './fixtures/values.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());

const ways = [
  ['on two threads', { runtime }],
  ['on one thread', { runtime, threads: 1 }],
  ['on the calling thread', { runtime, threads: 0 }],
] as const;
const some = long ? ways : [ways[0], ways[2]];

describe.each(ways)('law: snapshot: a value arrives as it was when it was emitted, %s', (_way, options) => {
  test.each(['map', 'iterable', 'opaque', 'behind'] as const)('a step that uses one object again: %s', async (args) => {
    for (const batch of [1, 10, 1000]) {
      const numbers = Array.from({ length: 300 }, (_, n) => n % 256);
      const run$ = from(numbers).pipe(values.reuses({ ...options, args, batches: { default: batch } }));
      const expected = numbers.map((n) => ({
        n,
        list: [n, -n],
        bytes: new Uint8Array(4).fill(n),
        map: new Map([['n', n]]),
      }));
      // The list holds -0 for 0: it arrives as it was, too.
      expect(same(await valuesOf(run$), expected)).toBe(true);
    }
  });

  test('an input that changes what it has emitted', async () => {
    const input = new Subject<unknown>();
    const got = valuesOf(input.pipe(values.hops(options)));
    const row = {
      id: 0,
      name: '',
      at: new Date(0),
      deep: { list: [0] as unknown[] },
      bytes: Buffer.alloc(3),
      set: new Set<unknown>(),
    };
    const expected = Array.from({ length: 500 }, (_, id) => {
      const name = `row ${id}`;
      row.id = id;
      row.name = name;
      row.at.setTime(id);
      row.deep.list = [id, { id }];
      row.bytes.fill(id);
      row.set.add(id % 5);
      input.next(row);
      const now = {
        id,
        name,
        at: new Date(id),
        deep: { list: [id, { id }] },
        bytes: Buffer.alloc(3, id),
        set: new Set(row.set),
      };
      row.deep.list.push('later');
      row.bytes.fill(0xff);
      if (id % 7 === 0) row.set.clear();
      row.name = 'spoilt';
      return now;
    });
    input.complete();
    expect(same(await got, expected)).toBe(true);
  });

  test('executors that change what they were given do not see each other', async () => {
    const rows = Array.from({ length: 100 }, (_, n) => ({ list: new Array<number>(n % 7).fill(n) }));
    const lengths = await valuesOf(from(rows).pipe(values.spoils(options)));
    const expected = rows.flatMap(({ list }) => [list.length, list.length, list.length]);
    expect(lengths.toSorted((a, b) => a - b)).toEqual(expected.toSorted((a, b) => a - b));
    expect(rows.map(({ list }) => list.length)).toEqual(rows.map((_, n) => n % 7));
  });
});

describe.each(some)('many, %s', { timeout: long ? 600_000 : 60_000 }, (_way, options) => {
  test.each([long ? 20_000 : 6000])('%i objects of 300 sets of keys', async (length) => {
    const rows = Array.from({ length }, (_, n) => {
      const kind = (n * 7919) % 300;
      const keys = Array.from({ length: 1 + (kind % 9) }, (_, k) => `key ${(kind * 31 + k * 17) % 97}`);
      return Object.fromEntries([...keys.map((key, k) => [key, k % 2 === 0 ? n : `${key} ${n}`]), [`kind${kind}`, n]]);
    });
    expect(new Set(rows.map((row) => Object.keys(row).join())).size).toBe(300);
    const arrived = await valuesOf(from(rows).pipe(values.hops(options)));
    expect(arrived).toHaveLength(rows.length);
    expect(rows.findIndex((row, i) => !same(arrived[i], row))).toBe(-1);
  });

  test('of views of large buffers only the view travels', async () => {
    const buffer = new ArrayBuffer(4_000_000);
    const views = [
      new Uint8Array(buffer, 1000, 10),
      new Float64Array(buffer, 8, 3),
      new DataView(buffer, 5, 6),
      Buffer.from(buffer, 3, 9),
    ];
    const rows = Array.from({ length: 400 }, (_, id) => ({ id, view: views[id % 4] }));
    let run: Run | undefined;
    const arrived = await valuesOf(from(rows).pipe(values.hops({ ...options, onRun: (started) => (run = started) })));
    expect(same(arrived, rows)).toBe(true);
    for (const { bytes } of run?.metrics().channels ?? []) expect(bytes).toBeLessThan(100_000);
    const kept = (arrived as { view: ArrayBufferView }[]).map(({ view }) => view.buffer.byteLength);
    expect(Math.max(...kept)).toBeLessThan(100_000);
  });

  test('strings of one byte, of two bytes and of both in one batch', async () => {
    const units = ['a', 'ÿ', '日', '😀', '\ud800', '\0', '\ufeff', '\u2028'];
    const lengths = [0, 1, 12, 13, 16, 31, 32, 63, 64, 255, 256, 5000, 70_000];
    const texts = lengths.flatMap((length) => units.map((unit) => unit.repeat(length)));
    const mixed = texts.map((text, i) => `${text}${texts[(i * 37) % texts.length]?.slice(0, 50)}`);
    for (const sent of [texts, mixed, mixed.map((text, id) => ({ id, text, also: [text] }))]) {
      expect(same(await valuesOf(from<unknown[]>(sent).pipe(values.hops(options))), sent)).toBe(true);
    }
  });

  test('values from no bytes to 20 MB, in order, whatever they are made of', async () => {
    const sizes = [0, 1, 31, 32, 1000, 65_536, 131_072, 524_288, 2_000_000];
    const makers: readonly ((size: number) => unknown)[] = [
      (size) => Buffer.alloc(size, 'abcdefg'),
      (size) => 'x'.repeat(size),
      (size) => new Float64Array(size >> 3).fill(size),
      (size) => ({ text: 'é'.repeat(size >> 1), size }),
      (size) => Array.from({ length: size >> 5 }, (_, n) => n % 1000),
    ];
    const largest = long ? 300_000_000 : 20_000_000;
    for (const make of makers) {
      const all = makers.indexOf(make) < 2 ? [...sizes, largest, 5] : sizes;
      const sent = all.flatMap((size) => [size, make(size)]);
      const arrived = await valuesOf(from(sent).pipe(values.hops(options)));
      expect(arrived).toHaveLength(sent.length);
      expect(sent.findIndex((value, i) => !same(arrived[i], value))).toBe(-1);
    }
  });
});

describe('fuzz', { timeout: long ? 600_000 : 60_000 }, () => {
  const count = long ? 100_000 : 1000;
  const seed = Math.trunc(Math.random() * 2 ** 31);

  /** What may travel, said another way: classes by name, and no property that is none of theirs. */
  function mayTravel(value: unknown): boolean {
    if (typeof value === 'symbol' || typeof value === 'function') return false;
    if (typeof value !== 'object' || value === null) return true;
    if (ArrayBuffer.isView(value)) return true;
    const name = Object.getPrototypeOf(value)?.constructor?.name as string | undefined;
    if (name === 'Date') return true;
    if (name === 'Map') return [...(value as Map<unknown, unknown>)].flat(1).every(mayTravel);
    if (name === 'Set') return [...(value as Set<unknown>)].every(mayTravel);
    const plain = Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === Array.prototype;
    return plain && Object.values(value).every(mayTravel);
  }

  /** Sends all that is left after each refusal, until nothing is left. Returns how many were refused. */
  async function through(
    sent: readonly unknown[],
    run: (from: number) => Promise<{ readonly values: readonly unknown[]; readonly end: unknown }>,
  ): Promise<number> {
    let refusals = 0;
    for (let at = 0; at < sent.length; ) {
      const { values: arrived, end } = await run(at);
      for (const [i, value] of arrived.entries())
        if (!same(value, sent[at + i]) || !mayTravel(value))
          expect([seed, at + i, value]).toEqual([seed, at + i, sent[at + i]]);
      at += arrived.length;
      if (end === 'complete') {
        expect([seed, at]).toEqual([seed, sent.length]);
        return refusals;
      }
      expect([seed, at, end]).toEqual([seed, at, expect.objectContaining({ code: 'ERR_VALUE' })]);
      expect([seed, at, mayTravel(sent[at])]).toEqual([seed, at, false]);
      refusals++;
      at++;
    }
    return refusals;
  }

  test.each(some)(
    'law: anything arrives equal or is refused, and what may travel is not refused, %s',
    async (_way, options) => {
      const sample = { seed, count };
      const sent = values.sampled(sample);
      const expected = sent.filter((value) => !mayTravel(value)).length;
      expect(expected).toBeGreaterThan(count * 0.01);
      expect(expected).toBeLessThan(count * 0.3);
      const batches = { default: 1 + (seed % 50) };
      // Every value once from here and once from a thread.
      const here = await through(sent, (at) =>
        observe(from(sent.slice(at)).pipe(values.hops({ ...options, batches }))),
      );
      const there = await through(sent, (at) =>
        observe(values.samples({ ...options, batches, args: { ...sample, from: at } })),
      );
      expect([here, there]).toEqual([expected, expected]);
    },
  );
});
