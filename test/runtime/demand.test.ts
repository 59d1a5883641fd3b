import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkRequest, Demand, OnDemand } from '../../runtime/demand.js';
import { type Input, none } from '../../runtime/input.js';

/** Counts what is asked of it: `found` values, and then nothing, or its end. */
class Counted implements Input {
  readonly found: unknown[];
  looks = 0;
  ended = false;
  readonly calls: string[] = [];

  constructor(found: unknown[]) {
    this.found = found;
  }

  take(): unknown {
    return this.found.length === 0 ? none : this.found.shift();
  }

  look(): void {
    this.looks++;
    this.ended = this.found.length === 0;
  }

  finish(): void {
    this.calls.push('finish');
  }

  drain(): void {
    this.calls.push('drain');
  }

  discard(): number {
    this.calls.push('discard');
    return 7;
  }
}

describe('demand', () => {
  test('law: counts add up, and above the largest exact number they are without end', () => {
    const count = fc.oneof(
      fc.integer({ min: 1, max: 1_000 }),
      fc.maxSafeInteger().filter((n) => n > 0),
      fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, Number.POSITIVE_INFINITY),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(count, fc.constant('spend' as const)), { maxLength: 40 }), (script) => {
        const demand = new Demand();
        let left = 0n;
        let endless = false;
        let more = 0;
        demand.onMore = () => more++;
        for (const step of script) {
          if (step === 'spend') {
            if (demand.left === 0) continue;
            demand.spend();
            left--;
          } else {
            demand.request(step);
            endless ||= step === Number.POSITIVE_INFINITY || left + BigInt(step) >= BigInt(Number.MAX_SAFE_INTEGER);
            if (!endless) left += BigInt(step);
          }
          expect(demand.left).toBe(endless ? Number.POSITIVE_INFINITY : Number(left));
        }
        expect(more).toBe(script.filter((step) => step !== 'spend').length);
      }),
    );
  });

  test.each([0, -1, -0, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, '1', 1n, null, undefined, {}])(
    'a request of %s is refused, and asks for nothing (C-076)',
    (n) => {
      const demand = new Demand();
      demand.onMore = () => expect.unreachable();
      const refusal = expect.objectContaining({
        code: 'ERR_OPTION',
        message: expect.stringMatching(/^ERR_OPTION: request\(\) takes a whole number above 0 or Infinity, got /),
      });
      expect(() => checkRequest(n as number)).toThrow(refusal);
      expect(() => demand.request(n as number)).toThrow(refusal);
      expect(demand.left).toBe(0);
    },
  );
});

describe('an input on demand', () => {
  test('law: no more is taken than was asked for, in order; without demand it only looks', () => {
    const steps = fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant('take' as const)), { maxLength: 60 });
    fc.assert(
      fc.property(fc.array(fc.anything(), { maxLength: 30 }), steps, (values, script) => {
        const input = new Counted([...values]);
        const demand = new Demand();
        const taken = new OnDemand(input, demand);
        let asked = 0;
        let got = 0;
        let looks = 0;
        for (const step of script) {
          if (step !== 'take') {
            demand.request(step);
            asked += step;
            continue;
          }
          if (asked === got) looks++;
          const due = got < Math.min(asked, values.length);
          const value = taken.take();
          if (due) expect(value).toBe(values[got++]);
          else expect(value).toBe(none);
          expect([demand.left, input.looks]).toEqual([asked - got, looks]);
        }
      }),
    );
  });

  test('an end needs no demand', () => {
    const taken = new OnDemand(new Counted([]), new Demand());
    expect([taken.ended, taken.take(), taken.ended]).toEqual([false, none, true]);
  });

  test('what a source throws costs no demand', () => {
    const input = new Counted([]);
    input.take = () => {
      throw new RangeError('broken');
    };
    const demand = new Demand();
    demand.request(2);
    expect(() => new OnDemand(input, demand).take()).toThrow(RangeError);
    expect(demand.left).toBe(2);
  });

  test('the rest goes through to the input', () => {
    const input = new Counted([]);
    const taken = new OnDemand(input, new Demand());
    taken.finish();
    taken.drain();
    expect(taken.discard()).toBe(7);
    expect(input.calls).toEqual(['finish', 'drain', 'discard']);
  });
});
