import { createRuntime, type RuntimeOptions } from 'millrace';
import { afterAll, describe, expect, test } from 'vitest';

const refused = (message: string | RegExp, code = 'ERR_OPTION') =>
  expect.objectContaining({
    name: 'MillraceError',
    code,
    message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
  });

const runtime = createRuntime({ threads: 1 });
afterAll(() => runtime.close());

describe('the options of a runtime', () => {
  const make = (options: unknown) => () => createRuntime(options as RuntimeOptions);

  test.each([
    [null, 'the options of createRuntime() must be an object, got null'],
    [4, 'the options of createRuntime() must be an object, got 4'],
    [{ thread: 1 }, 'createRuntime() has no option "thread": did you mean threads?'],
    [{ workerOption: {} }, 'did you mean workerOptions?'],
    [{ hangMs: 1 }, 'createRuntime() has no option "hangMs": known are threads, workerOptions, entry'],
    [{ threads: 0 }, 'threads of createRuntime() must be a whole number from 1 to 1024, got 0'],
    [{ threads: 1025 }, 'got 1025'],
    [{ threads: 1.5 }, 'got 1.5'],
    [{ threads: '2' }, 'got "2"'],
    [{ threads: null }, 'got null'],
    [
      { entry: './worker.js' },
      'entry of createRuntime() must be a URL, such as new URL(\'./worker.js\', import.meta.url), got "./worker.js"',
    ],
    [{ workerOptions: null }, 'workerOptions of createRuntime() must be an object, got null'],
    [
      { workerOptions: { env: {}, argv: [] } },
      'workerOptions of createRuntime() has no option "argv": known are resourceLimits, env, execArgv',
    ],
    [{ workerOptions: { execArg: [] } }, 'did you mean execArgv?'],
    [{ workerOptions: { name: 'mill' } }, 'has no option "name"'],
    [
      { workerOptions: { resourceLimits: 64 } },
      'resourceLimits of workerOptions of createRuntime() must be an object, got 64',
    ],
    [
      { workerOptions: { resourceLimits: { maxOldGenerationSize: 64 } } },
      'has no option "maxOldGenerationSize": did you mean maxOldGenerationSizeMb?',
    ],
    [
      { workerOptions: { resourceLimits: { stackSizeMb: '4' } } },
      'stackSizeMb of workerOptions of createRuntime() must be a number of MiB above 0, got "4"',
    ],
    [
      { workerOptions: { resourceLimits: { codeRangeSizeMb: 0 } } },
      'codeRangeSizeMb of workerOptions of createRuntime() must be a number of MiB above 0, got 0',
    ],
    [{ workerOptions: { env: 'A=1' } }, 'env of workerOptions of createRuntime() must be an object, got "A=1"'],
    [
      { workerOptions: { execArgv: '--no-warnings' } },
      'execArgv of workerOptions of createRuntime() must be a list of flags, got "--no-warnings"',
    ],
    [{ workerOptions: { execArgv: [1] } }, 'must be a list of flags, got an array of 1'],
  ])('%j is refused', (options, message) => {
    expect(make(options)).toThrow(refused(message));
  });

  test('right ones make a runtime that starts no thread before its first run', async () => {
    const right: readonly RuntimeOptions[] = [
      {},
      { threads: 1024 },
      { entry: new URL('file:///nowhere.js') },
      { workerOptions: { resourceLimits: { stackSizeMb: 4 }, env: { A: '1' }, execArgv: ['--no-warnings'] } },
    ];
    for (const options of right) {
      await using one = createRuntime(options);
      expect(one.runs).toEqual([]);
      expect(one.threads).toBe(options.threads ?? runtimeThreads());
    }
  });
});

function runtimeThreads(): number {
  return createRuntime().threads;
}
