import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Ask, DemandObserver } from '../../runtime/demand.js';
import { none } from '../../runtime/input.js';
import { Prefetch } from '../../runtime/prefetch.js';

/** A source that has `length` values and then ends, and emits them when it is asked or when it is told to. */
class Source {
  readonly requests: number[] = [];
  left = 0;
  emitted = 0;
  #demand = 0;
  #ended = false;
  #observer: DemandObserver<unknown> | undefined;
  readonly #length: number;
  readonly #end: 'complete' | 'fail' | 'none';
  readonly #atOnce: boolean;

  constructor(length: number, end: 'complete' | 'fail' | 'none', atOnce: boolean) {
    this.#length = length;
    this.#end = end;
    this.#atOnce = atOnce;
  }

  readonly ask: Ask<unknown> = (observer) => {
    this.#observer = observer;
    if (this.#length === 0) this.emit(0);
    return {
      request: (n) => {
        this.requests.push(n);
        this.#demand += n;
        if (this.#atOnce) this.emit(n);
      },
      unsubscribe: () => {
        this.left++;
        this.#ended = true;
      },
    };
  };

  get asked(): number {
    return this.requests.reduce((sum, n) => sum + n, 0);
  }

  emit(count: number): void {
    for (let i = 0; i < count && this.#demand > 0 && this.emitted < this.#length && !this.#ended; i++) {
      this.#demand--;
      this.#observer?.next(this.emitted++);
    }
    if (this.emitted < this.#length || this.#ended || this.#end === 'none') return;
    this.#ended = true;
    if (this.#end === 'complete') this.#observer?.complete();
    else this.#observer?.error('failed');
  }
}

const steps = fc.array(fc.record({ how: fc.constantFrom('emit', 'take'), count: fc.integer({ min: 1, max: 300 }) }), {
  maxLength: 20,
});

function takeAll(prefetch: Prefetch, most: number, taken: unknown[]): void {
  for (let i = 0; i < most; i++) {
    const value = prefetch.take();
    if (value === none) return;
    taken.push(value);
  }
}

describe('values asked for ahead', () => {
  test('law: nothing is lost or reordered, the end comes behind it, and never more than 256 are asked for and not yet taken', () => {
    const ends = fc.constantFrom('complete', 'fail', 'none');
    fc.assert(
      fc.property(fc.nat(1500), ends, fc.boolean(), steps, (length, end, atOnce, script) => {
        const source = new Source(length, end, atOnce);
        const prefetch = new Prefetch(() => {});
        const taken: unknown[] = [];
        prefetch.begin(source.ask);
        let failed: unknown;
        const take = (count: number): void => {
          try {
            takeAll(prefetch, count, taken);
          } catch (reason) {
            failed = reason;
            expect(taken).toHaveLength(length);
          }
        };
        const bounded = (): void => {
          expect(source.asked - taken.length).toBeLessThanOrEqual(256);
          if (prefetch.ended) expect(taken).toHaveLength(length);
        };
        for (const { how, count } of script) {
          if (how === 'emit') source.emit(count);
          else take(count);
          bounded();
        }
        for (let i = 0; i < 20; i++) {
          source.emit(Number.POSITIVE_INFINITY);
          take(100);
          bounded();
        }
        expect(taken).toEqual(Array.from({ length }, (_, i) => i));
        expect(failed).toBe(end === 'fail' ? 'failed' : undefined);
        expect(prefetch.ended).toBe(end !== 'none');
      }),
    );
  });

  test('C-084: 256 are asked for, and 192 more whenever 192 were taken', () => {
    const source = new Source(10_000, 'none', true);
    const prefetch = new Prefetch(() => {});
    prefetch.begin(source.ask);
    const taken: unknown[] = [];
    expect(source.requests).toEqual([256]);
    takeAll(prefetch, 191, taken);
    expect(source.requests).toEqual([256]);
    takeAll(prefetch, 1, taken);
    expect(source.requests).toEqual([256, 192]);
    takeAll(prefetch, 3 * 192, taken);
    expect(source.requests).toEqual([256, 192, 192, 192, 192]);
  });

  test('it wakes when the first value has come, at the end and at an error, not for each value', () => {
    let woken = 0;
    const source = new Source(3, 'complete', false);
    const prefetch = new Prefetch(() => woken++);
    prefetch.begin(source.ask);
    source.emit(2);
    expect(woken).toBe(1);
    source.emit(1);
    expect(woken).toBe(2);
    const failing = new Prefetch(() => woken++);
    failing.begin(new Source(0, 'fail', false).ask);
    expect(woken).toBe(3);
    expect(() => failing.take()).toThrow('failed');
    expect([failing.take(), failing.ended]).toEqual([none, true]);
  });

  test('finished, it leaves its source once, takes in nothing more, and counts what it throws away', () => {
    const source = new Source(1000, 'none', false);
    const prefetch = new Prefetch(() => {});
    prefetch.begin(source.ask);
    source.emit(10);
    takeAll(prefetch, 4, []);
    prefetch.finish();
    prefetch.finish();
    expect([source.left, prefetch.ended, prefetch.discard(), prefetch.discard()]).toEqual([1, true, 6, 0]);
  });

  test('drained, it leaves its source, and what has come is taken', () => {
    const source = new Source(1000, 'none', false);
    const prefetch = new Prefetch(() => {});
    prefetch.begin(source.ask);
    source.emit(10);
    prefetch.drain();
    expect([source.left, prefetch.ended]).toEqual([1, false]);
    const taken: unknown[] = [];
    takeAll(prefetch, 100, taken);
    expect([taken.length, prefetch.ended]).toEqual([10, true]);
  });

  test('finished or drained before it began, it asks nobody; while it begins, it leaves and requests nothing', () => {
    for (const how of ['finish', 'drain'] as const) {
      const early = new Prefetch(() => {});
      early[how]();
      early.begin(() => {
        throw new Error('asked');
      });
      const log: unknown[] = [];
      const meanwhile = new Prefetch(() => {});
      meanwhile.begin(() => {
        meanwhile[how]();
        return { request: (n) => log.push(n), unsubscribe: () => log.push('left') };
      });
      expect(log).toEqual(['left']);
      expect(meanwhile.ended).toBe(true);
    }
  });
});
