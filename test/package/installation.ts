/**
 * The package as a user gets it: the packed tarball in a new folder outside the repository, and commands run there.
 * Needs a fresh build (`npm test` makes one); packs without scripts, because other tests are reading `dist`.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';

export const root: string = fileURLToPath(new URL('../..', import.meta.url));

export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Installation {
  readonly tarball: string;
  /** The folder of the user's own files. */
  readonly app: string;
  /** The package in its `node_modules`. */
  readonly installed: string;
  /** Runs a command and expects it to succeed without a word on stderr; returns what it printed. */
  output(cwd: string, command: string, ...args: string[]): Promise<string>;
  run(cwd: string, command: string, ...args: string[]): Promise<Printed>;
  remove(): void;
}

/** The dependencies and tools come from the repository, so that nothing needs a network. */
export async function install(dependencies: readonly string[]): Promise<Installation> {
  expect(existsSync(join(root, 'dist')), 'there is no dist: run "npm run build" first').toBe(true);
  const temp = mkdtempSync(join(tmpdir(), 'millrace-installed-'));
  const app = join(temp, 'app');
  const modules = join(app, 'node_modules');
  const installed = join(modules, 'millrace');
  const run = runner(temp);
  const output = async (cwd: string, command: string, ...args: string[]): Promise<string> => {
    const printed = await run(cwd, command, ...args);
    const said = `${command} ${args.join(' ')}\n${printed.stdout}\n${printed.stderr}`;
    expect(printed, said).toMatchObject({ code: 0, stderr: '' });
    return printed.stdout;
  };
  await output(root, 'npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', temp);
  const tarball = join(temp, readdirSync(temp).find((name) => name.endsWith('.tgz')) ?? 'none.tgz');
  mkdirSync(installed, { recursive: true });
  await output(root, 'tar', '-xzf', tarball, '-C', installed, '--strip-components', '1');
  for (const name of [...dependencies, '.bin']) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  writeFileSync(join(app, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n');
  return { tarball, app, installed, output, run, remove: () => rmSync(temp, { recursive: true, force: true }) };
}

function runner(home: string): Installation['run'] {
  const path = [join(root, 'node_modules', '.bin'), process.env['PATH'] ?? ''].join(delimiter);
  // What the test runner puts into the environment must not reach the user's process.
  const env = { PATH: path, HOME: process.env['HOME'] ?? home, NO_COLOR: '1' };
  return async (cwd, command, ...args) => {
    try {
      return { code: 0, ...(await promisify(execFile)(command, args, { cwd, env, timeout: 60_000 })) };
    } catch (failed) {
      const { code, stdout, stderr } = failed as Printed;
      if (typeof code !== 'number') throw failed;
      return { code, stdout, stderr };
    }
  };
}
