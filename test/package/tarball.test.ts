/**
 * The package as a user gets it: packed, proved by publint and attw, and used from a folder outside the repository.
 * Needs a fresh build (`npm test` makes one); packs without scripts, because other tests are reading `dist`.
 */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as rx from 'rxjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const temp = mkdtempSync(join(tmpdir(), 'millrace-tarball-'));
const app = join(temp, 'app');
const installed = join(app, 'node_modules', 'millrace');
let tarball = '';

const run = promisify(execFile);
// What the test runner puts into the environment must not reach the user's process.
const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? temp, NO_COLOR: '1' };
const bin = (name: string): string => join(root, 'node_modules', '.bin', name);

async function output(cwd: string, command: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(command, args, { cwd, env }).catch(
    (failed: { stdout?: string; stderr?: string }) => {
      throw new Error(`${command} ${args.join(' ')}\n${failed.stdout ?? ''}\n${failed.stderr ?? ''}`, {
        cause: failed,
      });
    },
  );
  expect(stderr, `${command} ${args.join(' ')} wrote to stderr`).toBe('');
  return stdout;
}

beforeAll(async () => {
  expect(existsSync(join(root, 'dist')), 'there is no dist: run "npm run build" first').toBe(true);
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', temp], { cwd: root, env });
  tarball = join(temp, readdirSync(temp).find((name) => name.endsWith('.tgz')) ?? 'none.tgz');
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components', '1']);
  // The dependencies come from here, so that the proof needs no network.
  for (const name of ['rxjs', 'msgpackr', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(app, 'node_modules', name));
  writeFileSync(join(app, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n');
});

afterAll(() => rmSync(temp, { recursive: true, force: true }));

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
}

const printNames = (load: (name: string) => string): string => `
const root = ${load('millrace')};
const operators = ${load('millrace/operators')};
console.log(JSON.stringify({ root: Object.keys(root).sort(), operators: Object.keys(operators).sort() }));
`;

async function namesSeenBy(file: string, script: string): Promise<{ root: string[]; operators: string[] }> {
  writeFileSync(join(app, file), script);
  return JSON.parse(await output(app, process.execPath, file));
}

const asModule = (): Promise<{ root: string[]; operators: string[] }> =>
  namesSeenBy(
    'names.mjs',
    printNames((name) => `await import('${name}')`),
  );

describe('tarball', () => {
  test('law: it holds the build, the sources its maps point to, and nothing of bench or test', () => {
    const files = filesOf(installed);
    expect(files).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']));
    expect(files.filter((file) => /(?:^|\/)(?:bench|test|node_modules)\//.test(file))).toEqual([]);
    const maps = files.filter((file) => file.endsWith('.map'));
    expect(maps.length).toBeGreaterThan(0);
    const dangling = maps.flatMap((file) => {
      const map: { sources: string[] } = JSON.parse(readFileSync(join(installed, file), 'utf8'));
      return map.sources
        .map((source) => resolve(installed, dirname(file), source))
        .filter((source) => !existsSync(source));
    });
    expect(dangling).toEqual([]);
  });

  test('law: publint has nothing to say', async () => {
    await output(root, bin('publint'), 'run', tarball, '--strict');
  });

  test('law: the types of every entry point resolve', async () => {
    await output(root, bin('attw'), tarball, '--profile', 'esm-only', '--no-emoji');
  });

  test('law: import and require give the same names', async () => {
    const imported = await asModule();
    expect(imported.root).toEqual(expect.arrayContaining(['topology', 'source', 'pull', 'shuffle', 'keyBy']));
    expect(imported.operators).toContain('map');
    const required = await namesSeenBy(
      'names.cjs',
      printNames((name) => `require('${name}')`),
    );
    const names = (list: readonly string[]): readonly string[] =>
      list.filter((name) => !/^__esModule$|^module\.exports$/.test(name));
    expect({ root: names(required.root), operators: names(required.operators) }).toEqual(imported);
  });

  test('law: the root exports no name that RxJS has', async () => {
    const { root: names } = await asModule();
    expect(names.filter((name) => Object.hasOwn(rx, name))).toEqual([]);
  });

  test('law: the declarations stand alone under strict flags', async () => {
    writeFileSync(
      join(app, 'app.ts'),
      [
        "import { keyBy, pull, shuffle, source, topology } from 'millrace';",
        "import { map } from 'millrace/operators';",
        'export const all: readonly unknown[] = [keyBy, map, pull, shuffle, source, topology];',
      ].join('\n'),
    );
    const flags =
      '--noEmit --strict --exactOptionalPropertyTypes --target es2023 --lib es2023,esnext.disposable --module nodenext --types node';
    await output(app, bin('tsc'), ...flags.split(' '), 'app.ts');
  });
});
