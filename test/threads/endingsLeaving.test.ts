import { getEventListeners } from 'node:events';
import { createRuntime, pull, type Run } from 'millrace';
import { concat, from, NEVER, type Observable, of, range, Subject, take, takeUntil } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { executorOf, hashKey } from '../../runtime/hash.js';
import * as leave from './fixtures/endingsLeaving.js';
import type { How } from './fixtures/endingsSeen.js';
import { errorOf, first, until, valuesOf } from './fixtures/observe.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());

const ways: readonly (readonly [string, How])[] = [
  ['on threads', { runtime }],
  ['on the calling thread', { threads: 0 }],
];

/** Something else runs from beginning to end: what was still to come has come by then. */
async function meanwhile(how: How): Promise<void> {
  expect(await valuesOf(range(1, 500).pipe(leave.same(how)))).toHaveLength(500);
}

const endlessly = <T>(...values: T[]): Observable<T> => concat(from(values), NEVER);

function notes(): { memory: SharedArrayBuffer; read: () => Readonly<Record<string, number>> } {
  const memory = leave.Notes.memory();
  return { memory, read: () => new leave.Notes(memory).read };
}

/** What a source must have gone through when it was left. */
const left: Readonly<Record<leave.Kind, object>> = {
  iterator: { made: 1, aborted: 1, returned: 1 },
  async: { made: 1, aborted: 1, returned: 1 },
  waiting: { made: 1, aborted: 1, returned: 1 },
  stream: { made: 1, aborted: 1, destroyed: 1 },
};
const kinds = Object.keys(left) as leave.Kind[];

describe.each(ways)('unsubscribing %s', (_, how) => {
  test.each(kinds)('stops a pull in the topology: %s', async (kind) => {
    const { memory, read } = notes();
    const { subscription, values } = first(leave.numbers({ ...how, args: { kind, memory } }), 3);
    expect((await values).slice(0, 3)).toEqual([1, 2, 3]);
    subscription.unsubscribe();
    await until(() => Object.keys(read()).length === 3);
    await meanwhile(how);
    expect(read()).toEqual(left[kind]);
  });

  test.each(kinds)('stops a pull that is the input, at once: %s', async (kind) => {
    const { memory, read } = notes();
    const input = pull((signal) => leave.endless(kind, new leave.Notes(memory), signal));
    const { subscription, values } = first(input.pipe(leave.same(how)), 3);
    await values;
    subscription.unsubscribe();
    if (kind === 'stream') await until(() => 'destroyed' in read());
    expect(read()).toEqual(left[kind]);
  });

  test('stops a source that pushes', async () => {
    const input = new Subject<number>();
    const { subscription, values } = first(input.pipe(leave.same(how)), 2);
    input.next(1);
    input.next(2);
    await values;
    expect(input.observed).toBe(true);
    subscription.unsubscribe();
    expect(input.observed).toBe(false);
    expect(runtime.runs).toEqual([]);
  });

  test('between two values: nothing is delivered after it returned', async () => {
    const { memory } = notes();
    let seen = 0;
    const subscription = leave.numbers({ ...how, args: { kind: 'iterator', memory } }).subscribe(() => seen++);
    await until(() => seen > 1000);
    subscription.unsubscribe();
    const before = seen;
    await meanwhile(how);
    expect(seen).toBe(before);
  });

  test('inside next: the value is the last one', async () => {
    const { memory, read } = notes();
    const seen: number[] = [];
    let run: Run | undefined;
    const subscription = leave
      .numbers({ ...how, args: { kind: 'iterator', memory }, onRun: (started) => (run = started) })
      .subscribe((n) => {
        seen.push(n);
        if (n !== 777) return;
        subscription.unsubscribe();
        expect(runtime.runs).toEqual([]);
      });
    await until(() => subscription.closed);
    await meanwhile(how);
    expect(seen).toEqual(Array.from({ length: 777 }, (_, i) => i + 1));
    expect(run?.metrics().out).toBe(777);
    await until(() => 'returned' in read());
  });

  test('inside onRun: nothing is delivered, and the input is not subscribed', async () => {
    const { memory, read } = notes();
    const stop = new Subject<void>();
    const input = new Subject<number>();
    const onRun = (): void => stop.next();
    const seen: unknown[] = [];
    const end = { next: (n: number) => seen.push(n), complete: () => seen.push('complete') };
    leave
      .numbers({ ...how, args: { kind: 'iterator', memory }, onRun })
      .pipe(takeUntil(stop))
      .subscribe(end);
    input.pipe(leave.same({ ...how, onRun }), takeUntil(stop)).subscribe(end);
    expect(input.observed).toBe(false);
    expect(runtime.runs).toEqual([]);
    await meanwhile(how);
    // takeUntil completes what is behind it.
    expect(seen).toEqual(['complete', 'complete']);
    // A thread may have begun to read its pull.
    await until(() => read()['made'] === read()['returned']);
  });

  test('at once, and again and again', async () => {
    const { memory } = notes();
    for (let i = 0; i < 50; i++) {
      leave
        .numbers({ ...how, args: { kind: 'iterator', memory } })
        .subscribe(() => expect.unreachable())
        .unsubscribe();
      endlessly(1, 2, 3)
        .pipe(leave.same(how))
        .subscribe(() => expect.unreachable())
        .unsubscribe();
    }
    expect(runtime.runs).toEqual([]);
    await meanwhile(how);
  });

  test('onRun that throws ends the run with what it threw', async () => {
    const reason = new Error('not today');
    const input = new Subject<number>();
    const end = await errorOf(
      input.pipe(
        leave.same({
          ...how,
          onRun: () => {
            throw reason;
          },
        }),
      ),
    );
    expect(end).toBe(reason);
    expect(input.observed).toBe(false);
    expect(runtime.runs).toEqual([]);
    await meanwhile(how);
  });
});

