import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withTables } from './tables.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

interface Block {
  readonly language: string;
  readonly info: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...readme.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)].map(
  ([, language, info, text]) => ({
    language: language as string,
    info: (info as string).trim(),
    text: text as string,
  }),
);
const files = blocks.flatMap(({ language, info, text }) => {
  const name = /file=(\S+)/.exec(info)?.[1];
  return name === undefined ? [] : [{ name, language, run: info.endsWith(' run'), text }];
});
const outputs = new Map(
  blocks.flatMap(({ info, text }) =>
    info.startsWith('output=') ? [[info.slice('output='.length), text] as const] : [],
  ),
);

describe('the README', () => {
  let folder = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-readme-'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules', 'millrace'));
    for (const name of ['rxjs', 'tsx', 'typescript'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    for (const { name, text } of files) writeFileSync(join(folder, name), text);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('every block of code is a file that is run, or one that such a file imports', () => {
    const code = blocks.filter(({ language }) => /^(ts|js)$/.test(language));
    expect(code.filter(({ info }) => !info.startsWith('file='))).toEqual([]);
    const run = files.filter((file) => file.run);
    expect(run.length).toBeGreaterThan(5);
    for (const file of files.filter((other) => !other.run)) {
      const imported = file.name.replace(/\.ts$/, '.js');
      expect(
        run.some(({ text }) => text.includes(`'./${imported}'`)),
        `${file.name} is imported by a block that runs`,
      ).toBe(true);
    }
    expect([...outputs.keys()].sort()).toEqual(run.map(({ name }) => name).sort());
  });

  test.each(files.filter((file) => file.run).map(({ name }) => name))(
    '%s prints what the README says',
    async (name) => {
      const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', name], {
        cwd: folder,
        timeout: 25_000,
      });
      expect(stdout).toBe(outputs.get(name));
    },
  );

  test('the tables are those of the code (npm run docs)', () => {
    expect(readme).toBe(withTables(readme));
  });

  test('links to other files lead somewhere', () => {
    for (const [, target] of readme.matchAll(/\]\((?!https?:|#)([^)#]+)\)/g)) {
      expect(() => readFileSync(join(root, target as string)), `${target}`).not.toThrow();
    }
  });

  test('links within the page lead to a heading', () => {
    const anchors = [...readme.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      (title as string)
        .toLowerCase()
        .replace(/[^\p{L}\p{N} -]/gu, '')
        .replaceAll(' ', '-'),
    );
    for (const [, anchor] of readme.matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(anchor);
  });
});
