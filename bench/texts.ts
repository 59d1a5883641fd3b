/**
 * Text that nobody here wrote and every clone has: the type declarations of TypeScript's library and of Node.
 */

import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export function declarations(): readonly string[] {
  const { resolve } = createRequire(import.meta.url);
  const folders = [dirname(resolve('typescript')), dirname(resolve('@types/node/package.json'))];
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.d.ts'))
      .sort()
      .map((name) => join(folder, name)),
  );
}
