/**
 * `args`: data for `build`, cloned so that every executor has its own.
 * Owns the refusal that names the path of what cannot be cloned.
 */

import { MillraceError } from '../runtime/errors.js';
import { show } from '../runtime/option.js';
import { property } from '../runtime/refusal.js';

/** The arguments after the input: none, or one clone. SharedArrayBuffers stay shared. */
export function checkArgs(args: unknown, given: boolean): readonly unknown[] {
  return given && args !== undefined ? cloneArgs([args]) : [];
}

export function cloneArgs(args: readonly unknown[]): readonly unknown[] {
  try {
    return structuredClone(args);
  } catch (cause) {
    const found = unclonable(args[0]);
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

/** The innermost part that structuredClone refuses; none where a getter or a proxy throws. */
function unclonable(args: unknown): Found | undefined {
  try {
    return innermost(args, 'args', new Set());
  } catch {
    return undefined;
  }
}

function innermost(value: unknown, path: string, seen: Set<unknown>): Found | undefined {
  if (clones(value) || seen.has(value)) return undefined;
  seen.add(value);
  if (typeof value === 'object' && value !== null) {
    for (const [step, part] of partsOf(value)) {
      const found = innermost(part, path + step, seen);
      if (found !== undefined) return found;
    }
  }
  return { path, value };
}

/** Steps are written as in ERR_VALUE. */
function partsOf(value: object): [step: string, part: unknown][] {
  if (value instanceof Set) return [...value].map((part, index) => [`.values()[${index}]`, part]);
  if (value instanceof Map) {
    return [...value].flatMap(([key, part], index) => [
      [`.keys()[${index}]`, key],
      [typeof key === 'string' ? `.get(${JSON.stringify(key)})` : `.values()[${index}]`, part],
    ]);
  }
  return Object.entries(value).map(([key, part]) => [Array.isArray(value) ? `[${key}]` : property(key), part]);
}

function clones(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
