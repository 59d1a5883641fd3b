import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { none } from '../../runtime/input.js';
import { checkOverflow, type Overflow, Waiting } from '../../runtime/overflow.js';

const all: readonly Overflow[] = ['auto', 'block', 'dropOldest', 'dropNewest', 'latest', 'error', 'buffer'];

/** What the doc comment of `Overflow` says, on a list. */
class Listed {
  readonly strategy: Overflow;
  readonly capacity: number;
  waiting: unknown[] = [];
  readonly dropped: unknown[] = [];

  constructor(strategy: Overflow, capacity: number) {
    this.strategy = strategy;
    this.capacity = strategy === 'latest' ? 1 : strategy === 'buffer' ? Number.POSITIVE_INFINITY : capacity;
  }

  offer(value: unknown): boolean {
    if (this.waiting.length < this.capacity) this.waiting.push(value);
    else if (this.strategy === 'dropNewest') this.dropped.push(value);
    else if (this.strategy === 'dropOldest' || this.strategy === 'latest') {
      this.dropped.push(this.waiting[0]);
      this.waiting = [...this.waiting.slice(1), value];
    } else return false;
    return true;
  }
}

const drain = (waiting: Waiting): unknown[] => {
  const values: unknown[] = [];
  for (let value = waiting.take(); value !== none; value = waiting.take()) values.push(value);
  return values;
};

const refused = (message: string) =>
  expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) });

describe('what waits', () => {
  test('law: what waits and what is thrown away is as the strategy says, in order, each told once', () => {
    const steps = fc.array(fc.constantFrom('offer', 'offer', 'offer', 'take'), { maxLength: 60 });
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.integer({ min: 1, max: 6 }), steps, (strategy, capacity, script) => {
        const told: unknown[] = [];
        const waiting = new Waiting(
          checkOverflow({ strategy, capacity, onDrop: (value: unknown) => told.push(value) }),
        );
        const model = new Listed(strategy, capacity);
        script.forEach((step, value) => {
          if (step === 'offer') expect(waiting.offer(value)).toBe(model.offer(value));
          else expect(waiting.take()).toBe(model.waiting.length === 0 ? none : model.waiting.shift());
          expect([waiting.length, waiting.dropped]).toEqual([model.waiting.length, model.dropped.length]);
          if (strategy !== 'buffer') expect(waiting.length).toBeLessThanOrEqual(strategy === 'latest' ? 1 : capacity);
          expect(told).toEqual(model.dropped);
        });
        expect(drain(waiting)).toEqual(model.waiting);
      }),
    );
  });

  test.each<[Overflow, kept: number[], dropped: number[], refused: number[]]>([
    ['block', [1, 2, 3, 4], [], [5, 6]],
    ['auto', [1, 2, 3, 4], [], [5, 6]],
    ['error', [1, 2, 3, 4], [], [5, 6]],
    ['dropOldest', [3, 4, 5, 6], [1, 2], []],
    ['dropNewest', [1, 2, 3, 4], [5, 6], []],
    ['latest', [6], [1, 2, 3, 4, 5], []],
    ['buffer', [1, 2, 3, 4, 5, 6], [], []],
  ])('of 6 offered to a stalled buffer of 4, %s keeps %j (C-088)', (strategy, kept, dropped, stays) => {
    const told: unknown[] = [];
    const waiting = new Waiting(checkOverflow({ strategy, capacity: 4, onDrop: (value: unknown) => told.push(value) }));
    expect([1, 2, 3, 4, 5, 6].filter((value) => !waiting.offer(value))).toEqual(stays);
    expect(drain(waiting)).toEqual(kept);
    expect(told).toEqual(dropped);
    expect(waiting.overflowed('the source').code).toBe('ERR_OVERFLOW');
  });

  test.each(all)('%s: undefined, null and false are values', (strategy) => {
    const waiting = new Waiting(checkOverflow(strategy));
    for (const value of [undefined, null, false]) {
      expect(waiting.offer(value)).toBe(true);
      expect(waiting.take()).toBe(value);
    }
    expect(waiting.take()).toBe(none);
  });

  test('what is let go of was not thrown away', () => {
    const waiting = new Waiting(checkOverflow({ strategy: 'dropOldest', capacity: 2 }));
    for (const value of [1, 2, 3]) waiting.offer(value);
    waiting.clear();
    expect([waiting.length, waiting.dropped, waiting.take()]).toEqual([0, 1, none]);
  });
});

