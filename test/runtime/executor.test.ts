import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMillraceError, MillraceError } from '../../runtime/errors.js';
import { Executor } from '../../runtime/executor.js';
import { type Fault, fromFault, toFault } from '../../runtime/fault.js';
import { arrivals, valuesOf } from './fixtures/channels.js';
import { benchOf, errorOf, later, place } from './fixtures/executorBench.js';

describe('executor', () => {
  test('law: every value goes through once and in order, whatever room there is, and then the end', () => {
    const schedule = fc.array(fc.nat(3), { maxLength: 40 });
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 30 }), fc.nat(3), schedule, (values, times, rooms) => {
        const { executor, program, input, writer, counts } = benchOf(values, { room: 0 });
        program.times = times;
        for (const room of [...rooms, later]) {
          expect(writer.ended).toBe(false);
          const { taken } = input;
          const full = !executor.room || program.suspended;
          writer.room = room;
          executor.step(later);
          // Without room no further input is taken.
          if (full && room === 0) expect(input.taken).toBe(taken);
          if (writer.ended) break;
        }
        executor.step(later);
        expect(valuesOf(writer.frames)).toEqual(values.flatMap((value) => new Array(times).fill(value)));
        expect(program.heard).toEqual(['start', ...values, 'complete']);
        expect(writer.ended).toBe(true);
        expect(counts()).toMatchObject({ in: values.length, out: values.length * times, discarded: 0, parkedBytes: 0 });
      }),
    );
  });

  test('takes no input while a step holds or has not subscribed, and does not complete then', () => {
    for (const not of ['open', 'subscribed'] as const) {
      const { executor, program, input } = benchOf(not === 'open' ? [1] : []);
      program[not] = false;
      expect(executor.step(later)).toBe(false);
      expect(input.taken).toBe(0);
      expect(program.heard).toEqual(['start']);
      program[not] = true;
      expect(executor.step(later)).toBe(true);
      expect(program.heard.at(-1)).toBe('complete');
    }
  });

  test('a step says whether anything was done', () => {
    const { executor, input, writer } = benchOf([1, 2, 3], { room: 1 });
    input.closed = false;
    expect(executor.step(later)).toBe(true);
    expect(executor.step(later)).toBe(false);
    writer.room = 1;
    expect(executor.step(later)).toBe(true);
    writer.room = 5;
    expect(executor.step(later)).toBe(true);
    expect(executor.step(later)).toBe(false);
  });

  test('a slice ends by the clock; after a slow value it is looked at again at once', () => {
    const values = Array.from({ length: 1000 }, (_, i) => i);
    const { executor, program, input, clock } = benchOf(values);
    const next = program.next.bind(program);
    let costMs = 0.001;
    program.next = (value) => {
      clock.nowMs += costMs;
      next(value);
    };
    executor.step(0.3);
    expect(input.taken).toBeGreaterThanOrEqual(300);
    expect(input.taken).toBeLessThan(300 + 64);
    costMs = 5;
    const { taken } = input;
    executor.step(clock.nowMs + 1);
    // That the stride is too long is known only after one has passed.
    expect(input.taken - taken).toBeLessThanOrEqual(64);
    const slow = input.taken;
    executor.step(clock.nowMs + 1);
    expect(input.taken - slow).toBe(1);
  });

  test('a step that streams without end lets go at the end of the slice and goes on in the next', () => {
    const { executor, program, clock, writer } = benchOf(['x']);
    program.times = 10_000;
    const { room } = Object.getOwnPropertyDescriptors(Executor.prototype);
    Object.defineProperty(program, 'host', {
      value: {
        emit: executor.emit,
        end: (outlet: number) => executor.end(outlet),
        get room() {
          clock.nowMs += 0.01;
          return room!.get!.call(executor);
        },
      },
    });
    const sizes: number[] = [];
    for (let i = 0; i < 5; i++) {
      expect(executor.step(clock.nowMs + 1)).toBe(true);
      sizes.push(writer.frames.splice(0).length);
    }
    for (const size of sizes) {
      expect(size).toBeGreaterThan(50);
      expect(size).toBeLessThan(300);
    }
    expect(program.suspended).toBe(true);
  });

  test('law: what was emitted before an error is sent, then the error, then nothing; the first error wins', () => {
    fc.assert(
      fc.property(fc.nat(10), fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(2)), (before, size, rooms) => {
        const values = Array.from({ length: before + 3 }, (_, i) => i);
        const { executor, program, input, writer } = benchOf(values, { size, room: 0 });
        const next = program.next.bind(program);
        program.next = (value) => {
          if (value === before) {
            executor.fail(new RangeError('first'), 'step', { operator: 'map(…)' });
            executor.fail(new RangeError('second'), 'step', {});
          } else next(value);
        };
        for (const room of [...rooms, later, later]) {
          writer.room = room;
          executor.step(later);
        }
        expect(valuesOf(writer.frames)).toEqual(values.slice(0, before));
        expect(errorOf(writer)).toMatchObject({
          code: 'ERR_OPERATOR',
          ...place,
          operator: 'map(…)',
          cause: { message: 'first' },
        });
        expect(arrivals(writer.frames).filter(({ kind }) => kind === 'error')).toHaveLength(1);
        expect(writer.ended).toBe(true);
        expect(program.heard.filter((heard) => heard === 'stop')).toHaveLength(1);
        expect(input.calls).toEqual(['finish']);
      }),
    );
  });

  test('an error of ours keeps its code and learns its place; one that has a place becomes a cause', () => {
    const ours = benchOf([]);
    ours.executor.fail(new MillraceError('ERR_KEY', 'no key'), 'step', { operator: 'keyBy()' });
    expect(errorOf(ours.writer)).toMatchObject({ code: 'ERR_KEY', ...place, operator: 'keyBy()' });
    const nested = benchOf([]);
    nested.executor.fail(new MillraceError('ERR_KEY', 'no key', { topology: 'inner' }), 'step', {});
    expect(errorOf(nested.writer)).toMatchObject({
      code: 'ERR_OPERATOR',
      cause: { code: 'ERR_KEY', topology: 'inner' },
    });
    for (const reason of [undefined, null, 7, 'text', { a: 1 }]) {
      const odd = benchOf([]);
      odd.executor.fail(reason, 'source', {});
      expect(errorOf(odd.writer)).toMatchObject({ code: 'ERR_SOURCE', cause: reason });
    }
  });

  test('what a source throws goes to the steps; a broken frame or a program that throws ends it', () => {
    const source = benchOf([1, new RangeError('source')]);
    source.executor.step(later);
    expect(source.program.heard[2]).toMatchObject(['error', { message: 'source' }]);
    expect(valuesOf(source.writer.frames)).toEqual([1]);
    expect(errorOf(source.writer)).toMatchObject({ code: 'ERR_SOURCE', cause: { message: 'source' } });
    const frame = benchOf([new MillraceError('ERR_FRAME', 'damaged')]);
    frame.executor.step(later);
    expect(frame.program.heard).toEqual(['start', 'stop']);
    expect(errorOf(frame.writer)).toMatchObject({ code: 'ERR_FRAME', segment: 's' });
  });

  test('a fault from above is passed on as it is', () => {
    const { executor, program, writer } = benchOf([]);
    const fault = toFault(new MillraceError('ERR_SOURCE', 'far away', { topology: 't', segment: 'other' }));
    executor.receive(fault);
    expect(arrivals(writer.frames)).toMatchObject([{ fault }]);
    expect(program.heard).toEqual(['start', 'stop']);
  });

  test("behind the input, the steps see the input's own error, and no other fault", () => {
    const own = benchOf([], { sourceErrors: true });
    own.executor.receive(toFault(new MillraceError('ERR_SOURCE', 'x', { topology: 't', cause: new TypeError('own') })));
    expect(own.program.heard[1]).toMatchObject(['error', { name: 'TypeError', message: 'own' }]);
    const other = benchOf([], { sourceErrors: true });
    other.executor.receive(toFault(new MillraceError('ERR_VALUE', 'x', { topology: 't' })));
    expect(other.program.heard).toEqual(['start', 'stop']);
    expect(errorOf(other.writer)).toMatchObject({ code: 'ERR_VALUE' });
  });

  test('where no step wants more, the input is finished and what still comes is discarded and counted', () => {
    const { executor, program, input, counts } = benchOf([1, 2, 3, 4]);
    const next = program.next.bind(program);
    program.next = (value) => {
      next(value);
      program.finished = value === 2;
    };
    input.closed = false;
    executor.step(later);
    expect(input.calls).toEqual(['finish']);
    input.values.push(5, 6);
    executor.step(later);
    expect(counts()).toMatchObject({ in: 2, discarded: 4 });
    expect(program.heard).toEqual(['start', 1, 2]);
  });

  test('is not asked whether it is finished while an end is suspended, nor afterwards', () => {
    const { executor, program, input } = benchOf([1]);
    let suspended = false;
    program.complete = () => {
      program.heard.push('complete');
      suspended = true;
    };
    program.resume = () => {
      program.heard.push('resume');
      suspended = false;
    };
    Object.defineProperties(program, {
      suspended: { get: () => suspended },
      finished: {
        get: () => {
          if (program.heard.includes('complete')) throw new Error('asked');
          return false;
        },
      },
    });
    for (let i = 0; i < 4; i++) executor.step(later);
    expect(program.heard).toEqual(['start', 1, 'complete', 'resume']);
    expect(input.calls).toEqual([]);
  });

  test('where no consumer wants more, the outlet is closed in the program', () => {
    const { executor, program, input, writer } = benchOf([1]);
    writer.finished = true;
    executor.step(later);
    expect(program.heard).toEqual(['start', ['closed', 0]]);
    expect(input.calls).toEqual(['finish']);
    expect(writer.ended).toBe(true);
  });

  test('drain is for the source; flush sends what waits', () => {
    const { executor, input, writer } = benchOf([1], { size: 9 });
    input.closed = false;
    executor.step(later);
    executor.drain();
    expect(input.calls).toEqual(['drain']);
    executor.flush();
    expect(valuesOf(writer.frames)).toEqual([1]);
  });

  test('a push enters at once, room or not', () => {
    const { executor, program, writer, clock } = benchOf([], { room: 0, size: 1 });
    for (const value of [1, 2, 3]) {
      program.times = 0;
      executor.push(value);
      executor.emit[0]!(value);
    }
    expect(program.heard).toEqual(['start', 1, 2, 3]);
    expect(executor.room).toBe(false);
    expect(clock.wakes).toBe(1);
    writer.room = later;
    executor.step(later);
    expect(valuesOf(writer.frames)).toEqual([1, 2, 3]);
  });

  test('law: after stop nothing is taken, sent or told any more, whatever is called', () => {
    const calls = fc.array(fc.constantFrom('step', 'flush', 'flushIdle', 'drain', 'push', 'fail', 'stop', 'passOn'));
    fc.assert(
      fc.property(fc.nat(3), calls, (steps, made) => {
        const { executor, program, input, writer } = benchOf([1, 2, 3, 4], { size: 9, room: 1 });
        for (let i = 0; i < steps; i++) executor.step(later);
        executor.stop();
        const before = [input.taken, writer.frames.length, program.heard.length, input.calls.length];
        input.values.push(7);
        for (const call of made) {
          if (call === 'step') expect(executor.step(later)).toBe(false);
          else if (call === 'push') executor.push(8);
          else if (call === 'fail') executor.fail(new Error('late'), 'step', {});
          else if (call === 'passOn') executor.passOn('late');
          else executor[call]();
        }
        expect([input.taken, writer.frames.length, program.heard.length, input.calls.length]).toEqual(before);
        expect(input.values).toEqual([7]);
      }),
    );
  });

  test('a clean-up that throws keeps nothing from being let go of', () => {
    const stopped = benchOf([1]);
    stopped.program.stop = () => {
      throw new Error('clean-up');
    };
    stopped.executor.stop();
    expect(stopped.input.calls).toEqual(['finish']);
    const failed = benchOf([1]);
    failed.program.stop = stopped.program.stop;
    failed.executor.fail(new Error('first'), 'step', {});
    expect(errorOf(failed.writer)).toMatchObject({ code: 'ERR_OPERATOR', cause: { message: 'first' } });
    expect(failed.input.calls).toEqual(['finish']);
    const closed = benchOf([1]);
    closed.program.closeOutlet = stopped.program.stop;
    closed.writer.finished = true;
    expect(closed.executor.step(later)).toBe(true);
    expect(closed.input.calls).toEqual(['finish']);
  });

  test('stopped by the value it handed over, it does nothing more in that step', () => {
    const { executor, program, input, writer } = benchOf([1, 2, 3], { size: 9 });
    program.next = () => {
      executor.stop();
      // What another run has put into the channel since.
      input.values.push('theirs');
    };
    executor.step(later);
    expect(input.values).toEqual(['theirs']);
    expect(writer.frames).toEqual([]);
  });

  test('whoever sees the end sees the counts', () => {
    const { executor, writer, counts } = benchOf([1, 2, 3]);
    let seen: unknown;
    const end = writer.end.bind(writer);
    writer.end = () => {
      seen = counts();
      end();
    };
    executor.step(later);
    expect(seen).toMatchObject({ in: 3, out: 3 });
  });

  test('an executor that takes faults keeps them', () => {
    const faults: Fault[] = [];
    const { executor, writer } = benchOf([], { onFault: (fault) => faults.push(fault) });
    executor.fail(new RangeError('here'), 'step', {});
    expect(faults.map(fromFault).every(isMillraceError)).toBe(true);
    expect(faults).toHaveLength(1);
    expect(writer.frames).toEqual([]);
  });
});
