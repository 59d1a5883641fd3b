/**
 * The laws of the rooms that a linter cannot state: which word may be said in which file, where an import may point,
 * how long a file may be and how it begins. Reads the sources as syntax trees, so comments and texts may say any word.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const maxLines = 350;
const maxIntroLines = 8;

/** What a room may import: rooms by path, packages by name (node: is open to all). */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  runtime: ['runtime', 'msgpackr'],
  operators: ['operators', 'runtime', 'rxjs'],
  src: ['src', 'operators', 'runtime', 'rxjs', 'tsx', 'ws', 'fast-check'],
};
/** What only one folder may import: an optional peer, and what RxJS does not promise. */
const importedIn: readonly { readonly specifier: RegExp; readonly home: string }[] = [
  { specifier: /^fast-check(?:\/|$)/, home: 'src/testing/' },
  { specifier: /^rxjs\/internal\//, home: 'src/testing/' },
  { specifier: /^ws(?:\/|$)/, home: 'src/ws/' },
];
const sourceRooms = Object.keys(mayImport);
const rooms = [...sourceRooms, 'bench', 'test'];

/** Words with a home. Every home must use its word, else the table is out of date. */
const pinned: readonly { readonly words: readonly string[]; readonly homes: readonly string[] }[] = [
  { words: ['Atomics'], homes: ['runtime/ring.ts', 'runtime/channel.ts'] },
  {
    words: ['performance.now', 'Date.now', 'process.hrtime', 'node:timers', 'node:timers/promises'],
    homes: ['runtime/clock.ts'],
  },
  // Those of testing give RxJS other ones of these names.
  {
    words: ['setTimeout', 'setInterval', 'setImmediate'],
    homes: ['runtime/clock.ts', 'src/testing/providers.ts', 'src/testing/queues.ts', 'src/testing/testRuntime.ts'],
  },
  { words: ['new Worker'], homes: ['runtime/pool.ts'] },
];

interface Source {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly text: string;
}

function sourcesOf(room: string): readonly Source[] {
  if (!existsSync(join(root, room))) return [];
  return readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[cm]?[jt]sx?$/.test(name))
    .map((name) => posix.join(room, name.replaceAll('\\', '/')))
    .filter((path) => !path.includes('node_modules/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

interface Said {
  readonly words: ReadonlySet<string>;
  readonly imports: readonly string[];
}

/** Names, dotted names, `new` expressions and module specifiers of a file. */
function said(source: Source): Said {
  const words = new Set<string>();
  const imports: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) words.add(node.text);
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      words.add(`${node.expression.text}.${node.name.text}`);
    }
    if (ts.isNewExpression(node)) {
      const made = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
      if (ts.isIdentifier(made)) words.add(`new ${made.text}`);
    }
    const specifier = specifierOf(node);
    if (specifier !== undefined) imports.push(specifier);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(source.path, source.text, ts.ScriptTarget.Latest, true));
  for (const specifier of imports) words.add(specifier);
  return { words, imports };
}

function specifierOf(node: ts.Node): string | undefined {
  const at =
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
      ? node.moduleSpecifier
      : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
        ? node.arguments[0]
        : ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)
          ? node.argument.literal
          : undefined;
  return at !== undefined && ts.isStringLiteral(at) ? at.text : undefined;
}

