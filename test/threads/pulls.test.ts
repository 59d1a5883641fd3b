import { createRuntime, pull } from 'millrace';
import { concat, defer, finalize, Observable, of, take, toArray } from 'rxjs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { observe, valuesOf } from './fixtures/observe.js';
import { behind, inside, type Kind, kinds, make, type PullArgs } from './fixtures/pulls.js';

const runtime = createRuntime({ threads: 2 });
afterEach(() => expect(runtime.runs).toEqual([]));
afterAll(() => runtime.close());

const options = { runtime };
const local = { runtime, threads: 0 };
/** Where a pull may stand. */
const places: [string, (args: PullArgs) => Observable<unknown>][] = [
  ['inside, on a thread', (args) => inside({ ...options, args })],
  ['inside, on the calling thread', (args) => inside({ ...local, args })],
  ['as input of threads', (args) => pull(make(args)).pipe(behind(options))],
  ['as input on the calling thread', (args) => pull(make(args)).pipe(behind(local))],
  ['inline', (args) => inside.inline(args)],
  ['without a topology', (args) => pull(make(args))],
];
const all = Object.keys(kinds) as Kind[];

/** What a kind gives for `count` values; bytes come in pieces of any size. */
function content(kind: Kind, values: readonly unknown[]): unknown {
  return kind === 'bytes' ? Buffer.concat(values as Buffer[]).toString() : values;
}

function expected(kind: Kind, count: number): unknown {
  const numbers = Array.from({ length: count }, (_, n) => n);
  if (kind === 'bytes') return numbers.map((n) => `${n}\n`).join('');
  return kind === 'lines' ? numbers.map(String) : numbers;
}

describe.each(places)('pull() %s', { timeout: 20_000 }, (_place, start) => {
  test.each(all)('gives all values of %s in order and completes', async (kind) => {
    for (const count of [0, 1, 3000])
      expect(content(kind, await valuesOf(start({ kind, count })))).toEqual(expected(kind, count));
  });

  // A readline interface tells nobody of an error of its input; that is Node's.
  test.each(all.filter((kind) => kind !== 'lines'))('errors behind what %s gave before', async (kind) => {
    const { values, end } = await observe(start({ kind, count: 250, fails: true }));
    const cause = (end as { cause?: unknown }).cause ?? end;
    expect(cause).toMatchObject({ name: 'Ended', message: 'after 250' });
    if (cause !== end) expect(end).toMatchObject({ code: 'ERR_SOURCE' });
    // What was made at once gave nothing; a stream that breaks gives up what nobody had read.
    if (['array', 'set'].includes(kind)) expect(values).toEqual([]);
    else if (['readable', 'piped', 'bytes'].includes(kind)) {
      const got = content(kind, values) as string | unknown[];
      expect((expected(kind, 250) as typeof got).slice(0, got.length)).toEqual(got);
    } else expect(values).toEqual(expected(kind, 250));
  });

  test('is made anew for every subscription', async () => {
    for (const kind of all) {
      const stream$ = start({ kind, count: 5 });
      const [one, other] = await Promise.all([valuesOf(stream$), valuesOf(stream$)]);
      expect([content(kind, one), content(kind, other)]).toEqual([expected(kind, 5), expected(kind, 5)]);
    }
  });
});

describe('pull() is an Observable like any other', () => {
  test('it composes, and an operator makes it a source that is subscribed', async () => {
    const numbers$ = pull(() => [1, 2, 3]);
    expect(await valuesOf(concat(numbers$, of(4)).pipe(toArray()))).toEqual([[1, 2, 3, 4]]);
    expect(await valuesOf(defer(() => numbers$).pipe(take(2), behind(options)))).toEqual([1, 2]);
  });

  test('leaving it closes the source', async () => {
    const log: string[] = [];
    const endless$ = pull(function* () {
      try {
        for (let n = 0; ; n++) yield n;
      } finally {
        log.push('closed');
      }
    });
    expect(
      await valuesOf(
        endless$.pipe(
          take(2),
          finalize(() => log.push('left')),
        ),
      ),
    ).toEqual([0, 1]);
    expect(log.sort()).toEqual(['closed', 'left']);
  });

  test('the argument must be a function', () => {
    for (const bad of [[1], undefined, new Observable()]) {
      expect(() => pull(bad as never)).toThrow(
        expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining('pull()') }),
      );
    }
  });
});
