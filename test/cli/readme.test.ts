/** The command line of the README, from the packed tarball. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commands, files, texts } from '../docs/blocks.js';
import { install } from '../package/installation.js';

test('the commands of the README print what stands there', async () => {
  const { app, installed, run, remove } = await install(['rxjs', 'msgpackr', 'tsx', 'typescript']);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { bin: { millrace: string } };
  const main = join(installed, manifest.bin.millrace);
  expect(existsSync(main) && readFileSync(main, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true);
  for (const { name, text } of files) writeFileSync(join(app, name), text);
  let printed = '';
  for (const line of commands.get('cli') ?? []) {
    // npx finds what npm has linked; here nothing was installed by npm.
    const { code, stdout, stderr } = await run(app, 'sh', '-c', line.replaceAll('npx millrace', `node ${main}`));
    expect(code, `${line}\n${stderr}`).toBe(0);
    printed += stdout;
  }
  expect(printed).toBe(texts('prints').get('cli'));
  remove();
});
