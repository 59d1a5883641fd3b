import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { executorOf, hashKey } from '../../runtime/hash.js';
import { type Emit, emitterOf, homes, type Route } from '../../runtime/router.js';

interface Counted {
  readonly emit: Emit;
  /** What each target got. */
  readonly got: unknown[][];
  shares(): number[];
}

function routed(kind: Route['kind'], width: number, fn?: Route['fn'], near: readonly number[] = []): Counted {
  const got: unknown[][] = Array.from({ length: width }, () => []);
  const targets = got.map((values) => (value: unknown) => {
    values.push(value);
  });
  return {
    emit: emitterOf({ kind, fn, name: 'x', targets, near }),
    got,
    shares: () => got.map(({ length }) => length),
  };
}

function send({ emit }: Counted, count: number): void {
  for (let i = 0; i < count; i++) emit(i);
}

const itself = (value: unknown): unknown => value;

describe('shuffle', () => {
  test('C-100: one producer, 6 targets, 30,000 values: 5,000 each exactly', () => {
    const counted = routed('shuffle', 6);
    send(counted, 30_000);
    expect(counted.shares()).toEqual(new Array(6).fill(5000));
  });

  test('C-101: 10 producers of 30,000 values over 6 targets: 50,000 each', () => {
    const shares = new Array<number>(6).fill(0);
    for (let producer = 0; producer < 10; producer++) {
      const counted = routed('shuffle', 6);
      send(counted, 30_000);
      for (const [target, share] of counted.shares().entries()) shares[target]! += share;
    }
    expect(shares).toEqual(new Array(6).fill(50_000));
  });

  test('C-102: 2 targets, 100,000 values: half each', () => {
    const counted = routed('shuffle', 2);
    send(counted, 100_000);
    expect(counted.shares()).toEqual([50_000, 50_000]);
  });

  test('C-123: near targets alone, evenly; without any, all', () => {
    const near = routed('shuffle', 4, undefined, [1, 3]);
    send(near, 100);
    expect(near.shares()).toEqual([0, 50, 0, 50]);
    const far = routed('shuffle', 4);
    send(far, 100);
    expect(far.shares()).toEqual([25, 25, 25, 25]);
  });
});

describe('keyBy', () => {
  test('law: equal keys meet, whatever else flows', () => {
    const keys = fc.array(fc.oneof(fc.nat(9), fc.string({ maxLength: 2 }), fc.tuple(fc.nat(2), fc.boolean())));
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 7 }), (values, width) => {
        const counted = routed('keyBy', width, itself);
        for (const value of values) counted.emit(value);
        const homeOf = new Map<string, number>();
        for (const [target, received] of counted.got.entries()) {
          for (const key of received.map((value) => JSON.stringify(value))) {
            expect(homeOf.get(key) ?? target).toBe(target);
            homeOf.set(key, target);
          }
        }
      }),
    );
  });

  test('C-111: byte keys, 4 producers, 6 consumers: equal bytes meet on one consumer', () => {
    const total: number[] = new Array(6).fill(0);
    for (let producer = 0; producer < 4; producer++) {
      const counted = routed('keyBy', 6, (value) => Buffer.from(value as string));
      for (let i = 0; i < 6; i++) for (const word of ['a', 'b']) counted.emit(word);
      for (const [target, share] of counted.shares().entries()) total[target]! += share;
    }
    const busy = total.filter((share) => share > 0);
    expect(busy).toEqual(busy.length === 1 ? [48] : [24, 24]);
  });

  test('C-112: a composite key has the same executor in another process', () => {
    const key = [1, [2, 3], null, 'x'];
    const script = `
      import { executorOf, hashKey } from ${JSON.stringify(new URL('../../runtime/hash.ts', import.meta.url).href)};
      console.log(executorOf(hashKey([1, [2, 3], null, 'x']), 1000));`;
    const said = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect(Number(said)).toBe(executorOf(hashKey(key), 1000));
  });

  test('C-113: with one executor every key goes to it, whatever its hash; an index is never negative', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 1, max: 1024 }), (hash, width) => {
        expect(executorOf(hash, 1)).toBe(0);
        const index = executorOf(hash, width);
        expect(index).toBeGreaterThanOrEqual(0);
        expect(index).toBeLessThan(width);
      }),
    );
    expect(hashKey('anything')).toBeGreaterThanOrEqual(0);
  });

  test('what is no key is refused, on one executor as on several', () => {
    for (const width of [1, 3]) {
      for (const bad of [() => {}, Symbol('s'), new WeakMap()]) {
        const { emit } = routed('keyBy', width, () => bad);
        expect(() => emit(1)).toThrow(expect.objectContaining({ code: 'ERR_KEY' }));
      }
    }
  });

  test.each(['keyBy', 'spreadKey'] as const)('a selector of %s that throws is named', (kind) => {
    const cause = new RangeError('no');
    const { emit } = routed(kind, 2, () => {
      throw cause;
    });
    expect(() => emit(1)).toThrow(
      expect.objectContaining({
        code: 'ERR_OPERATOR',
        operator: `${kind}()`,
        cause,
        message: expect.stringContaining('"x"'),
      }),
    );
  });
});

