/** A clock moved by hand: how it comes and goes, and that RxJS has its real time before and after. */
import * as rx from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { captured } from '../../src/testing/captured.js';
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

describe('coming and going', () => {
  test('one clock at a time', () => {
    const first = start();
    expect(() => testClock()).toThrow(
      'ERR_OPTION: testClock(): another one is in place; write `using clock = testClock()`, or end it by clock[Symbol.dispose]()',
    );
    first[Symbol.dispose]();
    const second = start();
    expect(() => first.advance(1)).toThrow(
      'ERR_OPTION: advance(): this clock is no longer in place; make another by testClock()',
    );
    first[Symbol.dispose]();
    second.advance(1);
    expect([first.nowMs, second.nowMs]).toEqual([0, 1]);
  });

  test('time does not move within time', () => {
    const hand = start();
    const seen = captured(rx.timer(1).pipe(rx.tap(() => hand.advance(1))));
    hand.advance(1);
    expect(seen.end).toMatchObject({
      error: { code: 'ERR_OPTION', message: expect.stringContaining('is called by what advance() runs') },
    });
  });

  test('what was still to come never comes, and RxJS has its real time back', async () => {
    const hand = start();
    const lost = captured(rx.merge(rx.timer(1), rx.of('asap').pipe(rx.observeOn(rx.asapScheduler))));
    hand[Symbol.dispose]();
    const real = await rx.firstValueFrom(rx.zip(rx.timer(2), rx.of('real').pipe(rx.observeOn(rx.asapScheduler))));
    expect([real, lost]).toEqual([[0, 'real'], { values: [], end: 'open' }]);
  });

  test('real asap work that was set before the clock, and what was left of it, goes its way', async () => {
    const before = captured(rx.of('a', 'b').pipe(rx.observeOn(rx.asapScheduler)));
    const left = rx.asapScheduler.schedule(() => expect.unreachable());
    const hand = start();
    left.unsubscribe();
    const inside = captured(rx.of('c').pipe(rx.observeOn(rx.asapScheduler)));
    await Promise.resolve();
    await Promise.resolve();
    expect([before.end, inside.end]).toEqual(['complete', 'open']);
    hand.advance(0);
    expect([before.values, inside.values]).toEqual([['a', 'b'], ['c']]);
  });

  test('real asap work set before a clock that has come and gone, goes its way', async () => {
    const before = captured(rx.of('a').pipe(rx.observeOn(rx.asapScheduler)));
    const left = rx.asapScheduler.schedule(() => expect.unreachable());
    const hand = start();
    left.unsubscribe();
    hand[Symbol.dispose]();
    await Promise.resolve();
    expect(before).toEqual({ values: ['a'], end: 'complete' });
    const alone = rx.asapScheduler.schedule(() => expect.unreachable());
    const second = start();
    alone.unsubscribe();
    await Promise.resolve();
    second[Symbol.dispose]();
    expect(await rx.firstValueFrom(rx.of('b').pipe(rx.observeOn(rx.asapScheduler)))).toBe('b');
  });

  test('timers that were set in real time are cleared there', async () => {
    const real = rx.timer(1).subscribe(() => expect.unreachable());
    const hand = start();
    real.unsubscribe();
    hand.advance(1);
    hand[Symbol.dispose]();
    await rx.firstValueFrom(rx.timer(5));
    expect(real.closed).toBe(true);
  });

  test.each([rx.asyncScheduler, rx.asapScheduler, rx.queueScheduler])(
    'time moves within RxJS at work: %#',
    async (scheduler) => {
      const seen = await new Promise<unknown>((resolve) => {
        scheduler.schedule(() => {
          using hand = testClock();
          const all = captured(
            rx.merge(
              rx.timer(1),
              rx.of('asap').pipe(rx.observeOn(rx.asapScheduler)),
              rx.of('queue').pipe(rx.observeOn(rx.queueScheduler)),
            ),
          );
          hand.advance(1);
          resolve([...all.values]);
        });
      });
      expect(seen).toEqual(scheduler === rx.queueScheduler ? ['asap', 0] : ['queue', 'asap', 0]);
      expect(await rx.firstValueFrom(rx.of('real').pipe(rx.observeOn(scheduler)))).toBe('real');
      expect(await rx.firstValueFrom(rx.timer(1))).toBe(0);
    },
  );

  test('TestScheduler.run() takes the place of the clock, and the clock says so', () => {
    const hand = start();
    new TestScheduler(() => {}).run(() => {});
    expect(() => hand.advance(1)).toThrow(
      'ERR_OPTION: advance(): TestScheduler.run() of RxJS has taken the place of this clock; use one of the two',
    );
  });

  test('a clock within TestScheduler.run() leaves its time as it was', () => {
    const scheduler = new TestScheduler(() => {});
    const seen = scheduler.run(() => {
      const outer = captured(rx.merge(rx.timer(2), rx.of('outer').pipe(rx.observeOn(rx.asapScheduler))));
      const left = rx.timer(1).subscribe(() => expect.unreachable());
      using hand = testClock();
      left.unsubscribe();
      const inner = captured(rx.timer(2));
      hand.advance(2);
      return { outer, inner };
    });
    expect(seen).toEqual({ outer: { values: ['outer', 0], end: 'complete' }, inner: { values: [0], end: 'complete' } });
  });
});
