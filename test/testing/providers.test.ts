/** RxJS's time, lent to a timeline and given back; threads of one process keep apart what RxJS keeps in one queue. */
import * as rx from 'rxjs';
import { dateTimestampProvider } from 'rxjs/internal/scheduler/dateTimestampProvider';
import { immediateProvider } from 'rxjs/internal/scheduler/immediateProvider';
import { intervalProvider } from 'rxjs/internal/scheduler/intervalProvider';
import { performanceTimestampProvider } from 'rxjs/internal/scheduler/performanceTimestampProvider';
import { timeoutProvider } from 'rxjs/internal/scheduler/timeoutProvider';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, test } from 'vitest';
import { captured } from '../../src/testing/captured.js';
import { installTimeline, isInstalled, type Timeline, withTimeline } from '../../src/testing/providers.js';

interface Hand extends Timeline {
  /** Tasks that were set and not cancelled, as `kind delay`. */
  readonly waiting: readonly string[];
  /** Runs what waits now, in the order of setting, wherever we are. */
  run(): void;
}

function makeHand(nowMs = 0): Hand {
  let tasks: { readonly kind: string; readonly run: () => void }[] = [];
  const add = (kind: string, run: () => void): (() => void) => {
    const task = { kind, run };
    tasks.push(task);
    return () => {
      tasks = tasks.filter((other) => other !== task);
    };
  };
  return {
    nowMs: () => nowMs,
    soon: (run) => add('soon', run),
    later: (ms, run, what = 'later' as 'report') => add(`${what} ${ms}`, run),
    get waiting() {
      return tasks.map(({ kind }) => kind);
    },
    run() {
      const due = tasks;
      tasks = [];
      for (const { run } of due) run();
    },
  };
}

const delegates = (): unknown[] =>
  [dateTimestampProvider, performanceTimestampProvider, timeoutProvider, intervalProvider, immediateProvider].map(
    ({ delegate }) => delegate,
  );
const asap = <T>(value: T): rx.Observable<T> => rx.of(value).pipe(rx.observeOn(rx.asapScheduler));
const nothing = Array(5).fill(undefined);

describe('lending', () => {
  test('law: what was there before is there again, also after a throw, also TestScheduler', () => {
    const [outer, inner] = [makeHand(), makeHand()];
    const around = (): void => {
      const before = delegates();
      expect(withTimeline(outer, () => delegates().map((delegate) => delegate !== undefined))).toEqual(
        Array(5).fill(true),
      );
      expect(delegates()).toEqual(before);
      expect(() =>
        withTimeline(outer, () => {
          throw new Error('work');
        }),
      ).toThrow('work');
      expect(delegates()).toEqual(before);
    };
    around();
    expect(delegates()).toEqual(nothing);
    withTimeline(inner, around);
    new TestScheduler(() => {}).run(around);
    const restore = installTimeline(inner);
    around();
    restore();
    restore();
    expect(delegates()).toEqual(nothing);
  });

  test('a timeline is in place once', () => {
    const hand = makeHand();
    expect(isInstalled(hand)).toBe(false);
    withTimeline(hand, () => {
      const there = delegates();
      withTimeline(hand, () => expect(delegates()).toEqual(there));
      expect([delegates(), isInstalled(hand)]).toEqual([there, true]);
    });
    expect(isInstalled(hand)).toBe(false);
  });

  test('times, delays and reports reach the timeline, with negative and unknown delays as 0', () => {
    const hand = makeHand(77);
    const now = withTimeline(hand, () => {
      const timer = (ms?: number): unknown => intervalProvider.setInterval(() => {}, ms);
      for (const ms of [3, 1.5, -1, Number.NaN, undefined, 2 ** 31 - 1, 2 ** 31, Number.POSITIVE_INFINITY]) timer(ms);
      asap(1).subscribe();
      rx.throwError(() => new Error('unheard')).subscribe();
      return [rx.asyncScheduler.now(), dateTimestampProvider.now(), performanceTimestampProvider.now()];
    });
    expect(now).toEqual([77, 77, 77]);
    const delays = [3, 1.5, 0, 0, 0, 2 ** 31 - 1, 1, 1].map((ms) => `later ${ms}`);
    expect(hand.waiting).toEqual([...delays, 'soon', 'report 0']);
  });

  test('an interval is set again after each call until it is cleared, and arguments arrive', () => {
    const hand = makeHand();
    const seen: unknown[] = [];
    const handles = withTimeline(hand, () => [
      intervalProvider.setInterval((...args: unknown[]) => seen.push(args), 2, 'a', 'b'),
      intervalProvider.setInterval(() => {
        throw new Error('tick');
      }, 2),
      timeoutProvider.setTimeout((...args: unknown[]) => seen.push(args), 0, 'once'),
      immediateProvider.setImmediate((...args: unknown[]) => seen.push(args), 'soon'),
    ]);
    expect(() => hand.run()).toThrow('tick');
    expect([seen, hand.waiting]).toEqual([[['a', 'b']], ['later 2', 'later 2']]);
    withTimeline(hand, () => {
      for (const handle of handles) intervalProvider.clearInterval(handle as number);
    });
    expect(hand.waiting).toEqual([]);
  });

  test('a task runs in the time it was set in, wherever it is run', () => {
    const hand = makeHand(5);
    const seen = withTimeline(hand, () =>
      captured(rx.timer(0).pipe(rx.map(() => [rx.asyncScheduler.now(), isInstalled(hand)]))),
    );
    hand.run();
    expect(seen.values).toEqual([[5, true]]);
    expect(delegates()).toEqual(nothing);
  });
});

