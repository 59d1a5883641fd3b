import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBell, createSleepCell, Sleeper } from '../../runtime/channel.js';
import type { Clock } from '../../runtime/clock.js';
import { Patience } from '../../runtime/patience.js';
import { Pump, type Stepped } from '../../runtime/pump.js';

/** Time stands still; what is to run soon or later runs when the test says so. */
class FakeClock implements Clock {
  now = 0;
  readonly log: string[];
  readonly tasks: (() => void)[] = [];
  timer: { atMs: number; task: () => void } | undefined;
  timersSet = 0;

  constructor(log: string[]) {
    this.log = log;
  }

  nowMs(): number {
    return this.now;
  }

  epochMs(): number {
    return this.now;
  }

  afterMessages(): void {
    throw new Error('not of a pump');
  }

  soon(task: () => void): void {
    this.log.push('soon');
    this.tasks.push(task);
  }

  later(ms: number, task: () => void): () => void {
    expect(this.timer).toBeUndefined();
    this.timersSet++;
    const timer = { atMs: this.now + ms, task };
    this.timer = timer;
    return () => {
      if (this.timer === timer) this.timer = undefined;
    };
  }

  /** Runs what was asked for soon, and what that asks for, until there is nothing. */
  settle(): void {
    for (let task = this.tasks.shift(); task !== undefined; task = this.tasks.shift()) task();
  }

  fire(): void {
    const { atMs, task } = this.timer!;
    this.now = Math.max(this.now, atMs);
    this.timer = undefined;
    task();
  }
}

class Worker implements Stepped {
  rest(): void {}

  readonly log: string[];
  readonly name: string;
  /** Steps that will find something to do. */
  work = 0;
  /** What a step costs. */
  costMs = 0;
  readonly clock: FakeClock;
  deadlineMs = Number.POSITIVE_INFINITY;
  onStep: () => void = () => {};

  constructor(name: string, log: string[], clock: FakeClock) {
    this.name = name;
    this.log = log;
    this.clock = clock;
  }

  step(untilMs: number): boolean {
    this.log.push(untilMs === 0 ? `${this.name} last look` : this.name);
    this.clock.now += this.costMs;
    this.onStep();
    if (this.work === 0) return false;
    this.work--;
    return true;
  }

  flushIdle(): boolean {
    this.log.push(`${this.name} idle`);
    return false;
  }
}

function benchOf(names: readonly string[] = ['a'], looks = false) {
  const log: string[] = [];
  const onLog = (heard: () => void): void => {
    log.push = (line) => {
      heard();
      return Array.prototype.push.call(log, line);
    };
  };
  const clock = new FakeClock(log);
  const cell = createSleepCell();
  class Loud extends Sleeper {
    override fallAsleep(): void {
      log.push('asleep');
      super.fallAsleep();
    }
    override wakeUp(): void {
      log.push('awake');
      super.wakeUp();
    }
  }
  const held = { is: false };
  const pump = new Pump(
    clock,
    new Loud(cell),
    new Patience(() => clock.nowMs()),
    () => looks,
    () => held.is,
  );
  const workers = names.map((name) => new Worker(name, log, clock));
  const bell = createBell(cell, () => pump.wake());
  return { log, onLog, clock, pump, workers, bell, held };
}

