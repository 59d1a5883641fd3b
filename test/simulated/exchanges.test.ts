/** What each kind of cut promises, in whatever world: who meets a value, and in which order. Models are over lists. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chain, type Item, type Stage } from './fixtures/chain.js';
import { batches, items, loads, narrow, often, stages, widths, worlds } from './fixtures/draws.js';
import { by, type Played, play } from './fixtures/play.js';

/** What the executors of a stage met, each in its order. */
function met({ meetings }: Played, stage: number): number[][] {
  const own = meetings.filter(({ segment }) => segment === `s${stage}`);
  return [...by(own, ({ executor }) => executor).values()].map((all) => all.map(({ n }) => n));
}

/** Values sent through a cut, for each pair of executors. */
function sent({ metrics }: Played, stage: number): readonly { from: string; to: string; values: number }[] {
  return metrics.channels
    .filter(({ id }) => id.startsWith(`s${stage}:`))
    .map(({ id, values }) => ({ from: /:(.*)->/.exec(id)![1]!, to: /->(.*)$/.exec(id)![1]!, values }));
}

const numbers = (list: readonly Item[]): number[] => list.map(({ n }) => n);
const ascending = (ns: readonly number[]): number[] => [...ns].sort((a, b) => a - b);

describe('cuts, simulated', { timeout: 300_000 }, () => {
  test('law: keyBy: a key meets one executor, and its values keep their order', () => {
    fc.assert(
      fc.property(loads(40), narrow, widths, batches, worlds, ({ list, input }, before, parallelism, batch, seed) => {
        const plan: readonly Stage[] = [...before, { cut: 'keyBy', parallelism, batch }];
        const played = play(chain, plan, { input, seed });
        const homes = met(played, before.length);
        expect(homes.length).toBeLessThanOrEqual(parallelism);
        const keys = by(list, ({ key }) => key);
        for (const own of keys.values()) {
          const [home, ...others] = homes.filter((ns) => ns.some((n) => list[n]!.key === own[0]!.key));
          expect(others).toEqual([]);
          expect(home!.filter((n) => list[n]!.key === own[0]!.key)).toEqual(numbers(own));
        }
        expect(by(played.heard['output']!.values, ({ key }) => key)).toEqual(keys);
        expect(played.end).toBe('complete');
      }),
      often(200),
    );
  });

  test('law: keyBy: in every run a key is at home where it was in others', () => {
    fc.assert(
      fc.property(items(30), items(30), widths, batches, worlds, worlds, (one, other, parallelism, batch, ...seeds) => {
        const plan: readonly Stage[] = [{ cut: 'keyBy', parallelism, batch }];
        const share = (list: readonly Item[], seed: number) =>
          sent(play(chain, plan, { input: list, seed }), 0).map(({ values }) => values);
        const [a, b] = [share(one, seeds[0]), share(other, seeds[1])];
        expect(share([...one, ...other], seeds[0])).toEqual(a.map((values, i) => values + b[i]!));
      }),
      often(40),
    );
  });

  test('law: shuffle: of each producer every executor gets the same number of values, or one more', () => {
    fc.assert(
      fc.property(loads(40), stages('shuffle', 'keyBy'), stages('shuffle'), worlds, ({ list, input }, a, b, seed) => {
        const played = play(chain, [a, b], { input, seed });
        for (const stage of [0, 1]) {
          if (stage === 0 && a.cut !== 'shuffle') continue;
          for (const shares of by(sent(played, stage), ({ from }) => from).values()) {
            const counts = shares.map(({ values }) => values);
            expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
          }
        }
        expect(ascending(met(played, 1).flat())).toEqual(numbers(list));
        expect(ascending(numbers(played.heard['output']!.values))).toEqual(numbers(list));
      }),
      often(200),
    );
  });

  test('law: broadcast: each executor meets all values once, those of one producer in their order', () => {
    fc.assert(
      fc.property(loads(25), narrow, widths, batches, worlds, ({ list, input }, before, parallelism, batch, seed) => {
        const played = play(chain, [...before, { cut: 'broadcast', parallelism, batch }], { input, seed });
        const expected = list.length === 0 ? [] : new Array<number[]>(parallelism).fill(numbers(list));
        expect(met(played, before.length)).toEqual(expected);
        expect(played.heard['output']!.values).toHaveLength(list.length * parallelism);
      }),
      often(150),
    );
  });

  test('law: gather: one executor meets all values, those of each producer in their order', () => {
    fc.assert(
      fc.property(
        loads(40),
        stages('shuffle', 'keyBy', 'route'),
        batches,
        worlds,
        ({ list, input }, before, batch, seed) => {
          const played = play(chain, [before, { cut: 'gather', parallelism: 1, batch }], { input, seed });
          const [all = [], ...others] = met(played, 1);
          expect(others).toEqual([]);
          const expected = before.cut === 'route' ? list.flatMap(({ n, to }) => to.map(() => n)) : numbers(list);
          expect(ascending(all)).toEqual(expected);
          // A value that was routed to several is at none of them alone.
          if (before.cut !== 'route')
            for (const own of met(played, 0)) expect(all.filter((n) => own.includes(n))).toEqual(own);
          expect(numbers(played.heard['output']!.values)).toEqual(all);
        },
      ),
      often(150),
    );
  });

  test('law: route: as told, once for each index, in the order of the producer', () => {
    fc.assert(
      fc.property(loads(30), narrow, widths, batches, worlds, ({ list, input }, before, parallelism, batch, seed) => {
        const played = play(chain, [...before, { cut: 'route', parallelism, batch }], { input, seed });
        const expected = Array.from({ length: parallelism }, (_, index) =>
          list.flatMap(({ n, to }) => to.filter((chosen) => chosen % parallelism === index).map(() => n)),
        );
        const lists = (all: readonly (readonly number[])[]): string[] => all.map((ns) => ns.join(' ')).sort();
        expect(lists(met(played, before.length))).toEqual(lists(expected.filter((ns) => ns.length > 0)));
        expect(sent(played, before.length).map(({ values }) => values)).toEqual(expected.map(({ length }) => length));
      }),
      often(200),
    );
  });

  test('law: spreadKey: a key meets two executors at most, each of its values one', () => {
    fc.assert(
      fc.property(loads(40), stages('spreadKey'), worlds, ({ list, input }, stage, seed) => {
        const homes = met(play(chain, [stage], { input, seed }), 0);
        expect(ascending(homes.flat())).toEqual(numbers(list));
        for (const [key] of by(list, (item) => item.key))
          expect(homes.filter((ns) => ns.some((n) => list[n]!.key === key)).length).toBeLessThanOrEqual(2);
      }),
      often(100),
    );
  });

  test('law: a batch holds values of one target, no more than its size, and all values that were sent', () => {
    fc.assert(
      fc.property(
        loads(60),
        stages('keyBy', 'shuffle', 'route'),
        stages('keyBy', 'broadcast'),
        worlds,
        (load, a, b, seed) => {
          const played = play(chain, [a, b], { input: load.input, seed });
          const { channels, executors } = played.metrics;
          for (const { id, values, frames } of channels) {
            const own = played.flushes.filter(({ channel }) => channel === id);
            expect([id, own.reduce((sum, { count }) => sum + count, 0)]).toEqual([id, values]);
            expect([id, own.length]).toEqual([id, frames]);
            const batch = id.startsWith('s0:') ? a.batch! : id.startsWith('s1:') ? b.batch! : 100;
            const { size = 100 } = typeof batch === 'object' ? batch : { size: batch };
            for (const { count } of own) expect(count).toBeLessThanOrEqual(Number(size));
          }
          for (const { id, in: taken } of executors) {
            const arrived = channels.filter((channel) => channel.id.endsWith(`->${id}`));
            expect([id, arrived.reduce((sum, { values }) => sum + values, 0)]).toEqual([id, taken]);
          }
        },
      ),
      often(100),
    );
  });
});

