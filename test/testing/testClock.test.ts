/** A clock moved by hand: what runs when, against a model and against RxJS's own TestScheduler. */
import fc from 'fast-check';
import * as rx from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { captured } from '../../src/testing/captured.js';
import { feeder } from '../../src/testing/feeder.js';
import { type TestClock, testClock } from '../../src/testing/testClock.js';

let clock: TestClock | undefined;
const start = (): TestClock => {
  clock = testClock();
  return clock;
};
afterEach(() => {
  clock?.[Symbol.dispose]();
  clock = undefined;
});

/** Work that sets more work when it runs. */
interface Plan {
  readonly asap: boolean;
  readonly delayMs: number;
  readonly cancelled: boolean;
  readonly after: readonly Plan[];
}

const { plan } = fc.letrec<{ plan: Plan }>((tie) => ({
  plan: fc.record({
    asap: fc.boolean(),
    delayMs: fc.constantFrom(0, 0, 1, 2, 2.5, 5),
    cancelled: fc.boolean(),
    after: fc.oneof(
      { depthIdentifier: 'plan', withCrossShrink: true },
      fc.constant<Plan[]>([]),
      fc.array(tie('plan'), { maxLength: 3, depthIdentifier: 'plan' }),
    ),
  }),
}));

type Ran = readonly [atMs: number, path: string];

function inClock(plans: readonly Plan[], stepsMs: readonly number[]): readonly Ran[] {
  using hand = testClock();
  const ran: Ran[] = [];
  const set = (all: readonly Plan[], path: string): void => {
    all.forEach(({ asap, delayMs, cancelled, after }, index) => {
      const scheduler = asap ? rx.asapScheduler : rx.asyncScheduler;
      const work = scheduler.schedule(() => {
        ran.push([hand.nowMs, `${path}${index}`]);
        set(after, `${path}${index}.`);
      }, delayMs);
      if (cancelled) work.unsubscribe();
    });
  };
  set(plans, '');
  for (const stepMs of stepsMs) hand.advance(stepMs);
  return ran;
}

/** The same by definition: of all that is due, the earliest; of these immediates first; of these the first set. */
function inModel(plans: readonly Plan[], untilMs: number): readonly Ran[] {
  const ran: Ran[] = [];
  let waiting: { atMs: number; rank: number; set: number; path: string; after: readonly Plan[] }[] = [];
  let count = 0;
  const set = (all: readonly Plan[], path: string, nowMs: number): void => {
    all.forEach(({ asap, delayMs, cancelled, after }, index) => {
      const rank = asap && delayMs === 0 ? 0 : 1;
      if (!cancelled) waiting.push({ atMs: nowMs + delayMs, rank, set: count++, path: `${path}${index}`, after });
    });
  };
  set(plans, '', 0);
  for (;;) {
    const [next, ...rest] = waiting
      .filter(({ atMs }) => atMs <= untilMs)
      .sort((a, b) => a.atMs - b.atMs || a.rank - b.rank || a.set - b.set);
    if (next === undefined) return ran;
    waiting = [...rest, ...waiting.filter(({ atMs }) => atMs > untilMs)];
    ran.push([next.atMs, next.path]);
    set(next.after, `${next.path}.`, next.atMs);
  }
}