describe('apart', () => {
  test('law: asap work of several threads is that of each', () => {
    const hands = [makeHand(1), makeHand(2), makeHand(3)];
    const seen: unknown[] = [];
    for (const round of ['a', 'b']) {
      for (const hand of hands) {
        withTimeline(hand, () => asap(round).subscribe((value) => seen.push([hand.nowMs(), value])));
      }
    }
    expect(hands.map(({ waiting }) => waiting)).toEqual(Array(3).fill(['soon']));
    hands[1]?.run();
    expect(seen.splice(0)).toEqual([
      [2, 'a'],
      [2, 'b'],
    ]);
    for (const hand of hands) hand.run();
    expect(seen).toEqual([
      [1, 'a'],
      [1, 'b'],
      [3, 'a'],
      [3, 'b'],
    ]);
  });

  test('asap work that is unsubscribed from outside does not run, and the rest does', () => {
    const hand = makeHand();
    const [some, all] = [withTimeline(hand, () => asap(1).subscribe(() => expect.unreachable())), makeHand()];
    const seen = withTimeline(hand, () => captured(asap(2)));
    some.unsubscribe();
    hand.run();
    expect(seen).toEqual({ values: [2], end: 'complete' });
    const only = withTimeline(all, () => asap(1).subscribe(() => expect.unreachable()));
    only.unsubscribe();
    all.run();
    expect(withTimeline(all, () => captured(asap(3))).end).toBe('open');
    all.run();
  });

  test('real asap work that is unsubscribed within does not run, and the rest does', async () => {
    const seen = captured(asap(1));
    const left = asap(2).subscribe(() => expect.unreachable());
    withTimeline(makeHand(), () => left.unsubscribe());
    await Promise.resolve();
    expect(seen).toEqual({ values: [1], end: 'complete' });
    const alone = asap(3).subscribe(() => expect.unreachable());
    withTimeline(makeHand(), () => alone.unsubscribe());
    expect(await rx.firstValueFrom(asap(4))).toBe(4);
  });

  test('work left undone in one time is not in the way of another', async () => {
    withTimeline(makeHand(), () => asap(1).subscribe(() => expect.unreachable()));
    expect(await rx.firstValueFrom(rx.zip(asap(2), rx.timer(0)))).toEqual([2, 0]);
  });

  test.each([rx.asyncScheduler, rx.queueScheduler, rx.asapScheduler])('in the middle of a flush: %#', (scheduler) => {
    const [outer, inner] = [makeHand(), makeHand()];
    const seen: unknown[] = [];
    withTimeline(outer, () => {
      scheduler.schedule(() => {
        scheduler.schedule(() => seen.push('rest'));
        withTimeline(inner, () => {
          scheduler.schedule(() => seen.push('inner'));
          inner.run();
        });
      });
      scheduler.schedule(() => seen.push('second'));
    });
    for (let round = 0; round < 3; round++) outer.run();
    expect([...seen].sort()).toEqual(['inner', 'rest', 'second']);
    expect(seen[0]).toBe('inner');
  });
});