/** What README says of order, for stages one after the other whose values nobody changes. */
function promised(plan: readonly Stage[]): ('total' | 'key' | 'none')[] {
  const orders: ('total' | 'key' | 'none')[] = [];
  let order: 'total' | 'key' | 'none' = 'total';
  let before: Stage = { parallelism: 1 };
  for (const stage of [...plan, { parallelism: 1 }]) {
    if (before.parallelism > 1 && order !== 'none') {
      const alike = stage.cut === 'keyBy' || stage.parallelism === 1;
      order = before.cut === 'keyBy' && alike ? 'key' : 'none';
    } else if (order === 'key' && stage.cut !== 'keyBy' && stage.parallelism > 1) order = 'none';
    orders.push(order);
    before = stage;
  }
  return orders;
}

describe('order, simulated', { timeout: 300_000 }, () => {
  test('law: describe() promises what README says, and what it promises is kept at every cut', () => {
    const plans = fc.array(stages('keyBy', 'keyBy', 'shuffle', 'gather', 'spreadKey'), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(loads(30), plans, worlds, ({ list, input }, plan, seed) => {
        const orders = chain.describe({ args: plan }).exchanges.map(({ order }) => order);
        expect(orders).toEqual(promised(plan));
        const played = play(chain, plan, { input, seed });
        const check = (ns: readonly number[], order: string | undefined): void => {
          if (order === 'total') expect(ns).toEqual(ascending(ns));
          if (order !== 'key') return;
          for (const own of by(ns, (n) => list[n]!.key).values()) expect(own).toEqual(ascending(own));
        };
        for (const stage of plan.keys()) for (const ns of met(played, stage)) check(ns, orders[stage]);
        const got = numbers(played.heard['output']!.values);
        check(got, orders.at(-1));
        expect(ascending(got)).toEqual(numbers(list));
      }),
      often(200),
    );
  });
});