describe('time', () => {
  test('law: what is due runs in order of time, immediates first, then as set', () => {
    fc.assert(
      fc.property(fc.array(plan, { maxLength: 5 }), fc.nat({ max: 12 }), (plans, untilMs) => {
        expect(inClock(plans, [untilMs])).toEqual(inModel(plans, untilMs));
      }),
      { numRuns: 500 },
    );
  });

  test('law: a span of time in parts is the span', () => {
    fc.assert(
      fc.property(fc.array(plan, { maxLength: 5 }), fc.array(fc.nat({ max: 4 })), (plans, stepsMs) => {
        const untilMs = stepsMs.reduce((sum, stepMs) => sum + stepMs, 0);
        expect(inClock(plans, [...stepsMs, 0])).toEqual(inClock(plans, [untilMs]));
      }),
    );
  });

  const timed: Readonly<Record<string, (source: rx.Observable<number>) => rx.Observable<unknown>>> = {
    delay: (source) => source.pipe(rx.delay(3)),
    debounceTime: (source) => source.pipe(rx.debounceTime(3)),
    throttleTime: (source) => source.pipe(rx.throttleTime(3, rx.asyncScheduler, { leading: true, trailing: true })),
    auditTime: (source) => source.pipe(rx.auditTime(3)),
    sampleTime: (source) => source.pipe(rx.sampleTime(4), rx.take(20), rx.takeUntil(rx.timer(50))),
    bufferTime: (source) => source.pipe(rx.bufferTime(5, null, 3)),
    timeout: (source) => source.pipe(rx.timeout(7)),
    timestamp: (source) => source.pipe(rx.timestamp()),
    timeInterval: (source) => source.pipe(rx.timeInterval()),
    interval: (source) => rx.merge(source, rx.interval(4).pipe(rx.take(5))),
    asap: (source) => source.pipe(rx.observeOn(rx.asapScheduler), rx.delay(1)),
    repeat: (source) => source.pipe(rx.take(2), rx.repeat({ count: 2, delay: 2 })),
  };
  const emissions = fc.array(fc.tuple(fc.nat({ max: 30 }), fc.nat()), { maxLength: 8 });
  const emitting = (values: readonly (readonly [number, number])[]): rx.Observable<number> =>
    rx.merge(...values.map(([atMs, value]) => rx.timer(atMs).pipe(rx.map(() => value))));
  const logged = (values: rx.Observable<unknown>, now: () => number): unknown[] => {
    const log: unknown[] = [];
    values.pipe(rx.materialize()).subscribe(({ kind, value, error }) => log.push([now(), kind, value, String(error)]));
    return log;
  };

  test.each(Object.keys(timed))('law: %s does at each time what it does in a TestScheduler', (name) => {
    const operator = timed[name]!;
    fc.assert(
      fc.property(emissions, (values) => {
        const scheduler = new TestScheduler(() => {});
        const expected = scheduler.run(() => logged(operator(emitting(values)), () => scheduler.now()));
        using hand = testClock();
        const seen = logged(operator(emitting(values)), () => hand.nowMs);
        hand.advance(1_000);
        expect(seen).toEqual(expected);
      }),
    );
  });

  test('C-228: time does not go back, and has to be told in finite milliseconds', () => {
    const { advance } = { advance: (ms: unknown) => start().advance(ms as number) };
    for (const [ms, shown] of [
      [-1, '-1'],
      [Number.NaN, 'NaN'],
      [Number.POSITIVE_INFINITY, 'Infinity'],
      ['5', '"5"'],
      [undefined, 'undefined'],
    ] as const) {
      expect(() => advance(ms)).toThrow(
        `ERR_OPTION: advance() takes milliseconds from 0 on, got ${shown}; time does not go back or to its end`,
      );
      expect(clock?.nowMs).toBe(0);
      clock?.[Symbol.dispose]();
    }
  });

  test('C-229: fractions of a millisecond are kept, not cut off', () => {
    const hand = start();
    const seen = captured(rx.timer(1.9));
    hand.advance(1.75);
    expect([hand.nowMs, seen.values]).toEqual([1.75, []]);
    hand.advance(0.25);
    expect([hand.nowMs, seen.values]).toEqual([2, [0]]);
  });

  test('advance(0) runs what is due now, and asap work needs no time', () => {
    const hand = start();
    const seen = captured(rx.merge(rx.timer(0), rx.of('asap').pipe(rx.observeOn(rx.asapScheduler)), rx.timer(0.1)));
    expect(seen.values).toEqual([]);
    hand.advance(0);
    expect(seen.values).toEqual(['asap', 0]);
  });

  test('delays that no timer of Node holds last 1 ms, as there', () => {
    const hand = start();
    const seen = captured(
      rx.merge(rx.timer(2 ** 31), rx.timer(2 ** 31 - 1), rx.NEVER.pipe(rx.timeout(Number.POSITIVE_INFINITY))),
    );
    hand.advance(1);
    expect(seen).toMatchObject({ values: [0], end: { error: { name: 'TimeoutError' } } });
  });

  test('what rx says of the time is the time of the clock', () => {
    const hand = start();
    hand.advance(1_500);
    expect([rx.asyncScheduler.now(), rx.asapScheduler.now(), hand.nowMs]).toEqual([1_500, 1_500, 1_500]);
    const seen = captured(rx.of('now').pipe(rx.timestamp()));
    expect(seen.values).toEqual([{ value: 'now', timestamp: 1_500 }]);
  });

  test('150,000 timers of one instant, and as many set there, are no chain', () => {
    const hand = start();
    let count = 0;
    const widely = (delayMs: number, work: () => void): void => {
      for (let n = 0; n < 150_000; n++) rx.asyncScheduler.schedule(work, delayMs);
    };
    widely(5, () => {
      if (count++ === 0) widely(0, () => count++);
    });
    hand.advance(5);
    expect(count).toBe(300_000);
  });
});

