import { createRuntime, type MillraceError, type Runtime, shuffle, topology } from 'millrace';
import { concat, NEVER, type Observable, of } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { told } from './fixtures/endingsSeen.js';
import { lives } from './fixtures/endingsThreads.js';
import * as differs from './fixtures/loading/differs.js';
import { exiting } from './fixtures/loading/exits.js';
import { asks, good } from './fixtures/loading/good.js';
import { hanging } from './fixtures/loading/hangs.js';
import { subscribing } from './fixtures/loading/subscribes.js';
import { throwing } from './fixtures/loading/throws.js';
import { errorOf, first, valuesOf } from './fixtures/observe.js';

const runtime = createRuntime({ threads: 1 });
afterAll(() => runtime.close());

async function serves(on: Runtime = runtime): Promise<void> {
  expect(await valuesOf(of(1, 2, 3).pipe(good({ runtime: on })))).toEqual([1, 4, 9]);
}

describe('a module that cannot be loaded', () => {
  test('because it throws: ERR_START with the cause, each time', async () => {
    for (let i = 0; i < 2; i++) {
      const end = await errorOf(of(1).pipe(throwing({ runtime })));
      expect(told(end)).toEqual({
        name: 'MillraceError',
        code: 'ERR_START',
        topology: 'throws',
        message: 'ERR_START: topology "throws" did not start: valve 7 is broken',
        cause: { name: 'Broken', message: 'valve 7 is broken', valve: 7, cause: { name: 'Error', message: 'rust' } },
      });
    }
    await serves();
  });

  test('because it does not exist', async () => {
    const nowhere = topology(new URL('./nowhere.mjs', import.meta.url), (n$: Observable<number>) => n$.pipe(shuffle()));
    const end = await errorOf(of(1).pipe(nowhere({ runtime })));
    expect(end).toMatchObject({ code: 'ERR_START', topology: 'nowhere', cause: { code: 'ERR_MODULE_NOT_FOUND' } });
    await serves();
  });

  test('because it never ends loading: ERR_START after startTimeoutMs', async () => {
    const input = concat(of(1), NEVER);
    const bystander = first(input.pipe(lives({ runtime })), 1);
    await bystander.values;
    const heard = errorOf(input.pipe(lives({ runtime })));
    const end = (await errorOf(input.pipe(hanging({ runtime, startTimeoutMs: 100 })))) as MillraceError;
    expect(end).toMatchObject({ code: 'ERR_START', topology: 'hangs' });
    expect(end.message).toMatch(/^ERR_START: file:.*\/hangs\.ts did not start within startTimeoutMs \(100 ms\)$/);
    // Its thread is of no use to anybody.
    expect(await heard).toMatchObject({
      code: 'ERR_THREAD_LOST',
      message: expect.stringContaining('because of run hangs-'),
    });
    await serves();
  });

  test('because it ends its thread', async () => {
    const end = await errorOf(of(1).pipe(exiting({ runtime })));
    expect(end).toMatchObject({ code: 'ERR_START', topology: 'exits', cause: { code: 'ERR_THREAD_LOST' } });
    await serves();
  });

  test('a run given up while its module was loading does not stand in the way of others', async () => {
    of(1).pipe(hanging({ runtime })).subscribe().unsubscribe();
    await serves();
  });
});

describe('a module that looks different on a thread', () => {
  const refused = async (stream: Observable<unknown>): Promise<string> => {
    const end = (await errorOf(stream)) as MillraceError;
    expect(end).toMatchObject({ name: 'MillraceError', code: 'ERR_PLAN_MISMATCH' });
    await serves();
    return end.message;
  };

  test('has another number of topologies: one found by its place is refused', async () => {
    const message = await refused(of(1).pipe(differs.placed({ runtime })));
    expect(message).toMatch(
      /differs\.ts created 8 topologies \(unnamed, unnamed, found, .*main only.*\) on the caller's thread/,
    );
    expect(message).toMatch(
      /and 6 topologies \(unnamed, found, .*\) on the thread that shall run it\. What varies goes into args\. Create/,
    );
    expect(message).toMatch(/Create topologies at module level, unconditionally or each with a name$/);
  });

  test('one that has a name is found by it, wherever it stands', async () => {
    expect(await valuesOf(of(1, 2).pipe(differs.named({ runtime })))).toEqual([1, 2]);
    expect(await valuesOf(of(1, 2).pipe(differs.twice({ runtime })))).toEqual([2, 4]);
  });

  test('one that has a name and was not created there is named', async () => {
    const message = await refused(of(1).pipe(differs.missing!({ runtime })));
    expect(message).toMatch(/on the thread that shall run it, but none named "main only" there\. What varies goes/);
  });

  test.each([
    ['kind', /caller .*"shuffle".* executor .*"keyBy"/],
    ['parallelism', /caller .*2.* executor .*3/],
    ['name', /caller .*"here".* executor .*"there"/],
    ['steps', /caller .* executor .*map\(…\)/],
  ] as const)('build makes another %s: the first difference is shown', async (what, difference) => {
    const message = await refused(of(1).pipe(differs.planned({ runtime, args: what })));
    expect(message).toMatch(/^ERR_PLAN_MISMATCH: build made another plan for an executor than for the caller: /);
    expect(message).toMatch(difference);
    expect(message).toMatch(/no randomness, no thread or environment checks$/);
  });

  test('build that throws on the thread only', async () => {
    const end = await errorOf(of(1).pipe(differs.planned({ runtime, args: 'nothing' })));
    expect(end).toMatchObject({ code: 'ERR_START', topology: 'planned', cause: { name: 'RangeError' } });
    expect((end as MillraceError).message).toBe('ERR_START: topology "planned" did not start: no plan on this thread');
  });

  test('build that makes another plan each time, also on the calling thread', async () => {
    expect(await refused(of(1).pipe(differs.restless({ runtime })))).toContain('"cut ');
    expect(await refused(of(1).pipe(differs.restless({ runtime, threads: 0 })))).toContain('"cut ');
  });
});

