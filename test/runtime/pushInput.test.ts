import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { none } from '../../runtime/input.js';
import { checkOverflow, type Overflow } from '../../runtime/overflow.js';
import { PushInput, type Sender } from '../../runtime/pushInput.js';

const strategies: readonly Overflow[] = ['auto', 'block', 'dropOldest', 'dropNewest', 'latest', 'error', 'buffer'];

/** A number makes room for so many; `step`: the executor takes what it has room for. */
type Step = 'push' | 'step' | 'subscribing' | 'subscribed' | 'complete' | 'fail' | 'drain' | 'finish' | number;

/** The steps still to be made: whoever is held goes on with them. When they run out there is room for all. */
class Script {
  readonly #steps: readonly Step[];
  #at = 0;

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
  }

  get over(): boolean {
    return this.#at >= this.#steps.length;
  }

  next(): Step {
    const step = this.#steps[this.#at++];
    return step ?? (this.#at % 2 === 0 ? 1_000 : 'step');
  }
}

/** The input as it is, with an executor that has room for some values. */
function real(strategy: Overflow, capacity: number, steps: readonly Step[]): unknown[] {
  const log: unknown[] = [];
  const script = new Script(steps);
  let room = 0;
  let emitted = 0;
  let left = false;
  const onDrop = (value: unknown): unknown => log.push(`dropped ${value}`);
  const input = new PushInput({
    rule: checkOverflow({ strategy, capacity, onDrop }),
    onFinish: () => {
      if (!left) log.push('left');
      left = true;
    },
    hold: (until) => {
      log.push('held');
      while (!until()) act(script.next());
      log.push('goes on');
    },
  });
  const send = (value: unknown): void => {
    log.push(value);
    room--;
  };
  const sender: Sender = {
    get open() {
      return room > 0;
    },
    push: send,
    sourceFailed: (reason) => log.push((reason as { code?: unknown }).code ?? reason),
  };
  input.of(() => {}, sender);
  function act(step: Step): void {
    if (typeof step === 'number') room += step;
    else if (step === 'push') {
      if (!left && !input.ended) input.push(++emitted);
    } else if (step === 'step') {
      while (room > 0) {
        const value = input.take();
        if (value === none) break;
        send(value);
      }
    } else if (step === 'subscribing' || step === 'subscribed') input.subscribing = step === 'subscribing';
    else if (step === 'complete') {
      if (!left) {
        left = true;
        input.complete();
      }
    } else if (step === 'fail') {
      if (!left) {
        left = true;
        input.failed('failed');
      }
    } else if (step === 'drain') input.drain();
    else input.finish();
  }
  while (!script.over) act(script.next());
  act(1_000);
  act('step');
  return [...log, input.ended ? 'ended' : 'open', input.dropped];
}