describe('errors', () => {
  test('what a subscriber throws is thrown by advance, after all else that was due', () => {
    const hand = start();
    const ran: number[] = [];
    for (const atMs of [1, 2, 3]) {
      rx.timer(atMs).subscribe(() => {
        ran.push(atMs);
        if (atMs < 3) throw new Error(`at ${atMs}`);
      });
    }
    expect(() => hand.advance(10)).toThrow(/^at 1$/);
    expect([ran, hand.nowMs]).toEqual([[1, 2, 3], 10]);
    hand.advance(10);
  });

  test('an error without a handler is thrown by advance', () => {
    const hand = start();
    rx.timer(5)
      .pipe(rx.map(() => JSON.parse('{')))
      .subscribe();
    hand.advance(4);
    expect(() => hand.advance(1)).toThrow(SyntaxError);
  });

  test('an error that was not told before the clock ends is told then', () => {
    const hand = start();
    const { source, next } = feeder<number>();
    source.subscribe(() => {
      throw new Error('subscriber');
    });
    next(1);
    expect(() => hand[Symbol.dispose]()).toThrow(/^subscriber$/);
    hand[Symbol.dispose]();
    expect(start().nowMs).toBe(0);
  });

  test('what is thrown falsy is thrown', () => {
    const hand = start();
    rx.throwError(() => undefined).subscribe();
    let thrown: unknown = 'nothing';
    try {
      hand.advance(0);
    } catch (reason) {
      thrown = reason;
    }
    expect(thrown).toBeUndefined();
  });

  test('a scheduled action that throws does not stop its scheduler', () => {
    const hand = start();
    const ran: string[] = [];
    for (const scheduler of [rx.asapScheduler, rx.asyncScheduler]) {
      scheduler.schedule(() => {
        throw new Error('action');
      });
      expect(() => hand.advance(0)).toThrow(/^action$/);
      scheduler.schedule(() => ran.push('after'));
      hand.advance(0);
    }
    expect(ran).toEqual(['after', 'after']);
  });

  test('timers of 0 ms without end are ERR_STALLED', () => {
    const hand = start();
    const seen = captured(rx.timer(3, 0));
    expect(() => hand.advance(5)).toThrow(
      'ERR_STALLED: advance(): time does not come on from 3 ms, where 100,000 timers of 0 ms have set each other; give the delay of interval, repeat or retry at least 1 ms',
    );
    expect([hand.nowMs, seen.values.length]).toEqual([3, 100_000]);
  });

  test('asap work that sets asap work without end is ERR_STALLED, with what was thrown before as the cause', () => {
    const hand = start();
    rx.throwError(() => new Error('first')).subscribe();
    rx.timer(1).subscribe(() =>
      rx.asapScheduler.schedule(function again() {
        this.schedule();
      }),
    );
    expect(() => hand.advance(1)).toThrow(expect.objectContaining({ code: 'ERR_STALLED', cause: new Error('first') }));
  });
});
