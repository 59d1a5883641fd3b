import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Queue } from '../../runtime/queue.js';
import { isHeld } from './fixtures/collecting.js';

test('law: a queue gives what a list gives', () => {
  const steps = fc.array(fc.oneof(fc.integer(), fc.constant('shift' as const)), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (script) => {
      const queue = new Queue<number>();
      const list: number[] = [];
      for (const step of script) {
        if (step === 'shift') expect(queue.shift()).toBe(list.shift());
        else {
          queue.push(step);
          list.push(step);
        }
        expect([queue.length, queue.first]).toEqual([list.length, list[0]]);
      }
    }),
  );
});

test('what has left is held no longer, however many stand behind it', async () => {
  const queue = new Queue<object>();
  const gone = (() => {
    const value = {};
    queue.push(value);
    for (let i = 0; i < 100; i++) queue.push({ i });
    queue.shift();
    return new WeakRef(value);
  })();
  expect(await isHeld(gone)).toBe(false);
  expect(queue.length).toBe(100);
});