describe('the age of a batch, simulated', { timeout: 300_000 }, () => {
  const waits = fc.array(fc.constantFrom(0, 0, 1, 4, 9, 30), { minLength: 1, maxLength: 30 });
  const timed = (gaps: readonly number[]): (readonly [number, Item])[] => {
    let atMs = 0;
    return gaps.map((gap, n) => {
      atMs += gap;
      return [atMs, { n, key: 'a', to: [] }];
    });
  };
  /** When each value leaves, of a batch that leaves by size or age alone, or at the end. */
  function leaves(at: readonly number[], size: number, flushMs: number, endMs: number): number[] {
    const left: number[] = [];
    let open: number[] = [];
    const send = (atMs: number): void => {
      for (const _ of open) left.push(atMs);
      open = [];
    };
    for (const atMs of at) {
      if (open.length > 0 && open[0]! + flushMs <= atMs) send(open[0]! + flushMs);
      open.push(atMs);
      if (open.length === size) send(atMs);
    }
    if (open.length > 0) send(Math.min(endMs, open[0]! + flushMs));
    return left;
  }

  test('law: where nothing is late, a batch leaves when it is full, when its oldest value is flushMs old, or at the end', () => {
    fc.assert(
      fc.property(waits, fc.integer({ min: 1, max: 6 }), fc.constantFrom(2, 5, 13), (gaps, size, flushMs) => {
        const values = timed(gaps);
        const endMs = values.at(-1)![0] + 100;
        const batch = { size, flushMs, idle: false };
        const played = play(chain, [{ cut: 'gather', parallelism: 1, batch }], {
          input: { values, endMs },
          run: { batches: { output: 1 } },
        });
        const expected = leaves(
          values.map(([atMs]) => atMs),
          size,
          flushMs,
          endMs,
        );
        expect(played.outputs['output']!.map(([atMs]) => atMs)).toEqual(expected);
        const whys = new Set(
          played.flushes.filter(({ channel }) => channel.startsWith('s0:')).map(({ reason }) => reason),
        );
        expect(['size', 'age', 'end']).toEqual(expect.arrayContaining([...whys]));
      }),
      often(200),
    );
  });

  test('law: a value waits for no company that does not come: with idle it is delivered when it is given', () => {
    fc.assert(
      fc.property(waits, stages('keyBy', 'shuffle'), stages('keyBy', 'gather'), (gaps, a, b) => {
        const values = timed(gaps);
        const batch = { size: 50, flushMs: Number.POSITIVE_INFINITY };
        const { outputs } = play(
          chain,
          [
            { ...a, batch },
            { ...b, batch },
          ],
          { input: { values } },
        );
        for (const [atMs, { n }] of outputs['output']!) expect([n, atMs]).toEqual([n, values[n]![0]]);
      }),
      often(100),
    );
  });
});
