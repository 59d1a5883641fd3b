import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as rx from 'rxjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Installation, install, root } from './installation.js';

let installation: Installation;

beforeAll(async () => {
  installation = await install(['rxjs', 'msgpackr', 'fast-check', '@types']);
});

afterAll(() => installation.remove());

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
}

const printNames = (load: (name: string) => string): string => `
const root = ${load('millrace')};
const operators = ${load('millrace/operators')};
console.log(JSON.stringify({ root: Object.keys(root).sort(), operators: Object.keys(operators).sort() }));
`;

async function namesSeenBy(file: string, script: string): Promise<{ root: string[]; operators: string[] }> {
  const { app, output } = installation;
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
    const { installed } = installation;
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
    await installation.output(root, 'publint', 'run', installation.tarball, '--strict');
  });

  test('law: the types of every entry point resolve', async () => {
    await installation.output(root, 'attw', installation.tarball, '--profile', 'esm-only', '--no-emoji');
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

  test('law: millrace/ws loads where ws is not installed', async () => {
    const { app, output } = installation;
    expect(existsSync(join(app, 'node_modules', 'ws'))).toBe(false);
    writeFileSync(join(app, 'sockets.mjs'), "console.log(Object.keys(await import('millrace/ws')).join());");
    expect(await output(app, process.execPath, 'sockets.mjs')).toBe('fromWebSocket,intoWebSocket\n');
  });

  test('law: the declarations stand alone under strict flags', async () => {
    const { app, output } = installation;
    writeFileSync(
      join(app, 'app.ts'),
      [
        "import { keyBy, pull, shuffle, source, topology } from 'millrace';",
        "import { map } from 'millrace/operators';",
        "import { arbitrary, captured, feeder, testClock } from 'millrace/testing';",
        "import { fromWebSocket, intoWebSocket } from 'millrace/ws';",
        'export const all: readonly unknown[] = [keyBy, map, pull, shuffle, source, topology];',
        'export const tests: readonly unknown[] = [arbitrary, captured, feeder, testClock];',
        'export const sockets: readonly unknown[] = [fromWebSocket, intoWebSocket];',
      ].join('\n'),
    );
    const flags =
      '--noEmit --strict --exactOptionalPropertyTypes --target es2023 --lib es2023,esnext.disposable --module nodenext --types node';
    await output(app, 'tsc', ...flags.split(' '), 'app.ts');
  });
});
