/**
 * fast-check, loaded when first needed: it is an optional peer.
 * Owns the loading. Must give the instance that the user imports, where there is a choice.
 */

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type fc from 'fast-check';
import { MillraceError } from '../../runtime/errors.js';

export type FastCheck = typeof fc;

let loaded: FastCheck | undefined;

/** `what` needs it, and the user gets to know that when there is none. */
export function fastCheck(what: string): FastCheck {
  loaded ??= load(what);
  return loaded;
}

function load(what: string): FastCheck {
  const require = createRequire(import.meta.url);
  try {
    try {
      return (require(place()) as Loaded).default;
    } catch {
      // Where require() of ES modules is off, or modules are loaded by other means: its arbitraries work with another copy, too.
      return (require('fast-check') as Loaded).default;
    }
  } catch (cause) {
    throw new MillraceError('ERR_OPTION', `${what} needs fast-check: npm install --save-dev fast-check`, { cause });
  }
}

interface Loaded {
  readonly default: FastCheck;
}

/** The file that `import` loads; `require` would find another one. */
function place(): string {
  return fileURLToPath(import.meta.resolve('fast-check'));
}
