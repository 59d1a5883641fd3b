/**
 * What pools of threads are asked: whether an error arrives as what it was, and whether every task settles, and the next
 * one runs, when a thread throws, exits or throws late. One thread, so that the next task meets what the last one left.
 */
import { createRuntime, type MillraceError } from 'millrace';
import { concat, NEVER, of, Subject } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { observe, type Seen, until } from './fixtures/observe.js';
import { runs, type Task } from './fixtures/probe.js';

const runtime = createRuntime({ threads: 1 });
afterAll(() => runtime.close());

const run = (task: Task, n = 1, flag?: SharedArrayBuffer): Promise<Seen<number>> =>
  observe(of(n).pipe(runs({ runtime, args: { task, ...(flag && { flag }) } })));

async function nextRuns(): Promise<void> {
  for (const n of [1, 2, 3]) expect(await run('fine', n)).toEqual({ values: [n * 2], end: 'complete' });
  expect(runtime.runs).toEqual([]);
}

const lateError = { name: 'LateError', code: 'E_LATE', message: 'too late' };

describe('every task settles, and the next one runs', () => {
  test('a task that is fine', nextRuns);

  test('an error of a class of its own arrives with name, code, cause and fields', async () => {
    const { values, end } = await run('custom');
    expect(values).toEqual([]);
    expect(end).toMatchObject({ name: 'MillraceError', code: 'ERR_OPERATOR', topology: 'runs', operator: 'map' });
    const { cause } = end as MillraceError;
    expect(cause).toBeInstanceOf(Error);
    expect(Object.entries(cause as object)).toEqual([
      ['code', 'E_STATUS'],
      ['status', 501],
      ['headers', { 'retry-after': '3' }],
      ['tried', new Date(5)],
    ]);
    expect(cause).toMatchObject({
      name: 'HttpError',
      message: 'status 501',
      stack: expect.stringContaining('probe.ts'),
      cause: { name: 'TypeError', code: 'ECONNRESET', errno: -104, message: 'reset' },
    });
    expect((cause as Error).cause).toBeInstanceOf(TypeError);
    await nextRuns();
  });

  test.each([
    ['exit 0', 0],
    ['exit 1', 1],
  ] as const)('process.%s in the middle of a task', async (task, code) => {
    const { values, end } = await run(task);
    expect(values).toEqual([]);
    expect(end).toMatchObject({
      code: 'ERR_THREAD_LOST',
      topology: 'runs',
      message: expect.stringContaining(`ended with code ${code} before its run did`),
    });
    await nextRuns();
  });

  test.each(['late', 'late rejection', 'much later'] as const)(
    'thrown by nobody in particular (%s) while the run is open: the run errors, with the cause',
    async (task) => {
      const { end } = await observe(concat(of(1), NEVER).pipe(runs({ runtime, args: { task } })));
      expect(end).toMatchObject({ code: 'ERR_THREAD_LOST', topology: 'runs', cause: lateError });
      await nextRuns();
    },
  );

  test('thrown when the task was done: its result stands, and the next one runs, also if it begins at that moment', async () => {
    for (const task of ['late', 'much later'] as const) {
      const flag = new SharedArrayBuffer(8);
      const { values, end } = await run(task, 1, flag);
      // At once, it may still take the end of the run with it.
      if (end === 'complete' || task === 'much later') expect([values, end]).toEqual([[2], 'complete']);
      else expect(end).toMatchObject({ code: 'ERR_THREAD_LOST', cause: lateError });
      new Int32Array(flag)[1] = 1;
      await until(() => new Int32Array(flag)[0] === 1);
      expect(await run('fine', 2)).toMatchObject({ values: [4], end: 'complete' });
      await nextRuns();
    }
  });

  test('thrown when no run is on the thread: a warning says so', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error): void => void warnings.push(warning);
    process.on('warning', listen);
    const flag = new SharedArrayBuffer(8);
    expect(await run('much later', 1, flag)).toMatchObject({ values: [2], end: 'complete' });
    new Int32Array(flag)[1] = 1;
    await until(() => warnings.length > 0);
    process.off('warning', listen);
    expect(warnings[0]).toMatchObject({
      name: 'MillraceWarning',
      message: expect.stringMatching(
        /^an error that belongs to no step was thrown on thread \d+: LateError: too late$/,
      ),
    });
    await nextRuns();
  });

  test("thrown under a handler of the thread's own: the handler has it, and the run goes on", async () => {
    const own = createRuntime({ threads: 1 });
    const flag = new SharedArrayBuffer(4);
    const input = new Subject<number>();
    const seen = observe(input.pipe(runs({ runtime: own, args: { task: 'handled', flag } })));
    input.next(1);
    await until(() => new Int32Array(flag)[0] === 2);
    input.complete();
    expect(await seen).toEqual({ values: [2], end: 'complete' });
    await own.close();
  });

  test('twenty tasks at once, with a death among them', async () => {
    const tasks: readonly Task[] = Array.from({ length: 20 }, (_, i) =>
      i === 11 ? 'exit 1' : i === 5 ? 'custom' : 'fine',
    );
    const all = await Promise.all(tasks.map((task, n) => run(task, n)));
    expect(all).toHaveLength(20);
    for (const [n, { values, end }] of all.entries()) {
      if (end === 'complete') expect([tasks[n], values]).toEqual(['fine', [n * 2]]);
      else expect(['ERR_THREAD_LOST', 'ERR_START', 'ERR_OPERATOR']).toContain((end as MillraceError).code);
    }
    expect(all[11]?.end).not.toBe('complete');
    await nextRuns();
  });
});
