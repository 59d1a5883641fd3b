/**
 * The blocks of the README: files, which of them are run, what they print, and the commands of recipes.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const readme: string = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');

export interface Block {
  readonly language: string;
  readonly info: string;
  readonly text: string;
}

export interface File {
  readonly name: string;
  readonly run: boolean;
  /** The recipe whose commands use this file, where no file that is run does. */
  readonly recipe: string | undefined;
  readonly text: string;
}

export const blocks: readonly Block[] = [...readme.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)].map(
  ([, language, info, text]) => ({
    language: language as string,
    info: (info as string).trim(),
    text: text as string,
  }),
);

const recipeOf = (info: string): string | undefined => /recipe=(\S+)/.exec(info)?.[1];

export const files: readonly File[] = blocks.flatMap(({ info, text }) => {
  const name = /file=(\S+)/.exec(info)?.[1];
  return name === undefined ? [] : [{ name, run: info.endsWith(' run'), recipe: recipeOf(info), text }];
});

/** Texts of the blocks `output=NAME` or `prints=NAME`, by name. */
export function texts(key: 'output' | 'prints'): ReadonlyMap<string, string> {
  return new Map(
    blocks.flatMap(({ info, text }) =>
      info.startsWith(`${key}=`) ? [[info.slice(key.length + 1), text] as const] : [],
    ),
  );
}

/** The lines of each recipe, by name. */
export const commands: ReadonlyMap<string, readonly string[]> = new Map(
  blocks.flatMap(({ language, info, text }) => {
    const name = recipeOf(info);
    return language === 'sh' && name !== undefined ? [[name, text.trim().split('\n')] as const] : [];
  }),
);