describe.each(ways)('an early end %s', (_, how) => {
  test.each(kinds.filter((kind) => kind !== 'waiting'))('take behind the topology stops a pull: %s', async (kind) => {
    const { memory, read } = notes();
    expect(await valuesOf(leave.numbers({ ...how, args: { kind, memory } }).pipe(take(3)))).toEqual([1, 2, 3]);
    await until(() => Object.keys(read()).length === 3);
    expect(read()).toEqual(left[kind]);
  });

  test.each(kinds)('take in the topology stops a pull: %s', async (kind) => {
    for (const far of [false, true]) {
      const { memory, read } = notes();
      const values = await valuesOf(leave.three({ ...how, args: { kind, memory, far } }));
      if (far) {
        expect(values).toHaveLength(6);
        expect(new Set(values).size).toBe(3);
      } else expect(values).toEqual([1, 2, 3]);
      await until(() => Object.keys(read()).length === 3);
      expect(read()).toEqual(left[kind]);
    }
  });

  test('take stops a source that pushes', async () => {
    const input = new Subject<number>();
    const values = valuesOf(input.pipe(leave.same(how), take(2)));
    input.next(1);
    input.next(2);
    expect((await values).toSorted()).toEqual([1, 2]);
    expect(input.observed).toBe(false);
  });

  test('travels up through every exchange while the rest of the run goes on', async () => {
    const { memory, read } = notes();
    const input = new Subject<number>();
    const { few, rest } = leave.fewAndRest({ ...how, args: { kind: 'iterator', memory } })(input);
    const others = first(rest, 2);
    expect(await valuesOf(few)).toHaveLength(3);
    await until(() => 'returned' in read());
    expect(read()).toEqual(left.iterator);
    expect(input.observed).toBe(true);
    input.next(1);
    input.next(2);
    expect(await others.values).toEqual([1, 2]);
    others.subscription.unsubscribe();
  });

  const count = long ? 60_000 : 6000;
  /** Two keys of different executors. */
  const keys = ['even', ...Array.from({ length: 50 }, (_, i) => `odd ${i}`)].filter(
    (key, i) => i === 0 || executorOf(hashKey(key), 2) !== executorOf(hashKey('even'), 2),
  ) as [string, string];

  test.each([
    ['broadcast', count + 3, count],
    ['keyBy', count / 2 + 3, count / 2],
    ['route', count / 2 + 3, count / 2],
  ] as const)('of one executor does not hold back %s', async (kind, delivered, share) => {
    let run!: Run;
    const args = { kind, claim: new SharedArrayBuffer(4), keys };
    const values = await valuesOf(
      range(0, count).pipe(leave.part({ ...how, args, onRun: (started) => (run = started) })),
    );
    expect(values).toHaveLength(delivered);
    const { executors, channels } = run.metrics();
    // Each value of its share was taken, was discarded on arrival or was not sent at all.
    for (const { id, in: taken, discarded } of executors.filter((executor) => executor.id.startsWith('parts/'))) {
      const dropped = channels
        .filter((channel) => channel.id === `parts:first/0->${id}`)
        .map((channel) => channel.dropped);
      expect([id, taken + discarded + dropped[0]!]).toEqual([id, share]);
    }
  });
});

describe.each(ways)('a signal %s', (_, how) => {
  const reason = new Error('enough');

  test('aborted before: the error is its reason, and nothing begins', async () => {
    const input = new Subject<number>();
    const signal = AbortSignal.abort(reason);
    const stream = input.pipe(leave.same({ ...how, signal, onRun: () => expect.unreachable() }));
    for (let i = 0; i < 2; i++) expect(await errorOf(stream)).toBe(reason);
    const { even, odd } = leave.sides({ ...how, signal })(input);
    expect(await Promise.all([errorOf(even), errorOf(odd)])).toEqual([reason, reason]);
    expect(input.observed).toBe(false);
    expect(runtime.runs).toEqual([]);
  });

  test('aborted during a run: the error is its reason, and nothing follows', async () => {
    const { memory, read } = notes();
    const controller = new AbortController();
    const { signal } = controller;
    let seen = 0;
    const stream = leave.numbers({ ...how, signal, args: { kind: 'iterator', memory } });
    const end = new Promise((resolve) => {
      stream.subscribe({
        next: () => {
          seen++;
          if (seen === 100) controller.abort(reason);
        },
        error: resolve,
      });
    });
    expect(await end).toBe(reason);
    expect(seen).toBe(100);
    expect(runtime.runs).toEqual([]);
    await until(() => 'returned' in read());
    await meanwhile(how);
    expect(seen).toBe(100);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('aborted while outputs are awaited, and inside onRun', async () => {
    for (const within of [false, true]) {
      const controller = new AbortController();
      const onRun = (): void => controller.abort(reason);
      const { even, odd } = leave.sides({ ...how, signal: controller.signal, onRun })(endlessly(1));
      const ends = [errorOf(even)];
      if (within) ends.push(errorOf(odd));
      else controller.abort(reason);
      for (const end of ends) expect(await end).toBe(reason);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    }
  });

  test('is let go when the run has ended, and aborting it later does nothing', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const stream = of(1).pipe(leave.same({ ...how, signal }));
    expect(await valuesOf(stream)).toEqual([1]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    stream.subscribe().unsubscribe();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    controller.abort();
  });
});
