import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createRuntime } from 'millrace';
import { afterAll, describe, expect, test } from 'vitest';

const long = process.env['MILLRACE_LONG'] === '1';
const runtime = createRuntime({ threads: 1 });
afterAll(() => runtime.close());

describe('in a process of its own', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  /** A project with these files and packages. */
  function project(files: Readonly<Record<string, string>>, packages = ['rxjs', 'tsx']): string {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-loading-'));
    folders.push(folder);
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules', 'millrace'));
    for (const name of packages) symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return folder;
  }

  async function run(folder: string, ...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, timeout: 25_000 });
    return stdout.trim();
  }

  const squares = `n$.pipe(shuffle(), map((n) => n * n))`;
  const show = `subscribe({ next: (n) => console.log(n), error: (e) => console.log(e.message, '|', e.cause?.code) })`;

  test('a script of one file, guarded by isMainThread', async () => {
    const text = `
      import { isMainThread } from 'node:worker_threads';
      import { shuffle, topology } from 'millrace';
      import { map } from 'millrace/operators';
      import { of } from 'rxjs';
      const squares = topology(import.meta.url, (n$) => ${squares});
      if (isMainThread) of(1, 2).pipe(squares()).${show};`;
    expect(await run(project({ 'one.mjs': text }), 'one.mjs')).toBe('1\n4');
  });

  test('a script of one file without the guard says how to write it', async () => {
    const text = `
      import { shuffle, topology } from 'millrace';
      import { map } from 'millrace/operators';
      import { of } from 'rxjs';
      const squares = topology(import.meta.url, (n$) => ${squares});
      of(1, 2).pipe(squares()).${show};`;
    expect(await run(project({ 'one.mjs': text }), 'one.mjs')).toMatch(/if \(isMainThread\).* \| ERR_LOADING$/m);
  });

  const commonJs = (module: string): string => `
    const { shuffle, topology } = require('millrace');
    const { map } = require('millrace/operators');
    const { of } = require('rxjs');
    const { isMainThread } = require('node:worker_threads');
    const squares = topology(${module}, (n$) => ${squares});
    if (isMainThread && require.main === module) of(1, 2).pipe(squares()).${show};
    exports.squares = squares;`;

  test('a CommonJS script with __filename', async () => {
    const printed = await Promise.all([
      run(project({ 'one.cjs': commonJs('__filename') }), 'one.cjs'),
      run(project({ 'one.js': commonJs('__filename'), 'package.json': '{}' }), 'one.js'),
    ]);
    expect(printed).toEqual(['1\n4', '1\n4']);
  });

  test('modules of every kind, named by path, URL and text', async () => {
    const esm = (module: string, type: string): string => `
      import { shuffle, topology } from 'millrace';
      import { map } from 'millrace/operators';
      export const squares = topology(${module}, (n$${type}) => ${squares});`;
    const typed = `: import('rxjs').Observable<number>`;
    const files = {
      'a.mjs': esm('import.meta.url', ''),
      'b.mjs': esm('new URL(import.meta.url)', ''),
      'c.mjs': esm('import.meta.filename', ''),
      'd.js': esm('import.meta.url', ''),
      'e.cjs': commonJs('__filename'),
      'f.cjs': commonJs(`require('node:url').pathToFileURL(__filename)`),
      'g.ts': esm('import.meta.url', typed),
      'h.mts': esm('import.meta.url', typed),
      'i.ts': `import type { Observable } from 'rxjs';\nimport { squares as others } from './g.js';\nvoid others;${esm('import.meta.url', ': Observable<number>')}`,
      'j k.ts': esm('import.meta.url', typed),
    };
    // The scripts of one file above are of the others, or nearly; `i.ts` imports `g.ts`.
    const loaded = long ? Object.keys(files) : ['b.mjs', 'c.mjs', 'f.cjs', 'i.ts', 'j k.ts'];
    const app = `
      import { isMainThread } from 'node:worker_threads';
      import { lastValueFrom, of, toArray } from 'rxjs';
      for (const file of ${JSON.stringify(loaded)}) {
        const { squares } = await import(new URL(file, import.meta.url));
        console.log(file, ...(await lastValueFrom(of(1, 2, 3).pipe(squares(), toArray()))));
      }`;
    const folder = project({ ...files, 'app.mjs': app, 'package.json': '{ "type": "module" }' });
    const expected = loaded.map((file) => `${file} 1 4 9`);
    expect(await run(folder, '--import', 'tsx', 'app.mjs')).toBe(expected.join('\n'));
  });

  // There `require` of this package, an ES module, may give the topology another copy of it than its threads start from.
  test('TypeScript of a project without ES modules', async () => {
    const files = {
      'package.json': '{}',
      'words.ts': `
        import { pull, shuffle, topology } from 'millrace';
        import { map } from 'millrace/operators';
        import type { Observable } from 'rxjs';
        export const squares = topology(__filename, (n$: Observable<number>) => ${squares});
        export const pulled = topology(import.meta.url, (n$: Observable<number>) => pull(async function* () { yield 5 }).pipe(map((n) => n + 1)));
        export const failing = topology(__filename, (n$: Observable<number>) => n$.pipe(shuffle(), map(() => { throw new Error('no') })));
      `,
      'app.ts': `
        import { of, concat } from 'rxjs';
        import { isMillraceError } from 'millrace';
        import { failing, pulled, squares } from './words';
        concat(of(1, 2).pipe(squares()), of(1).pipe(pulled()), of(1).pipe(failing())).subscribe({
          next: (n) => console.log(n),
          error: (e) => console.log(e.code, isMillraceError(e)),
        });`,
      'app.mjs': `
        import { shuffle, topology } from 'millrace';
        import { map } from 'millrace/operators';
        import { of } from 'rxjs';
        const squares = topology(new URL('only.ts', import.meta.url), (n$) => ${squares});
        of(1, 2).pipe(squares()).${show};`,
      'only.ts': `
        import { shuffle, topology } from 'millrace';
        import { map } from 'millrace/operators';
        import type { Observable } from 'rxjs';
        export const squares = topology(__filename, (n$: Observable<number>) => ${squares});`,
      'loop.ts': `
        import { shuffle, topology } from 'millrace';
        import { of, type Observable } from 'rxjs';
        const squares = topology(__filename, (n$: Observable<number>) => n$.pipe(shuffle()));
        of(1).pipe(squares()).${show};`,
    };
    const folder = project(files);
    // Its threads have tsx by a flag of the process, or register it themselves.
    const printed = await Promise.all([run(folder, '--import', 'tsx', 'app.ts'), run(folder, 'app.mjs')]);
    expect(printed).toEqual(['1\n4\n6\nERR_OPERATOR true', '1\n4']);
    if (long) expect(await run(folder, '--import', 'tsx', 'loop.ts')).toMatch(/if \(isMainThread\).* \| ERR_LOADING$/m);
  });

  test('TypeScript without tsx says what to install', async () => {
    const app = `
      import { shuffle, topology } from 'millrace';
      import { of } from 'rxjs';
      const words = topology(new URL('words.ts', import.meta.url), (n$) => n$.pipe(shuffle()));
      of(1).pipe(words()).${show};`;
    const words = `
      import { shuffle, topology } from 'millrace';
      import type { Observable } from 'rxjs';
      topology(import.meta.url, (n$: Observable<number>) => n$.pipe(shuffle()));`;
    const output = await run(project({ 'app.mjs': app, 'words.ts': words }, ['rxjs']), 'app.mjs');
    const strips = (process.features as { typescript?: unknown }).typescript !== undefined;
    if (strips) expect(output).toBe('1');
    else
      expect(output).toMatch(
        /^ERR_START: file:.*\/words\.ts is TypeScript, which Node [\d.]+ does not run: install tsx \(npm install --save-dev tsx\) or build it first \| MODULE_NOT_FOUND$/,
      );
  });
});