describe('onDrop', () => {
  const broken = new RangeError('broken');

  test.each<[Overflow, kept: number[]]>([
    ['dropOldest', [2, 3]],
    ['dropNewest', [1, 2]],
    ['latest', [3]],
  ])('of %s may throw: the value is counted, the others are as they would be', (strategy, kept) => {
    const onDrop = (): never => {
      throw broken;
    };
    const waiting = new Waiting(checkOverflow({ strategy, capacity: 2, onDrop }));
    let thrown = 0;
    for (const value of [1, 2, 3]) {
      try {
        waiting.offer(value);
      } catch (reason) {
        expect(reason).toBe(broken);
        thrown++;
      }
    }
    expect(waiting.dropped).toBe(thrown);
    expect(drain(waiting)).toEqual(kept);
  });

  test.each<[Overflow, kept: number[], told: number[]]>([
    ['dropOldest', [30, 4], [1, 2, 3]],
    ['dropNewest', [1, 2], [3, 30, 4]],
    ['latest', [4], [1, 2, 3, 30]],
  ])('of %s may offer a value: it comes behind the one that threw another out', (strategy, kept, told) => {
    const seen: unknown[] = [];
    const waiting = new Waiting(
      checkOverflow({
        strategy,
        capacity: 2,
        onDrop: (value: unknown) => {
          seen.push(value);
          if (seen.length === (strategy === 'latest' ? 2 : 1)) waiting.offer(30);
        },
      }),
    );
    for (const value of [1, 2, 3, 4]) waiting.offer(value);
    expect(seen).toEqual(told);
    expect(waiting.dropped).toBe(told.length);
    expect(drain(waiting)).toEqual(kept);
  });
});

describe('the option overflow', () => {
  test('is a strategy or its parts; the defaults say the rest', () => {
    const defaults = { strategy: 'auto', capacity: 1_024, onDrop: undefined };
    expect([checkOverflow(undefined), checkOverflow({}), checkOverflow({ strategy: undefined })]).toEqual(
      Array.from({ length: 3 }, () => defaults),
    );
    for (const strategy of all)
      expect(checkOverflow(strategy)).toEqual({ ...defaults, strategy, capacity: strategy === 'latest' ? 1 : 1_024 });
    expect(checkOverflow({ strategy: 'latest', capacity: 9 }).capacity).toBe(1);
    expect(checkOverflow({ capacity: 2 ** 31 }).capacity).toBe(2 ** 31);
  });

  test.each([
    ['dropoldest', 'overflow got the strategy "dropoldest": did you mean dropOldest?'],
    ['lattest', 'overflow got the strategy "lattest": did you mean latest?'],
    [{ strategy: 'bufer' }, 'overflow got the strategy "bufer": did you mean buffer?'],
    [
      'dropHead',
      'overflow got the strategy "dropHead": it is one of auto, block, dropOldest, dropNewest, latest, error, buffer',
    ],
    ['', 'overflow got the strategy ""'],
    [null, 'overflow got the strategy null'],
    [['latest'], 'overflow got the strategy an array of 1'],
    [16, 'overflow got the strategy 16'],
    [{ capasity: 4 }, 'overflow has no option "capasity": did you mean capacity?'],
    [{ ondrop: () => {} }, 'overflow has no option "ondrop": did you mean onDrop?'],
    [{ size: 4 }, 'overflow has no option "size": known are strategy, capacity, onDrop'],
    [{ capacity: 0 }, 'overflow.capacity must be a whole number from 1 to 2^31, got 0'],
    [{ capacity: 1.5 }, 'overflow.capacity must be a whole number from 1 to 2^31, got 1.5'],
    [{ capacity: '4' }, 'overflow.capacity must be a whole number from 1 to 2^31, got "4"'],
    [{ capacity: Number.POSITIVE_INFINITY }, 'overflow.capacity must be a whole number from 1 to 2^31, got Infinity'],
    [{ strategy: 'latest', capacity: -1 }, 'overflow.capacity must be a whole number from 1 to 2^31, got -1'],
    [{ capacity: 2 ** 31 + 1 }, 'overflow.capacity must be'],
    [{ onDrop: 'log' }, 'overflow.onDrop must be a function, got "log"'],
    [{ onDrop: null }, 'overflow.onDrop must be a function, got null'],
  ])('%j is refused', (overflow, message) => {
    expect(() => checkOverflow(overflow)).toThrow(refused(message));
  });
});
