import { createRuntime } from 'millrace';
import { from, Observable, take } from 'rxjs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { executorOf, hashKey } from '../../runtime/hash.js';
import * as leaving from './fixtures/leaving.js';
import { errorOf, first, observe, until, valuesOf } from './fixtures/observe.js';

const runtime = createRuntime({ threads: 4 });
const ways = [
  ['on threads', { runtime }],
  ['on the calling thread', { runtime, threads: 0 }],
] as const;

afterEach(() => expect(runtime.runs).toEqual([]));
afterAll(() => runtime.close());

describe.each(ways)('%s', { timeout: 10_000 }, (_way, options) => {
  test('a signal aborted while the input is inside its own subscribe stops the input', async () => {
    const stop = new AbortController();
    let sent = 0;
    const input$ = new Observable<number>((subscriber) => {
      while (!subscriber.closed && sent < 1000) {
        subscriber.next(sent++);
        if (sent === 5) stop.abort(new Error('enough'));
      }
    });
    const error = await errorOf(input$.pipe(leaving.relay({ ...options, signal: stop.signal })));
    expect(error).toBe(stop.signal.reason);
    expect(sent).toBe(5);
  });

  test.each(['iterable', 'dropped'] as const)(
    'a step that streams one value without end (%s) is stopped',
    async (args) => {
      expect(await valuesOf(from([7]).pipe(leaving.floods({ ...options, args, stopMs: 5000 })))).toEqual([0, 1, 2]);
      // The thread has come back: it takes the next run at once.
      expect(await valuesOf(from([1, 2]).pipe(leaving.relay(options)))).toHaveLength(2);
    },
  );

  test('a step that emits without end inside one delivery is stopped, or it is a burst', async () => {
    const how = { ...options, args: 'observable', maxParkedBytes: 100_000, stopMs: 5000 } as const;
    expect(await valuesOf(from([7]).pipe(leaving.floods(how)))).toEqual([0, 1, 2]);
    expect(await valuesOf(from([1, 2]).pipe(leaving.relay(options)))).toHaveLength(2);
  });

  test.each([
    ['keyBy', false],
    ['broadcast', true],
  ])('an executor that is finished does not hold back the others behind %s', async (_kind, all) => {
    const keys = Array.from({ length: 30 }, (_, i) => `key ${i}`);
    const values = Array.from({ length: 20_000 }, (_, n) => ({ key: keys[n % 30]!, n, pad: 'x'.repeat(100) }));
    const last = keys[7]!;
    const home = executorOf(hashKey(last), 3);
    const got = await valuesOf(from(values).pipe(leaving.someFinish({ ...options, args: { last, all } })));
    const before = values.findIndex(({ key }) => key === last);
    const expected = all
      ? values.slice(0, before).flatMap(({ n }) => [n, n, n])
      : values.filter(({ key, n }) => executorOf(hashKey(key), 3) !== home || n < before).map(({ n }) => n);
    expect(got.map(({ n }) => n).sort((a, b) => a - b)).toEqual(expected);
  });

  test('a clean-up that throws hides no error, and keeps nothing from being closed', async () => {
    const counts = leaving.counters();
    const { subscription, values } = first(leaving.cleanUp({ ...options, args: { counts } }), 100);
    await values;
    subscription.unsubscribe();
    await until(() => counts[leaving.closed] === 1);
    const { values: before, end } = await observe(
      leaving.cleanUp({ ...options, args: { counts, fails: 1000 + counts[leaving.asked]! } }),
    );
    expect(end).toMatchObject({ code: 'ERR_OPERATOR', operator: 'map', cause: { message: 'step' } });
    expect(before).toHaveLength(1000);
    await until(() => counts[leaving.closed] === 2);
    expect(await valuesOf(leaving.cleanUp({ ...options, args: { counts } }).pipe(take(3)))).toHaveLength(3);
    await until(() => counts[leaving.closed] === 3);
  });

  test('of several sources all are closed', async () => {
    const counts = [leaving.counters(), leaving.counters()] as const;
    const { subscription, values } = first(leaving.united({ ...options, args: counts }), 100);
    await values;
    await until(() => counts.every((own) => own[leaving.asked]! > 0));
    subscription.unsubscribe();
    await until(() => counts.every((own) => own[leaving.closed] === 1));
  });
});
