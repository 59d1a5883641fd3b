/**
 * The recipes of the README as a newcomer follows them: from the packed tarball, in an empty folder, by the commands
 * that stand there. Files that are run alone are held by test/docs/readme.test.ts in the same way.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands, files, texts } from '../docs/blocks.js';
import { type Installation, install } from './installation.js';

const fixtures = fileURLToPath(new URL('./fixtures', import.meta.url));
const outputs = texts('output');
const prints = texts('prints');

let installation: Installation;
let app = '';

beforeAll(async () => {
  installation = await install([
    'rxjs',
    'msgpackr',
    'fast-check',
    'ws',
    '@types',
    'tsx',
    'typescript',
    'vite',
    'vitest',
    'esbuild',
  ]);
  app = installation.app;
  cpSync(fixtures, app, { recursive: true });
  for (const { name, text } of files) writeFileSync(join(app, name), text);
});

afterAll(() => installation.remove());

const node = (...args: string[]): Promise<string> => installation.output(app, process.execPath, ...args);

/** The lines of a recipe, one after the other; what each of them printed. */
async function follow(recipe: string): Promise<readonly string[]> {
  const printed: string[] = [];
  for (const line of commands.get(recipe) ?? []) {
    const { code, stdout, stderr } = await installation.run(app, 'sh', '-c', line);
    expect(code, `${line}\n${stdout}\n${stderr}`).toBe(0);
    printed.push(stdout);
  }
  return printed;
}

