import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createRuntime, type MillraceError, type Run, type Runtime } from 'millrace';
import { concat, from, NEVER, type Observable, of, range, Subject } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { told } from './fixtures/endingsSeen.js';
import { type Death, dies, lives } from './fixtures/endingsThreads.js';
import { errorOf, first, observe, until, valuesOf } from './fixtures/observe.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());

const lost = (message: RegExp, fields: object = {}) =>
  expect.objectContaining({ code: 'ERR_THREAD_LOST', ...fields, message: expect.stringMatching(message) });

/** The pool serves as before. */
async function serves(on: Runtime): Promise<void> {
  expect(await valuesOf(of(1, 2, 3).pipe(lives({ runtime: on, args: 2 })))).toHaveLength(3);
  expect(on.runs).toEqual([]);
}

/** A source that goes on, so that the run cannot end by itself. */
const endless = (...numbers: number[]): Observable<number> => concat(from(numbers), NEVER);

describe('a thread that ends before its run is a death, never a completion', () => {
  test.each([
    ['exit 0', 0, of(1, 2, 3)],
    ['exit 1', 1, range(1, 1000)],
  ] as const)('process.%s', async (how, code, one) => {
    for (const input of long ? [of(1, 2, 3), endless(1, 2, 3), range(1, 1000)] : [one]) {
      const { end } = await observe(input.pipe(dies({ runtime, args: { how } })));
      expect(end).toEqual(lost(new RegExp(`thread \\d+ ended with code ${code} before its run did$`)));
      expect(end).toMatchObject({ name: 'MillraceError', topology: 'dies' });
      expect(end).not.toHaveProperty('cause');
      await serves(runtime);
    }
  });

  test.each(['timer', 'rejection'] as const)('an error nobody caught in a %s is the cause', async (how) => {
    const end = await errorOf(endless(1, 2, 3).pipe(dies({ runtime, args: { how } })));
    expect(end).toEqual(lost(/an error that belongs to no step was thrown on thread \d+: Broken: valve 3 is broken/));
    expect(told((end as MillraceError).cause)).toMatchObject({ name: 'Broken', message: 'valve 3 is broken' });
    await serves(runtime);
  });

  test('out of memory is the cause, and this process goes on', async () => {
    const small = createRuntime({
      threads: 1,
      workerOptions: { resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 } },
    });
    const end = await errorOf(endless(1, 2, 3).pipe(dies({ runtime: small, args: { how: 'memory' } })));
    expect(end).toEqual(
      lost(/ended with code 1/, { cause: expect.objectContaining({ code: 'ERR_WORKER_OUT_OF_MEMORY' }) }),
    );
    await serves(small);
    await small.close();
  });

  test('a topology behind it hears of it as an error of its input', async () => {
    const end = await errorOf(endless(1, 2, 3).pipe(dies({ runtime, args: { how: 'exit 0' } }), lives({ threads: 0 })));
    expect(end).toMatchObject({ code: 'ERR_SOURCE', topology: 'lives', cause: lost(/code 0/, { topology: 'dies' }) });
    await serves(runtime);
  });

  test('all runs on a thread that dies by itself hear of it', async () => {
    const one = createRuntime({ threads: 1 });
    const bystander = first(concat(of(1), new Subject<number>()).pipe(lives({ runtime: one })), 1);
    await bystander.values;
    const other = errorOf(endless(7).pipe(lives({ runtime: one })));
    expect(await errorOf(endless(3).pipe(dies({ runtime: one, args: { how: 'exit 1' } })))).toEqual(lost(/code 1/));
    expect(await other).toEqual(lost(/ended with code 1 before its run did/, { topology: 'lives' }));
    await serves(one);
    await one.close();
  });
});

describe('a thread that does not come back', () => {
  /** Gets the only thread of `on` stuck; resolves when it is. */
  async function stick(
    on: Runtime,
    how: Death = 'stuck',
    signal?: AbortSignal,
  ): Promise<{ run: Run; unsubscribe(): void; end: unknown }> {
    const flag = new SharedArrayBuffer(4);
    let run!: Run;
    const seen: { end: unknown } = { end: undefined };
    const subscription = endless(1, 2, 3)
      .pipe(
        dies({
          runtime: on,
          args: { how, flag },
          stopMs: 50,
          onRun: (started) => (run = started),
          ...(signal && { signal }),
        }),
      )
      .subscribe({ error: (reason) => (seen.end = reason) });
    await until(() => new Int32Array(flag)[0] === 1);
    return Object.assign(seen, { run, unsubscribe: () => subscription.unsubscribe() });
  }

  test('is terminated after stopMs; a run that shares it hears whose fault it was', async () => {
    const one = createRuntime({ threads: 1 });
    const bystander = concat(of(1), new Subject<number>()).pipe(lives({ runtime: one }));
    const heard = errorOf(bystander);
    const ready = first(bystander, 1);
    await ready.values;
    const stuck = await stick(one);
    expect(one.runs.map((run) => run.topology)).toEqual(['lives', 'lives', 'dies']);
    stuck.unsubscribe();
    expect(await heard).toEqual(
      lost(new RegExp(`^ERR_THREAD_LOST: thread \\d+ was terminated because of run ${stuck.run.id}, which shared it$`)),
    );
    expect(stuck.end).toBeUndefined();
    await serves(one);
    await one.close();
  });

  test('also when a signal ends the run', async () => {
    const one = createRuntime({ threads: 1 });
    const controller = new AbortController();
    const stuck = await stick(one, 'stuck', controller.signal);
    const heard = errorOf(endless().pipe(lives({ runtime: one })));
    const reason = new Error('enough');
    controller.abort(reason);
    expect(stuck.end).toBe(reason);
    // It had not started yet.
    expect(await heard).toMatchObject({ code: 'ERR_START', cause: lost(/which shared it/) });
    await one.close();
  });

  test('close() ends it as well', async () => {
    const one = createRuntime({ threads: 1 });
    const stuck = await stick(one);
    await one.close();
    expect(stuck.end).toMatchObject({ code: 'ERR_CLOSED' });
  });

  test('a run takes free threads first, so it harms nobody', async () => {
    const two = createRuntime({ threads: 2 });
    const bystander = new Subject<number>();
    const values = first(bystander.pipe(lives({ runtime: two })), 2);
    bystander.next(1);
    const stuck = await stick(two);
    stuck.unsubscribe();
    bystander.next(2);
    expect(await values.values).toEqual([-1, -2]);
    await two.close();
  });
});

describe('a process ends by itself when its work is done', () => {
  const script = fileURLToPath(new URL('./fixtures/endingsLeave.mjs', import.meta.url));

  test.each([
    ['complete', '-1 -2 -3 complete'],
    ['error', '-1 -2 ERR_OPERATOR'],
    ['lost', 'ERR_THREAD_LOST'],
    ['unsubscribed', '-1 unsubscribed'],
    ['unsubscribedAtOnce', 'unsubscribed'],
    ['endless', '-1 -2 -3 complete'],
    ['own', '-1 -2 -3 complete'],
    ['closed', '-1 closed'],
    ['stuck', 'unsubscribed'],
    ['aborted', '-1 AbortError'],
    ['missing', 'ERR_OUTPUT_UNUSED'],
    ['forsaken', 'unsubscribed'],
    ['here', '-1 -2 -3 complete'],
  ])('%s', async (how, printed) => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, how], { timeout: 20_000 });
    expect(stdout.trim().replaceAll('\n', ' ')).toBe(printed);
  });
});
