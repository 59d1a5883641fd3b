/** A process with a run on threads ends as any process does, under whatever flags it was started. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const long = process.env['MILLRACE_LONG'] === '1';
const script = fileURLToPath(new URL('./fixtures/living.mjs', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { timeout: 30_000 }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr });
    });
  });
}

const ways = [
  ['exit', 3, null, 'exit 3'],
  ['throws', 1, null, 'exit 1'],
  ['rejects', 1, null, 'exit 1'],
  ['killed', null, 'SIGTERM', ''],
  ['handled', 0, null, 'SIGTERM exit 0'],
  ['leaves', 0, null, 'exit 0'],
] as const;
const short: readonly string[] = ['throws', 'killed', 'leaves'];

test.concurrent.each(ways.filter(([way]) => long || short.includes(way)))(
  'a process that %s',
  async (way, code, signal, printed) => {
    const ended = await run(script, way);
    expect([ended.code, ended.signal, ended.stdout.trim().replaceAll('\n', ' ')]).toEqual([code, signal, printed]);
  },
);

test.concurrent('under --inspect threads start all the same', async () => {
  const { code, stderr } = await run('--inspect=127.0.0.1:0', script, 'leaves');
  expect([code, stderr]).toEqual([0, expect.stringContaining('Debugger listening')]);
});

test.concurrent('with --enable-source-maps the stack of a step leads to the line that was written', async () => {
  const written = `import { isMainThread } from 'node:worker_threads';
import { shuffle, topology } from 'millrace';
import { map } from 'millrace/operators';
import { type Observable, of } from 'rxjs';

interface Order {
  readonly total: number;
}

const priced = topology(import.meta.url, (order$: Observable<Order>) =>
  order$.pipe(
    shuffle(),
    map(({ total }: Order): number => {
      if (total < 0) throw new RangeError('below zero');
      return total;
    }),
  ),
);
if (isMainThread) of({ total: -1 }).pipe(priced()).subscribe({ error: (e) => console.log(e.message, e.cause.stack) });
`;
  const folder = await mkdtemp(join(tmpdir(), 'millrace-maps-'));
  try {
    const { outputText, sourceMapText } = ts.transpileModule(written, {
      fileName: 'prices.ts',
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, sourceMap: true },
    });
    await writeFile(join(folder, 'prices.ts'), written);
    await writeFile(join(folder, 'prices.js'), outputText);
    await writeFile(join(folder, 'prices.js.map'), sourceMapText ?? '');
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await mkdir(join(folder, 'node_modules'));
    await symlink(join(root, 'node_modules/rxjs'), join(folder, 'node_modules/rxjs'));
    await symlink(root, join(folder, 'node_modules/millrace'));
    const { stdout } = await run('--enable-source-maps', join(folder, 'prices.js'));
    expect(stdout).toContain('map in segment "shuffle-1"');
    expect(stdout).toMatch(/RangeError: below zero\n.*prices\.ts:14:/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
