/**
 * `args`: data for `build`, cloned so that every executor has its own.
 * Owns the refusal that names the path of what cannot be cloned.
 */

import { MillraceError } from '../runtime/errors.js';
import { show } from '../runtime/option.js';

/** The arguments after the input: none, or one clone. SharedArrayBuffers stay shared. */
export function checkArgs(args: unknown, given: boolean): readonly unknown[] {
  return given && args !== undefined ? cloneArgs([args]) : [];
}

export function cloneArgs(args: readonly unknown[]): readonly unknown[] {
  try {
    return structuredClone(args);
  } catch (cause) {
    const found = unclonable(args[0], 'args', new Set());
    const what =
      found === undefined ? 'args cannot be cloned' : `${found.path} is ${show(found.value)}, which cannot be cloned`;
    throw new MillraceError('ERR_ARGS', `${what}. Pass data only; make functions and connections inside build`, {
      cause,
    });
  }
}

interface Found {
  readonly path: string;
  readonly value: unknown;
}

/** The innermost part that structuredClone refuses. */
function unclonable(value: unknown, path: string, seen: Set<unknown>): Found | undefined {
  if (clones(value) || seen.has(value)) return undefined;
  seen.add(value);
  if (typeof value === 'object' && value !== null) {
    const entries =
      value instanceof Map ? value.entries() : value instanceof Set ? value.entries() : Object.entries(value);
    for (const [key, part] of entries) {
      const name = typeof key === 'string' ? key : show(key);
      const step = Array.isArray(value)
        ? `[${name}]`
        : /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name)
          ? `.${name}`
          : `[${JSON.stringify(name)}]`;
      const found = unclonable(part, path + step, seen);
      if (found !== undefined) return found;
    }
  }
  return { path, value };
}

function clones(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