describe('pump', () => {
  test('falls asleep only after a last look, taken when others already know that it sleeps', () => {
    const { log, clock, pump, workers, bell } = benchOf();
    pump.add(workers[0]!);
    log.length = 0;
    clock.settle();
    expect(log).toEqual(['awake', 'a', 'a idle', 'a', 'asleep', 'a last look']);
    expect(bell.asleep).toBe(true);
  });

  test('while it is held nothing is done, and nobody needs to ring: what holds it wakes it', () => {
    const { log, clock, pump, workers, bell, held } = benchOf();
    held.is = true;
    pump.add(workers[0]!);
    workers[0]!.work++;
    log.length = 0;
    clock.settle();
    bell.ring();
    expect(log).toEqual(['awake']);
    expect(bell.asleep).toBe(false);
    held.is = false;
    pump.wake();
    clock.settle();
    expect(workers[0]!.work).toBe(0);
    expect(bell.asleep).toBe(true);
  });

  test('law: whenever something is published, asleep or not, it is found without a further bell', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(60), { maxLength: 12 }), fc.boolean(), (moments, looks) => {
        const { clock, pump, workers, bell, onLog } = benchOf(['a', 'b'], looks);
        let moment = 0;
        onLog(() => {
          if (!moments.includes(moment++)) return;
          workers[moment % 2]!.work++;
          bell.ring();
        });
        for (const worker of workers) pump.add(worker);
        clock.settle();
        expect(workers.map(({ work }) => work)).toEqual([0, 0]);
        expect(bell.asleep).toBe(true);
      }),
    );
  });

  test('a last look that finds something wakes up and runs on', () => {
    const { log, clock, pump, workers, bell } = benchOf();
    const [worker] = workers as [Worker];
    pump.add(worker);
    let late = true;
    worker.onStep = () => {
      if (log.at(-1) !== 'a last look' || !late) return;
      late = false;
      worker.work = 1;
    };
    log.length = 0;
    clock.settle();
    expect(log).toEqual([
      ...['awake', 'a', 'a idle', 'a', 'asleep', 'a last look', 'awake', 'soon'],
      ...['awake', 'a', 'a idle', 'a', 'asleep', 'a last look'],
    ]);
    expect(bell.asleep).toBe(true);
  });

  test('a bell wakes a sleeping thread once; a running one is left alone', () => {
    const { log, clock, pump, workers, bell } = benchOf();
    pump.add(workers[0]!);
    workers[0]!.onStep = () => bell.ring();
    clock.tasks.shift()!();
    const rung = log.filter((line) => line === 'soon').length;
    // By add, and by the ring during the last look.
    expect(rung).toBe(2);
    workers[0]!.onStep = () => {};
    clock.settle();
    log.length = 0;
    bell.ring();
    bell.ring();
    expect(log).toEqual(['soon']);
    clock.settle();
    expect(log.slice(0, 3)).toEqual(['soon', 'awake', 'a']);
  });

  test('yields after its slice, with the work that is left to be done soon', () => {
    const { log, clock, pump, workers, bell } = benchOf(['a', 'b']);
    for (const worker of workers) {
      pump.add(worker);
      worker.work = 10;
      worker.costMs = 0.3;
    }
    clock.tasks.shift()!();
    expect(workers.map(({ work }) => work)).toEqual([8, 8]);
    expect(log.at(-1)).toBe('soon');
    expect(bell.asleep).toBe(false);
    clock.settle();
    expect(workers.map(({ work }) => work)).toEqual([0, 0]);
    expect(bell.asleep).toBe(true);
  });

  test('law: executors are stepped in turn, none twice before the others', () => {
    const { log, clock, pump, workers } = benchOf(['a', 'b', 'c']);
    for (const worker of workers) {
      pump.add(worker);
      worker.work = 3;
    }
    clock.settle();
    const steps = log.filter((line) => line.length === 1).join('');
    expect(steps).toMatch(/^(abc)+$/);
  });

  test('what waits for company leaves when there is nothing more to do, once per pause', () => {
    const { log, clock, pump, workers } = benchOf(['a', 'b'], true);
    for (const worker of workers) pump.add(worker);
    clock.settle();
    expect(log.filter((line) => line.endsWith('idle'))).toEqual(['a idle', 'b idle']);
    // With a core to spare it looks several times more, a few microseconds each.
    expect(log.filter((line) => line === 'a').length).toBeGreaterThan(10);
    log.length = 0;
    workers[1]!.work = 1;
    pump.wake();
    clock.settle();
    expect(log.filter((line) => line === 'b idle')).toHaveLength(1);
  });

  test('one timer stands for the earliest deadline of all executors, however many wait (C-210)', () => {
    const { clock, pump, workers } = benchOf(['a', 'b']);
    const [a, b] = workers as [Worker, Worker];
    for (const worker of workers) pump.add(worker);
    a.deadlineMs = 7.2;
    b.deadlineMs = 9;
    clock.settle();
    expect(clock.timer?.atMs).toBe(8);
    // The same deadline again sets no new timer.
    pump.wake();
    clock.settle();
    expect(clock.timersSet).toBe(1);
    a.deadlineMs = Number.POSITIVE_INFINITY;
    clock.fire();
    expect(clock.timer?.atMs).toBe(9);
    b.deadlineMs = Number.POSITIVE_INFINITY;
    pump.wake();
    clock.settle();
    expect(clock.timer).toBeUndefined();
    expect(clock.timersSet).toBe(2);
  });

  test('a timer that fires early is set again', () => {
    const { clock, pump, workers } = benchOf();
    pump.add(workers[0]!);
    workers[0]!.deadlineMs = 5;
    clock.settle();
    clock.timer!.atMs = 4;
    clock.fire();
    expect(clock.timer?.atMs).toBe(5);
  });

  test('without executors no timer is left', () => {
    const { clock, pump, workers } = benchOf();
    pump.add(workers[0]!);
    workers[0]!.deadlineMs = 5;
    clock.settle();
    pump.remove(workers[0]!);
    expect(clock.timer).toBeUndefined();
  });

  test('a nudge steps that executor at once, unless the turn has lasted its slice or the pump is running', () => {
    const { log, clock, pump, workers } = benchOf(['a', 'b']);
    for (const worker of workers) pump.add(worker);
    clock.settle();
    log.length = 0;
    pump.nudge(workers[1]!);
    expect(log).toEqual(['b', 'soon']);
    clock.settle();
    clock.now += 1;
    log.length = 0;
    pump.nudge(workers[1]!);
    expect(log).toEqual(['soon']);
    workers[0]!.onStep = () => {
      workers[0]!.onStep = () => {};
      log.push('<');
      pump.nudge(workers[1]!);
      log.push('>');
    };
    clock.settle();
    expect(log.join(' ')).toContain('< soon >');
  });

  test('an executor removed by another one is not asked for its deadline', () => {
    const { clock, pump, workers } = benchOf(['a', 'b']);
    const [a, b] = workers as [Worker, Worker];
    for (const worker of workers) pump.add(worker);
    b.deadlineMs = 3;
    a.onStep = () => pump.remove(b);
    clock.settle();
    expect(clock.timer).toBeUndefined();
  });
});
