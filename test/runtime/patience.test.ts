import { expect, test } from 'vitest';
import type { Bell } from '../../runtime/channel.js';
import { Patience } from '../../runtime/patience.js';

class CountingBell implements Bell {
  asleep = true;
  rung = 0;
  ring(): void {
    this.rung++;
  }
}

function benchOf(): { patience: Patience; bell: Bell; inner: CountingBell; clock: { nowMs: number } } {
  const clock = { nowMs: 0 };
  const patience = new Patience(() => clock.nowMs);
  const inner = new CountingBell();
  return { patience, bell: patience.of(inner), inner, clock };
}

test('the first ring of a turn is heard at once, those right after it together, at the end of the turn', () => {
  const { patience, bell, inner, clock } = benchOf();
  patience.hold();
  bell.ring();
  expect(inner.rung).toBe(1);
  for (let i = 0; i < 5; i++) bell.ring();
  expect(inner.rung).toBe(1);
  patience.release();
  expect(inner.rung).toBe(2);
  patience.release();
  expect(inner.rung).toBe(2);
  clock.nowMs = 1;
  patience.hold();
  bell.ring();
  expect(inner.rung).toBe(3);
});

test('in a long turn a sleeper is poked again after a rest', () => {
  const { patience, bell, inner, clock } = benchOf();
  patience.hold();
  for (let i = 0; i < 100; i++, clock.nowMs += 0.1) bell.ring();
  expect(inner.rung).toBeGreaterThan(10);
  expect(inner.rung).toBeLessThan(50);
});

test('without a turn, and of a thread that runs, nothing is put off', () => {
  const { patience, bell, inner } = benchOf();
  for (let i = 0; i < 3; i++) bell.ring();
  expect(inner.rung).toBe(3);
  inner.asleep = false;
  patience.hold();
  bell.ring();
  patience.release();
  expect(inner.rung).toBe(3);
  expect(bell.asleep).toBe(false);
});

test('what was put off for one thread does not hold back another', () => {
  const { patience, bell, inner } = benchOf();
  const other = new CountingBell();
  const otherBell = patience.of(other);
  patience.hold();
  bell.ring();
  bell.ring();
  otherBell.ring();
  expect([inner.rung, other.rung]).toEqual([1, 1]);
  patience.release();
  expect([inner.rung, other.rung]).toEqual([2, 1]);
});
