import { createRuntime } from 'millrace';
import { from } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { valuesOf } from './fixtures/observe.js';
import { countWords, texts } from './fixtures/texts.js';
import { wordCount } from './fixtures/words.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 4 });
afterAll(() => runtime.close());

interface Shape {
  readonly text: string;
  readonly threads: number;
  readonly batch: number;
  readonly splitters: number;
  readonly counters: number;
}

function shapes(): Shape[] {
  const all: Shape[] = [];
  for (const text of Object.keys(texts)) {
    for (const threads of [0, 1, 2, 4]) {
      for (const batch of [1, 7, 100, 1000]) {
        for (const splitters of [1, 2, 3, 4])
          for (const counters of [1, 2, 3, 4]) all.push({ text, threads, batch, splitters, counters });
      }
    }
  }
  return all;
}

/** Every n-th of a list that is dealt by a seed: all values of each part occur. */
function sample<T>(list: readonly T[], count: number, seed: number): T[] {
  return Array.from({ length: count }, (_, i) => list[(seed + i * 487) % list.length]!);
}

async function check({ text, threads, batch, splitters, counters }: Shape): Promise<void> {
  const lines = texts[text]!;
  const expected = countWords(lines);
  const words = await valuesOf(
    from(lines).pipe(wordCount({ args: { splitters, counters, batch }, threads, runtime, batches: { output: batch } })),
  );
  const counts = new Map<unknown, number[]>();
  for (const [word, count] of words) counts.set(word, [...(counts.get(word) ?? []), count]);
  // Each word is counted 1, 2, 3… on the one executor it belongs to.
  const counted = [...expected].map(([word, count]) => [word, Array.from({ length: count }, (_, i) => i + 1)] as const);
  expect(new Map([...counts].sort())).toEqual(new Map([...counted].sort()));
}

describe('word count', () => {
  const chosen = long ? shapes() : sample(shapes(), 60, 20_260);

  test.each(Object.keys(texts))(
    '%s: equals an independent count, whatever the threads, batches and parallelism',
    {
      timeout: long ? 600_000 : 30_000,
    },
    async (text) => {
      const own = chosen.filter((shape) => shape.text === text);
      expect(own.length).toBeGreaterThan(5);
      for (const shape of own) await check(shape);
    },
  );

  test('inline, without threads or the runtime, counts the same', async () => {
    const lines = texts['many lines']!;
    const counts = new Map(await valuesOf(wordCount.inline(from(lines), {})));
    expect(counts).toEqual(countWords(lines));
  });

  test('short words are left out where args say so', async () => {
    const counts = new Map(await valuesOf(from(texts['psalm']!).pipe(wordCount({ args: { minLength: 6 }, runtime }))));
    const expected = [...countWords(texts['psalm']!)].filter(([word]) => word.length >= 6);
    expect(counts).toEqual(new Map(expected));
  });
});