/** Where an import leads: `node:`, a room, or a package. */
function targetOf(path: string, specifier: string): string {
  if (specifier.startsWith('node:')) return 'node:';
  const full = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier;
  const [first = '', second = ''] = full.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

/** All that a source file says against the laws of its room, as sentences. */
function offences(source: Source): readonly string[] {
  const { path, text } = source;
  const room = path.slice(0, path.indexOf('/'));
  const { words, imports } = said(source);
  const found: string[] = [];
  for (const pin of pinned) {
    if (pin.homes.includes(path)) continue;
    for (const word of pin.words) {
      if (words.has(word)) found.push(`${path} says ${word}, which belongs in ${pin.homes.join(' and ')}`);
    }
  }
  for (const specifier of imports) {
    const target = targetOf(path, specifier);
    if (target !== 'node:' && !mayImport[room]?.includes(target)) found.push(`${path} imports ${specifier}`);
    const kept = importedIn.find((one) => one.specifier.test(specifier) && !path.startsWith(one.home));
    if (kept !== undefined) found.push(`${path} imports ${specifier}, which only ${kept.home} may`);
  }
  for (const silencer of text.match(/biome-ignore|@ts-(?:ignore|nocheck|expect-error)/g) ?? []) {
    found.push(`${path} silences a check with ${silencer}`);
  }
  const intro = /^(?:#!.*\n)?\/\*\*([\s\S]*?)\*\//.exec(text)?.[1];
  const lines = intro?.split('\n').filter((line) => /[^\s*]/.test(line)).length ?? 0;
  if (lines === 0) found.push(`${path} does not begin with a /** comment that says what it is`);
  if (lines > maxIntroLines) found.push(`${path} begins with a comment of ${lines} lines, more than ${maxIntroLines}`);
  return found;
}

function shapeOffences({ path, text }: Source): readonly string[] {
  const lines = text.replace(/\n$/, '').split('\n').length;
  const vague = /(?:^|[-_.])(?:utils?|helpers?|common|managers?|base|misc)\.[^/]*$|(?:Utils?|Helpers?|Manager)\./.exec(
    posix.basename(path),
  );
  return [
    ...(lines > maxLines ? [`${path} has ${lines} lines, more than ${maxLines}`] : []),
    ...(vague === null ? [] : [`${path} is named after nothing: a file is named by its noun or operator`]),
  ];
}

describe('rooms', () => {
  test.each(sourceRooms)('law: every file of %s keeps to its room', (room) => {
    const sources = sourcesOf(room);
    expect(sources.length, `${room} has no source file: was it moved?`).toBeGreaterThan(0);
    expect(sources.flatMap(offences)).toEqual([]);
  });

  test.each(rooms)('law: the files of %s are short and bear a noun', (room) => {
    expect(sourcesOf(room).flatMap(shapeOffences)).toEqual([]);
  });

  test.each(rooms)('law: %s has a README that states its law', (room) => {
    expect(existsSync(join(root, room, 'README.md')), `${room}/README.md is missing`).toBe(true);
  });

  test.each(pinned.flatMap(({ words, homes }) => homes.map((home) => [home, words] as const)))(
    'law: %s is at home with its word',
    (home, words) => {
      expect(existsSync(join(root, home)), `${home} is missing: the table of pinned words is out of date`).toBe(true);
      const spoken = said({ path: home, text: readFileSync(join(root, home), 'utf8') }).words;
      expect(words.some((word) => spoken.has(word))).toBe(true);
    },
  );

  test('law: the scan sees what it forbids, and only that', () => {
    const seen = (path: string, ...lines: string[]): readonly string[] =>
      offences({ path, text: ['/** What it is. */', ...lines].join('\n') });
    expect(seen('runtime/a.ts', '// Atomics, setTimeout', "const a = 'new Worker(';")).toEqual([]);
    expect(seen('runtime/clock.ts', 'export const a = setTimeout(f, Date.now());')).toEqual([]);
    expect(seen('runtime/a.ts', 'Atomics.load(a, 0);')).toHaveLength(1);
    expect(seen('runtime/pump.ts', 'globalThis.setImmediate(f); performance.now();')).toHaveLength(2);
    expect(seen('src/a.ts', "import { setTimeout as s } from 'node:timers/promises';")).toHaveLength(2);
    expect(seen('src/a.ts', "new Worker(''); new threads.Worker('');")).toHaveLength(1);
    expect(seen('runtime/a.ts', "import { map } from 'rxjs';", "export * from 'rxjs/ajax';")).toHaveLength(2);
    expect(seen('runtime/host/a.ts', "type A = import('../../src/a.js').A;")).toHaveLength(1);
    expect(seen('operators/a.ts', "import '../src/a.js'; await import('../test/a.js');")).toHaveLength(2);
    expect(seen('operators/a.ts', "import { errors } from '../runtime/errors.js';")).toEqual([]);
    const inner = ["import type { Arbitrary } from 'fast-check';", "import { a } from 'rxjs/internal/a';"];
    expect(seen('src/testing/a.ts', ...inner)).toEqual([]);
    expect(seen('src/a.ts', ...inner)).toHaveLength(2);
    expect(seen('operators/a.ts', ...inner)).toHaveLength(3);
    expect(seen('src/ws/a.ts', "import type { WebSocket } from 'ws';")).toEqual([]);
    expect(seen('src/edges/a.ts', "import type { WebSocket } from 'ws';")).toHaveLength(1);
    expect(seen('src/a.ts', '// @ts-ignore')).toHaveLength(1);
    expect(offences({ path: 'src/a.ts', text: 'export const a = 1;' })).toHaveLength(1);
    expect(offences({ path: 'src/a.ts', text: `/**\n${' * a\n'.repeat(9)} */` })).toHaveLength(1);
    expect(offences({ path: 'src/a.ts', text: `/**\n${' * a\n'.repeat(8)} */` })).toEqual([]);
    expect(shapeOffences({ path: 'src/utils.ts', text: '\n'.repeat(351) })).toHaveLength(2);
    expect(shapeOffences({ path: 'src/keyUtils.ts', text: '' })).toHaveLength(1);
    expect(shapeOffences({ path: 'operators/debatch.ts', text: '\n'.repeat(350) })).toEqual([]);
  });
});