/** Runs a bundle where nothing else is. */
async function alone(file: string): Promise<string> {
  const folder = join(app, '..', 'alone');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  cpSync(join(app, 'out'), folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return installation.output(folder, process.execPath, file);
}

// cli: test/cli/readme.test.ts.
test('every recipe of the README is followed', () => {
  expect([...commands.keys()].sort()).toEqual(['cli', 'esbuild', 'tsx', 'vite', 'vitest']);
});

describe.concurrent('without a build', () => {
  test('JavaScript needs nothing but node', async () => {
    expect(await node('shout-app.js')).toBe(outputs.get('shout-app.js'));
  });

  test('TypeScript by tsx', async () => {
    const expected = outputs.get('app.ts');
    expect(await follow('tsx')).toEqual([expected, expected]);
  });

  test('TypeScript by node: where types are stripped; elsewhere node says what it does not know', async () => {
    writeFileSync(join(app, 'stripped.ts'), readFileSync(join(app, 'app.ts'), 'utf8').replace('.js', '.ts'));
    const { typescript = false } = process.features as { readonly typescript?: string | false };
    const { code, stdout, stderr } = await installation.run(app, process.execPath, 'stripped.ts');
    if (typescript === false)
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('ERR_UNKNOWN_FILE_EXTENSION') });
    else expect({ code, stdout }).toEqual({ code: 0, stdout: outputs.get('app.ts') });
  });

  test('TypeScript in a project of CommonJS', async () => {
    const folder = join(app, 'commonjs');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }');
    for (const name of ['word-count.ts', 'app.ts']) cpSync(join(app, name), join(folder, name));
    expect(await node('--import', 'tsx', 'commonjs/app.ts')).toBe(outputs.get('app.ts'));
  });

  test('types are checked by the flags that the README names', async () => {
    const flags = /`(--strict [^`]+)`/.exec(readFileSync(join(installation.installed, 'README.md'), 'utf8'))?.[1];
    const checked = files.map(({ name }) => name).filter((name) => /^(?!.*\.test\.).*\.ts$/.test(name));
    // The declarations themselves are checked by tarball.test.ts.
    await installation.output(app, 'tsc', '--noEmit', '--skipLibCheck', ...(flags ?? '').split(' '), ...checked);
  });
});

describe.concurrent('CommonJS', () => {
  test.each(['thirds.cjs', 'thirds.mjs'])('a topology in a module that %s loads', async (file) => {
    expect(await node(file)).toBe('1\n2\n');
  });
});

describe('vitest', () => {
  test('runs a topology on threads', async () => {
    expect((await follow('vitest'))[0]).toMatch(/Tests\s+1 passed/);
  });

  test('its mocks reach the calling thread, and its files no other', async () => {
    cpSync(join(app, 'runner.js'), join(app, 'runner.test.js'));
    expect(await installation.output(app, 'vitest', 'run', 'runner.test.js')).toMatch(/Tests\s+2 passed/);
  });
});

describe('bundles', () => {
  const esbuild = (...args: string[]): Promise<string> => {
    rmSync(join(app, 'out'), { recursive: true, force: true });
    const flags = ['--bundle', '--format=esm', '--platform=node', '--outdir=out', '--log-level=warning'];
    return installation.output(app, 'esbuild', ...flags, ...args);
  };

  test.each(['esbuild', 'vite'])('%s: the app, the topology and the entry of threads', async (recipe) => {
    rmSync(join(app, 'out'), { recursive: true, force: true });
    expect((await follow(recipe)).at(-1)).toBe(prints.get('esbuild'));
    expect(await alone('bundled.js')).toBe(prints.get('esbuild'));
  });

  test('with packages outside, the topology is the only other entry', async () => {
    await esbuild('--splitting', '--packages=external', 'app.ts', 'word-count.ts');
    expect(await node('out/app.js')).toBe(outputs.get('app.ts'));
    rmSync(join(app, 'out'), { recursive: true });
    await installation.output(app, 'vite', 'build', '--config', 'vite.outside.js', '--logLevel=error');
    expect(await node('out/app.js')).toBe(outputs.get('app.ts'));
  });

  test('one file with its topologies, beside the entry of threads', async () => {
    await esbuild('guarded.js', 'worker=millrace/worker');
    expect(await alone('guarded.js')).toBe('8\n');
  });

  test('in CommonJS as well', async () => {
    await esbuild(
      'guarded.cjs',
      'worker=millrace/worker',
      '--format=cjs',
      '--out-extension:.js=.cjs',
      '--log-level=error',
    );
    expect(await alone('guarded.cjs')).toBe('3\n');
    const forgotten = await installation.run(app, process.execPath, 'out/guarded.cjs', 'without entry');
    expect(forgotten.stderr).toContain('ERR_OPTION: in a bundle of CommonJS, make millrace/worker an entry of its own');
  });

  test('without the entry of threads, the error says what is missing', async () => {
    await esbuild('app.ts');
    const { code, stderr } = await installation.run(app, process.execPath, 'out/app.js');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /ERR_START: .*threads start from file:.*worker\.js, which is not there: a bundle needs millrace\/worker/,
    );
  });
});

test('what a newcomer may get wrong says how it is done', async () => {
  const lines = (await node('mistakes.js', '10')).trim().split('\n');
  const told = new Map(lines.map((line) => line.split(/: (.*)/) as [string, string]));
  expect(Object.fromEntries(told)).toEqual({
    argv: '20',
    'made later': expect.stringMatching(
      /^ERR_PLAN_MISMATCH: .*none named "later" there\. What varies goes into args\. Create topologies at module level/,
    ),
    class: expect.stringMatching(/^ERR_ARGS: args is an object of Rate, .* make the object inside build$/),
    function: expect.stringMatching(
      /^ERR_ARGS: args\.of is a function of, .* make functions and connections inside build$/,
    ),
    promise: 'ERR_VALUE: value is a promise; return promises from mergeMap() or concatMap(), which wait for them',
    'not called': expect.stringMatching(/^ERR_OPTION: scaled got an Observable: .*so \.pipe\(scaled\(\)\) it is$/),
    'bare args': expect.stringMatching(
      /^ERR_OPTION: topology "rated" has no option "rate": .*; what build shall get goes into args$/,
    ),
    'no module': expect.stringMatching(
      /^ERR_OPTION: the first argument .* import\.meta\.url or __filename, got a function$/,
    ),
    'import.meta': expect.stringMatching(/^ERR_OPTION: .* import\.meta\.url or __filename, got an object with a url$/),
  });
});
