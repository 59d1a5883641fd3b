/**
 * Demand, in whatever world: as many values as were asked for and not one more, nothing lost but what a strategy says, and told.
 */
import fc from 'fast-check';
import type { OverflowOptions } from 'millrace';
import { pull } from 'millrace';
import { simulate } from 'millrace/testing';
import { asyncScheduler, Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { often, worlds } from './fixtures/draws.js';
import { type Item, type Net, one, ordered, resultsOf } from './fixtures/nets.js';
import { codes, judge, type Log, play, type Voyage } from './fixtures/voyage.js';
import { nets } from './fixtures/voyages.js';

type Asked = { request(n: number): void; unsubscribe(): void };
type Ask = (observer: object) => Asked;
const askOf = (values: Observable<Item>): Ask =>
  (values as unknown as Readonly<Record<symbol, Ask>>)[Symbol.for('millrace.demand/1')]!.bind(values) as Ask;

/** Long enough for a world to come to rest. */
const restMs = 3_000;

interface Answer {
  readonly asked: number;
  readonly heard: number;
  readonly taken: number;
}

/** Asks for so many, waits until nothing happens any more, and looks; and so on. */
function questions(net: Net, count: number, sizes: readonly number[], pulled: boolean, seed: number) {
  const values: number[] = [];
  const answers: Answer[] = [];
  let taken = 0;
  const item = (n: number): Item => {
    taken++;
    return { n, pad: '' };
  };
  const input = pulled
    ? pull(function* () {
        for (let n = 0; n < count; n++) yield item(n);
      })
    : new Observable<Item>((subscriber) => {
        for (let n = 0; n < count; n++) subscriber.next(item(n));
        subscriber.complete();
      });
  const target = (given: object): Observable<never> =>
    new Observable((subscriber) => {
      const output = input.pipe(one({ ...given, args: net, overflow: 'buffer' }));
      const asked = askOf(output)({
        next: ({ n }: Item) => values.push(n),
        error: (reason: unknown) => subscriber.error(reason),
        complete: () => subscriber.complete(),
      });
      let sum = 0;
      const next = ([size, ...others]: readonly number[]): void => {
        if (size === undefined) {
          asked.request(Number.POSITIVE_INFINITY);
          return;
        }
        sum += size;
        asked.request(size);
        asyncScheduler.schedule(() => {
          answers.push({ asked: sum, heard: values.length, taken });
          next(others);
        }, restMs);
      };
      next(sizes);
    });
  const { end } = simulate(Object.assign(target, { inline: true, describe: one.describe }) as never, { seed });
  return { values, answers, end: end as unknown };
}

const ascending = (ns: readonly number[]): readonly number[] => [...ns].sort((a, b) => a - b);
const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

describe('demand, simulated', { timeout: 300_000 }, () => {
  test('law: never more than was asked for, never less where there is enough; and all of it in the end', () => {
    const sizes = fc.array(fc.constantFrom(1, 1, 2, 7, 50), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(nets, fc.nat(40), sizes, fc.boolean(), worlds, (net, count, script, pulled, seed) => {
        const { values, answers, end } = questions(net, count, script, pulled, seed);
        const all = range(0, count).flatMap((n) => resultsOf(net, n)[0]!);
        expect(end).toBe('complete');
        for (const { asked, heard } of answers) expect(heard).toBe(Math.min(asked, all.length));
        expect(ordered(net) ? values : ascending(values)).toEqual(ordered(net) ? all : ascending(all));
      }),
      often(200),
    );
  });

  test('law: a demand of one brings one, though batches are of a hundred and nobody asks again', () => {
    const step = { cut: 'shuffle', wide: 1, batch: 100, many: 1, opaque: false } as const;
    const lines = fc
      .integer({ min: 1, max: 4 })
      .map((length): Net => ({ shape: 'line', trunk: new Array(length).fill(step), left: [], right: [] }));
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 50 }), worlds, (net, count, seed) => {
        const { answers } = questions(net, count, [1, 1, 1], true, seed);
        expect(answers.map(({ heard }) => heard)).toEqual([1, 2, 3].map((n) => Math.min(n, count)));
      }),
      often(100),
    );
  });

  // One burst, in which nothing else happens: in calm weather the first find room, and what becomes of the others a list says.
  const burst = fc.record({
    count: fc.integer({ min: 1, max: 300 }),
    pad: fc.constantFrom(0, 40, 2_000),
    capacity: fc.constantFrom(1, 3, 20),
    threads: fc.nat(2),
  });
  const line: Net = {
    shape: 'line',
    trunk: [{ cut: 'shuffle', wide: 1, batch: 1, many: 1, opaque: false }],
    left: [],
    right: [],
  };
  type Burst = typeof burst extends fc.Arbitrary<infer T> ? T : never;
  function flooded({ count, pad, capacity, threads }: Burst, strategy: OverflowOptions['strategy'], seed: number): Log {
    const voyage: Voyage = {
      feed: { kind: 'hot', burst: count, gapMs: 1 },
      count,
      pad,
      overflow: { capacity, ...(strategy && { strategy }) },
      nets: [line],
      operator: false,
      readers: [{ kind: 'plain' }, { kind: 'plain' }],
      threads,
    };
    const { logs } = play([voyage], seed);
    judge(voyage, logs[0]!);
    return logs[0]!;
  }

  test.each(['dropOldest', 'dropNewest', 'latest'] as const)(
    'law: drops are exactly those that %s names',
    (strategy) => {
      fc.assert(
        fc.property(burst, fc.oneof(fc.constant(0), worlds), (given, seed) => {
          const { heard, dropped, emitted } = flooded(given, strategy, seed);
          const { values } = heard[0]!;
          const waited = strategy === 'latest' ? 1 : given.capacity;
          const through = values.length - waited;
          expect(emitted).toEqual(range(0, given.count));
          expect(ascending([...values, ...dropped])).toEqual(emitted);
          // A ring that was said to be full may have room again in the midst of it.
          if (seed !== 0) return;
          if (dropped.length === 0) expect(values).toEqual(emitted);
          else if (strategy === 'dropNewest') expect(dropped).toEqual(range(values.length, given.count));
          else expect(dropped).toEqual(range(through, given.count - waited));
        }),
        often(100),
      );
    },
  );

  test.each(['auto', 'error'] as const)('law: with %s, ERR_OVERFLOW comes behind all that was taken in', (strategy) => {
    fc.assert(
      fc.property(burst, worlds, (given, seed) => {
        const { heard, emitted } = flooded(given, strategy, seed);
        const { values, end } = heard[0]!;
        if (end === 'complete') expect(values).toEqual(range(0, given.count));
        else expect([codes(end)[0], values]).toEqual(['ERR_OVERFLOW', range(0, emitted.length - 1)]);
      }),
      often(100),
    );
  });

  test.each(['block', 'buffer'] as const)('law: with %s, nothing is lost', (strategy) => {
    fc.assert(
      fc.property(burst, worlds, (given, seed) => {
        const { heard } = flooded(given, strategy, seed);
        expect(heard).toMatchObject([{ values: range(0, given.count), end: 'complete' }]);
      }),
      often(100),
    );
  });
});