describe('spreadKey', () => {
  const keys = fc.integer({ min: 0, max: 2 ** 32 - 1 });

  test('C-115: the same key three times, 6 targets: c1 is not c2, c3 is c1', () => {
    fc.assert(
      fc.property(fc.string(), (key) => {
        const { emit, got } = routed('spreadKey', 6, () => key);
        for (const value of [1, 2, 3]) emit(value);
        const [first, second] = homes(hashKey(key), 6);
        expect([got[first], got[second]]).toEqual([[1, 3], [2]]);
      }),
    );
  });

  test('C-116, C-118: two homes, both executors, different wherever there are two, always the same', () => {
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 40 }), (hash, width) => {
        const [first, second] = homes(hash, width);
        expect([first, second].every((home) => Number.isInteger(home) && home >= 0 && home < width)).toBe(true);
        expect(first === second).toBe(width === 1);
        expect(homes(hash, width)).toEqual([first, second]);
      }),
    );
  });

  test('C-118: different keys have different pairs: all pairs of 6 executors occur', () => {
    const pairs = new Set<string>();
    for (let i = 0; i < 2000; i++) pairs.add(String(homes(hashKey(`key ${i}`), 6)));
    expect(pairs.size).toBe(30);
  });

  test('C-119: 90 % of 100,000 values share a key, 4 targets: max to mean at most 2.1, with keyBy more than 3.5', () => {
    const loads = (['spreadKey', 'keyBy'] as const).map((kind) => {
      const counted = routed(kind, 4, (value) => ((value as number) % 10 === 0 ? `key ${value}` : 'hot'));
      send(counted, 100_000);
      return Math.max(...counted.shares()) / 25_000;
    });
    expect(loads[0]).toBeLessThanOrEqual(2.1);
    expect(loads[1]).toBeGreaterThan(3.5);
  });
});

describe('broadcast, gather, route', () => {
  test('C-120: broadcast: every executor gets every value once', () => {
    for (const width of [1, 6]) {
      const counted = routed('broadcast', width);
      send(counted, 50);
      expect(counted.got).toEqual(new Array(width).fill(Array.from({ length: 50 }, (_, i) => i)));
    }
  });

  test('C-121: gather: one executor gets all', () => {
    const counted = routed('gather', 1);
    send(counted, 50);
    expect(counted.shares()).toEqual([50]);
  });

  test('C-114: route: a value goes to each executor chosen', () => {
    for (const count of [2, 3]) {
      const counted = routed('route', 5, () => Array.from({ length: count }, (_, i) => i));
      send(counted, 10);
      expect(counted.shares()).toEqual([0, 1, 2, 3, 4].map((target) => (target < count ? 10 : 0)));
    }
  });

  test('C-126: route: an empty list discards the value', () => {
    const counted = routed('route', 2, (value) => ((value as number) % 2 === 0 ? [] : 1));
    send(counted, 10);
    expect(counted.got).toEqual([[], [1, 3, 5, 7, 9]]);
  });

  test('the function of route is told how many executors there are', () => {
    const counted = routed('route', 3, (value, executors) => (value as number) % executors);
    send(counted, 9);
    expect(counted.shares()).toEqual([3, 3, 3]);
  });

  test('an index that does not exist is refused before any executor gets the value', () => {
    for (const bad of [3, -1, 0.5, Number.NaN, '1', null, undefined, [0, 3], [0, '1'], [[0]]]) {
      const { emit, shares } = routed('route', 3, () => bad);
      expect(() => emit(1)).toThrow(
        expect.objectContaining({
          code: 'ERR_OPERATOR',
          operator: 'route()',
          message: expect.stringContaining('0 to 2'),
        }),
      );
      expect(shares()).toEqual([0, 0, 0]);
    }
  });

  test('a function of route that throws is named', () => {
    const cause = new TypeError('no');
    const { emit } = routed('route', 2, () => {
      throw cause;
    });
    expect(() => emit(1)).toThrow(expect.objectContaining({ code: 'ERR_OPERATOR', operator: 'route()', cause }));
  });
});