describe('a module that subscribes its topology while a thread loads it', () => {
  test.each(['plainly', 'deaf', 'slowly', 'awaiting', 'catching'])('%s', async (how) => {
    const one = createRuntime({
      threads: 1,
      workerOptions: { env: { ...process.env, MILLRACE_TEST_SUBSCRIBES: how } },
    });
    const end = (await errorOf(of(1).pipe(subscribing({ runtime: one })))) as MillraceError;
    expect(end).toMatchObject({ code: 'ERR_START', topology: 'subscribes', cause: { code: 'ERR_LOADING' } });
    expect((end.cause as Error).message).toMatch(
      /^ERR_LOADING: topology "subscribes" was subscribed while file:.*subscribes\.ts was being loaded on a thread\. Give the topology a module of its own, or subscribe on the main thread only: `if \(isMainThread\) \{ … \}` with isMainThread of 'node:worker_threads'$/,
    );
    // Each time, although the module counts as loaded now; and the error it may not have taken harms no other run.
    const again = errorOf(of(1).pipe(subscribing({ runtime: one })));
    expect(await again).toMatchObject({ code: 'ERR_START', cause: { code: 'ERR_LOADING' } });
    await serves(one);
    await one.close();
  });

  test('is let be where it does not', async () => {
    expect(await valuesOf(of(1, 2).pipe(subscribing({ runtime })))).toEqual([1, 2]);
  });
});

describe('names', () => {
  const build = (n$: Observable<number>): Observable<number> => n$.pipe(shuffle());

  test('two topologies of one module may not share one', () => {
    topology(import.meta.url, build, { name: 'mine' });
    expect(() => topology(import.meta.url, build, { name: 'mine' })).toThrow(
      expect.objectContaining({
        code: 'ERR_NAME',
        message: `ERR_NAME: ${import.meta.url} has two topologies named "mine": give each its own name`,
      }),
    );
    expect(topology(new URL('./other.ts', import.meta.url), build, { name: 'mine' }).name).toBe('mine');
  });

  test.each([
    ['', /name of topology\(\) must be a text.*, got ""/],
    [7, /name of topology\(\) must be a text.*, got 7/],
    ['@mine', /name of topology\(\): "@mine" starts with @, which is for the system/],
  ])('%j is none', (name, message) => {
    expect(() => topology(import.meta.url, build, { name: name as string })).toThrow(
      expect.objectContaining({ code: 'ERR_NAME', message: expect.stringMatching(message) }),
    );
  });

  test.each([
    ['loading.test.ts', 'got "loading.test.ts"'],
    [new URL('https://example.org/a.js'), 'got an object of URL'],
    [undefined, 'got undefined'],
    ['node:fs', 'got "node:fs"'],
    [{ url: import.meta.url }, 'got an object with a url'],
  ])('%s is no module', (module, message) => {
    expect(() => topology(module as string, build)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) }),
    );
  });

  test('without a name it is called after its file', () => {
    const at = (file: string) => topology(new URL(file, import.meta.url), build).name;
    expect([at('./some.file.mts'), at('./some.file.mts'), at('./%C3%A4%20b.cjs')]).toEqual([
      'some.file',
      'some.file#2',
      'ä b',
    ]);
  });
});

describe('threads', () => {
  test('have the environment and the flags of their runtime', async () => {
    const one = createRuntime({
      threads: 1,
      workerOptions: { env: { MILLRACE_TEST: 'here' }, execArgv: ['--no-warnings', '--conditions=mill'] },
    });
    const [found] = await valuesOf(of('MILLRACE_TEST').pipe(asks({ runtime: one })));
    expect(found).toMatchObject({
      main: false,
      argv: process.argv.slice(2),
      variable: 'here',
      flags: ['--no-warnings', '--conditions=mill'],
    });
    await one.close();
  });

  test('are none where none are wanted', async () => {
    const [found] = await valuesOf(of('PATH').pipe(asks({ runtime, threads: 0 })));
    expect(found).toMatchObject({ thread: 0, variable: process.env['PATH'] });
  });

  test('start from the entry of their runtime', async () => {
    const [root] = [new URL('../../', import.meta.url)];
    const one = createRuntime({ threads: 1, entry: new URL('dist/src/worker.js', root) });
    await serves(one);
    await one.close();
    const none = createRuntime({ threads: 1, entry: new URL('dist/src/nowhere.js', root) });
    const end = await errorOf(of(1).pipe(good({ runtime: none })));
    expect(end).toMatchObject({
      code: 'ERR_START',
      message: expect.stringMatching(
        /threads start from file:.*nowhere\.js, which is not there: a bundle needs millrace\/worker/,
      ),
      cause: { code: 'ERR_THREAD_LOST', cause: { code: 'MODULE_NOT_FOUND' } },
    });
    await none.close();
  });
});
