import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Installation, install, root } from '../package/installation.js';
import { blocks, commands, files, readme, texts } from './blocks.js';
import { withTables } from './tables.js';

const outputs = texts('output');

/** Run by tsx, as a reader does it. To load that in every process and thread of all blocks takes longer than what they do. */
const asWritten = files.find(({ run }) => run)?.name;

function javaScript(fileName: string, text: string): string {
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    inlineSourceMap: true,
    inlineSources: true,
    verbatimModuleSyntax: true,
  };
  return ts.transpileModule(text, { fileName, compilerOptions }).outputText;
}

describe('the README', () => {
  let installation: Installation;
  /** The blocks without their types. */
  let built: string;

  beforeAll(async () => {
    installation = await install(['rxjs', 'msgpackr', 'fast-check', 'tsx', 'typescript', 'ws']);
    built = join(installation.app, 'built');
    mkdirSync(built);
    for (const { name, text } of files) {
      writeFileSync(join(installation.app, name), text);
      writeFileSync(join(built, name.replace(/\.ts$/, '.js')), name.endsWith('.ts') ? javaScript(name, text) : text);
    }
  });

  afterAll(() => installation.remove());

  test('every block of code is a file that is run, or one that such a file imports', () => {
    const code = blocks.filter(({ language }) => /^(ts|js)$/.test(language));
    expect(code.filter(({ info }) => !info.startsWith('file='))).toEqual([]);
    const run = files.filter((file) => file.run);
    expect(run.length).toBeGreaterThan(5);
    for (const { recipe } of files) if (recipe !== undefined) expect([...commands.keys()]).toContain(recipe);
    for (const file of files.filter((other) => !other.run && other.recipe === undefined)) {
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
      const script = name.replace(/\.ts$/, '.js');
      const printed =
        name === asWritten
          ? await installation.run(installation.app, process.execPath, '--import', 'tsx', name)
          : await installation.run(built, process.execPath, '--enable-source-maps', script);
      expect(printed, printed.stderr).toMatchObject({ code: 0, stdout: outputs.get(name) });
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