/** The same as the doc comments say it: one list of all that waits, in the order of emission. */
function model(strategy: Overflow, capacity: number, steps: readonly Step[]): unknown[] {
  const log: unknown[] = [];
  const script = new Script(steps);
  const bound = strategy === 'latest' ? 1 : strategy === 'buffer' ? Number.POSITIVE_INFINITY : capacity;
  let waiting: number[] = [];
  let room = 0;
  let emitted = 0;
  let dropped = 0;
  let subscribing = false;
  let holding = false;
  let left = false;
  let end: 'complete' | 'failed' | 'ERR_OVERFLOW' | undefined;
  let over = false;
  const leave = (): void => {
    if (!left) log.push('left');
    left = true;
  };
  const drop = (value: number | undefined): void => {
    dropped++;
    log.push(`dropped ${value}`);
  };
  function push(value: number): void {
    if (waiting.length === 0 && room > 0 && !holding) {
      log.push(value);
      room--;
    } else if ((strategy === 'block' || (strategy === 'auto' && subscribing)) && !holding) {
      log.push('held');
      holding = true;
      waiting.push(value);
      while (end === undefined && !over && waiting.includes(value)) act(script.next());
      holding = false;
      log.push('goes on');
    } else if (waiting.length < bound) waiting.push(value);
    else if (strategy === 'dropNewest') drop(value);
    else if (strategy === 'dropOldest' || strategy === 'latest') {
      waiting.push(value);
      drop(waiting.shift());
    } else {
      ends('ERR_OVERFLOW');
      leave();
    }
  }
  function ends(how: NonNullable<typeof end>): void {
    end = how;
    if (waiting.length === 0) tell();
  }
  function tell(): void {
    if (end === undefined || over) return;
    over = true;
    if (end !== 'complete') log.push(end);
    if (end !== 'complete') leave();
  }
  function act(step: Step): void {
    if (typeof step === 'number') room += step;
    else if (step === 'subscribing' || step === 'subscribed') subscribing = step === 'subscribing';
    else if (step === 'push') {
      if (!left && !over) push(++emitted);
    } else if (step === 'step') {
      while (room > 0 && waiting.length > 0 && !over) {
        log.push(waiting.shift());
        room--;
      }
      if (room > 0 && waiting.length === 0) tell();
    } else if (step === 'complete' || step === 'fail') {
      if (left) return;
      left = true;
      ends(step === 'complete' ? 'complete' : 'failed');
    } else if (step === 'drain') {
      if (over || end !== undefined) return;
      leave();
      ends('complete');
    } else if (!over) {
      waiting = [];
      if (end !== 'complete') leave();
      over = true;
    }
  }
  while (!script.over) act(script.next());
  act(1_000);
  act('step');
  return [...log, over ? 'ended' : 'open', dropped];
}

const step = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Step>('push') },
  { weight: 4, arbitrary: fc.constant<Step>('step') },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>('subscribing', 'subscribed') },
  { weight: 1, arbitrary: fc.constantFrom<Step>('complete', 'fail', 'drain', 'finish') },
);

describe('input that is pushed', () => {
  test.each(strategies)(
    'law: sent, held, dropped, left and ended as the rule says, in the order of emission (%s)',
    (strategy) => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 40 }), (capacity, steps) => {
          expect(real(strategy, capacity, steps)).toEqual(model(strategy, capacity, steps));
        }),
        { numRuns: 500 },
      );
    },
  );

  test('a value that is held goes before one that is emitted meanwhile, and is not lost when the source ends meanwhile', () => {
    expect(real('block', 4, ['push', 'push', 1, 'step', 1, 'step'])).toEqual(['held', 1, 'goes on', 2, 'open', 0]);
    for (const end of ['complete', 'drain'] as const) {
      const seen = real('block', 4, ['push', 'push', end]);
      expect(seen.filter((each) => typeof each === 'number')).toEqual([1, 2, 0]);
    }
    expect(real('block', 4, ['push', 'fail'])).toEqual(['held', 'goes on', 1, 'failed', 'ended', 0]);
  });

  test('C-088: 6 values for a room of 4, while none is taken: which are kept', () => {
    const six: readonly Step[] = ['push', 'push', 'push', 'push', 'push', 'push'];
    const kept = (strategy: Overflow): unknown[] =>
      real(strategy, 4, six)
        .filter((each) => typeof each === 'number')
        .slice(0, -1);
    expect(kept('dropOldest')).toEqual([3, 4, 5, 6]);
    expect(kept('dropNewest')).toEqual([1, 2, 3, 4]);
    expect(kept('latest')).toEqual([6]);
    expect(kept('buffer')).toEqual([1, 2, 3, 4, 5, 6]);
    expect(kept('error')).toEqual([1, 2, 3, 4]);
    expect(real('error', 4, six)).toEqual(['left', 1, 2, 3, 4, 'ERR_OVERFLOW', 'ended', 0]);
  });

  test('a source that is refused is left at once, before what waits has found room', () => {
    expect(real('error', 1, ['push', 'push', 'push', 1, 'step'])).toEqual(['left', 1, 'ERR_OVERFLOW', 'ended', 0]);
  });
});
