import { expect, test } from 'vitest';
import type { Clock } from '../../runtime/clock.js';
import { FaultWatch } from '../../runtime/faultWatch.js';

function benchOf(threads: number) {
  let timer: { ms: number; task: () => void } | undefined;
  const clock: Clock = {
    nowMs: () => 0,
    epochMs: () => 0,
    soon: () => {},
    afterMessages: () => {},
    later(ms, task) {
      const made = { ms, task };
      timer = made;
      return () => {
        if (timer === made) timer = undefined;
      };
    },
  };
  const seen = { moved: 0, started: true, asked: 0, given: 0 };
  const watch = new FaultWatch(
    {
      stopMs: 10,
      moved: () => seen.moved,
      started: () => seen.started,
      unasked: () => false,
      ask: () => {
        seen.asked++;
        return threads;
      },
      giveUp: () => {
        seen.given++;
      },
    },
    clock,
  );
  const fire = (): void => {
    const due = timer;
    timer = undefined;
    due?.task();
  };
  return { watch, seen, fire, waits: () => timer?.ms };
}

test('silence alone does not end a run: the threads are asked, and all have to answer', () => {
  const { watch, seen, fire, waits } = benchOf(2);
  fire();
  expect(seen).toMatchObject({ asked: 1, given: 0 });
  watch.answered();
  expect(seen.given).toBe(0);
  watch.answered();
  expect(seen.given).toBe(1);
  expect(waits()).toBeUndefined();
});

test('a thread that found something to do when it was asked starts the wait anew', () => {
  const { watch, seen, fire, waits } = benchOf(1);
  fire();
  seen.moved++;
  watch.answered();
  expect([seen.given, waits()]).toEqual([0, 10]);
  fire();
  watch.answered();
  expect([seen.asked, seen.given]).toEqual([2, 1]);
});

test('a thread that does not answer is not waited for longer than it took to ask', () => {
  const { watch, seen, fire } = benchOf(2);
  fire();
  watch.answered();
  fire();
  expect(seen.given).toBe(1);
  watch.answered();
  expect(seen.given).toBe(1);
});

test('while something moves, or a thread is still starting, nobody is asked', () => {
  const { seen, fire } = benchOf(1);
  seen.moved++;
  fire();
  seen.started = false;
  fire();
  expect([seen.asked, seen.given]).toEqual([0, 0]);
});

test('without threads silence is enough; after stop nothing happens', () => {
  const alone = benchOf(0);
  alone.fire();
  expect(alone.seen.given).toBe(1);
  const { watch, seen, fire } = benchOf(1);
  fire();
  watch.stop();
  watch.answered();
  fire();
  expect(seen.given).toBe(0);
});
