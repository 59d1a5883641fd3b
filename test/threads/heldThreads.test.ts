/** Threads under a caller who is held, whose event loop does not turn: their ends, their troubles, what they print. */
import { execFile } from 'node:child_process';
import { subscribe as listen, unsubscribe as unlisten } from 'node:diagnostics_channel';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createRuntime, type Run, type Runtime, type StallReport } from 'millrace';
import { concat, NEVER, of, range, Subject } from 'rxjs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import * as held from './fixtures/held.js';
import { loading } from './fixtures/heldLoading.js';
import { errorOf, until, valuesOf } from './fixtures/observe.js';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 2 });
/** No test waits that long: what comes all the same did not wait for it. */
const never = 2 ** 31 - 1;

afterEach(() => expect(runtime.runs).toEqual([]));
afterAll(() => runtime.close());

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

const script = fileURLToPath(new URL('./fixtures/heldAlone.mjs', import.meta.url));
function alone(how: string, count: number): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [script, how, String(count)], {
    maxBuffer: 2 ** 30,
    timeout: long ? 600_000 : 60_000,
  });
}

describe('threads under a caller who is held', () => {
  test.each(['exits', 'hangs'] as const)(
    'C-173: one that %s: ERR_STALLED after stallMs, and the next run, begun at once, does not get it',
    async (how) => {
      const own = createRuntime({ threads: 1 });
      const again = await new Promise<unknown>((resolve) => {
        range(0, 1e8)
          .pipe(held.fails({ runtime: own, args: { at: 5_000, how }, stallMs: 100 }))
          .subscribe({
            error: (reason: unknown) => {
              expect(reason).toMatchObject({ code: 'ERR_STALLED', topology: 'fails' });
              expect(String(reason)).toContain('stallMs (100 ms)');
              resolve(valuesOf(range(0, 10_000).pipe(held.fast({ runtime: own }))));
            },
          });
      });
      expect(again).toEqual(upTo(10_000));
      await own.close();
    },
  );

  test('a value that lasts longer than hangMs ends its thread; the standstill is told once', async () => {
    const told: { run: Run; report: StallReport }[] = [];
    const hear = (message: unknown): unknown => told.push(message as (typeof told)[number]);
    listen('millrace:stall', hear);
    let run!: Run;
    const stream = concat(range(0, 10), NEVER).pipe(
      held.fails({
        runtime,
        args: { at: 5, how: 'hangs' },
        stallMs: 200,
        hangMs: 700,
        onRun: (started) => (run = started),
      }),
    );
    const end = await errorOf(stream);
    unlisten('millrace:stall', hear);
    expect(end).toMatchObject({ code: 'ERR_THREAD_LOST', topology: 'fails' });
    expect(String(end)).toContain('longer than hangMs (700 ms)');
    expect(told.map((each) => each.run)).toEqual([run]);
    expect(told[0]!.report.waits).toContainEqual(expect.objectContaining({ who: 'one/0', what: 'code' }));
  });

  test('C-093: a source that does not come back is named, and what follows arrives in order when it has', async () => {
    const told: StallReport[] = [];
    const came = new Int32Array(new SharedArrayBuffer(4));
    const hear = (message: unknown): void => {
      const { report } = message as { report: StallReport };
      told.push(report);
      // A thread that got no time looks as one that has no room.
      if (!report.waits.some(({ what }) => what === 'code')) return;
      Atomics.store(came, 0, 1);
      Atomics.notify(came, 0);
    };
    listen('millrace:stall', hear);
    const values = await valuesOf(held.waiting({ runtime, args: came, stallMs: 50 }));
    unlisten('millrace:stall', hear);
    expect(values).toEqual(upTo(10));
    expect(told.flatMap(({ waits }) => waits)).toContainEqual(
      expect.objectContaining({ who: 'pull-1/0', what: 'code' }),
    );
  });

  test('a module that fails to load: ERR_START, and the source is left', async () => {
    expect(await errorOf(range(0, 1e8).pipe(held.broken({ runtime })))).toMatchObject({
      code: 'ERR_START',
      cause: { message: 'not here' },
    });
  });

  test('a module that loads too slowly: ERR_START after startTimeoutMs', async () => {
    const own = createRuntime({ threads: 1 });
    const end = await errorOf(range(0, 1e8).pipe(loading({ runtime: own, startTimeoutMs: 200, stallMs: never })));
    expect(end).toMatchObject({ code: 'ERR_START' });
    expect(String(end)).toContain('startTimeoutMs (200 ms)');
    await own.close();
  });

  test('a topology within a step of a thread, whose input emits without a pause', async () => {
    expect(await valuesOf(of(50_000, 3, 0).pipe(held.nesting({ runtime })))).toEqual([50_000, 3, 0]);
  });

  test('two runs that share one thread, one of them held: both go on', async () => {
    const own: Runtime = createRuntime({ threads: 1 });
    const hot$ = new Subject<number>();
    const others: number[] = [];
    let ended = false;
    hot$.pipe(held.fast({ runtime: own })).subscribe({ next: (n) => others.push(n), complete: () => (ended = true) });
    let before = 0;
    await new Promise<void>((resolve, reject) => {
      let count = 0;
      range(0, 200_000)
        .pipe(held.slow({ runtime: own }))
        .subscribe({
          next: () => {
            if (count++ % 1_000 === 0) hot$.next(count);
          },
          error: reject,
          complete: () => resolve(),
        });
      before = others.length;
    });
    hot$.complete();
    await until(() => ended);
    expect(others).toEqual(upTo(200).map((i) => i * 1_000 + 1));
    // Values of the one were delivered while the other one was held.
    expect(before).toBeGreaterThan(0);
    await own.close();
  });
});

describe('alone in a process', () => {
  test('C-172: the heap does not grow with the number of values', { timeout: long ? 600_000 : 60_000 }, async () => {
    const count = long ? 10_000_000 : 450_000;
    const { stderr } = await alone('memory', count);
    const { end, delivered, within, grown } = JSON.parse(stderr) as Record<string, number>;
    expect([end, delivered]).toEqual(['complete', count]);
    expect(within).toBeGreaterThan(0);
    expect(grown).toBeLessThan(10 * 1024 * 1024);
  });

  test('a thread that prints 3 MB meanwhile: what nobody can take is dropped, and how many writes is said', async () => {
    const { stdout, stderr } = await alone('printing', 4_000);
    expect(stderr).toContain('"end":"complete","delivered":4000');
    const said = [
      ...stderr.matchAll(/^millrace: (\d+) writes of a thread were dropped while the calling thread was held$/gm),
    ];
    // Not for every value that is held: once more where a while of it was cut short as the thread began.
    expect([1, 2]).toContain(said.length);
    const lines = stdout.split('\n').length - 1;
    expect(lines).toBeGreaterThan(900);
    expect(said.reduce((sum, [, writes]) => sum + Number(writes), lines)).toBe(4_000);
  });
});
