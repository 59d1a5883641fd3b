/**
 * `args`: data for `build`, cloned so that every executor has its own.
 * Owns the refusal that names the path of what cannot be cloned.
 */

import { MillraceError } from '../runtime/errors.js';
import { show } from '../runtime/option.js';
import { isPlain } from '../runtime/plain.js';
import { property } from '../runtime/refusal.js';

/** The arguments after the input: none, or one clone. SharedArrayBuffers stay shared. */
export function checkArgs(args: unknown, given: boolean): readonly unknown[] {
  if (!given || args === undefined) return [];
  const clone = cloneArgs([args]);
  const found = firstOf(() => instance(args, 'args', new Set()));
  if (found === undefined) return clone;
  const message = `${found.path} is ${show(found.value)}, of which a clone has the fields alone. Pass data only, and make the object inside build`;
  throw new MillraceError('ERR_ARGS', message);
}

export function cloneArgs(args: readonly unknown[]): readonly unknown[] {
  try {
    return structuredClone(args);
  } catch (cause) {
    const found = firstOf(() => innermost(args[0], 'args', new Set()));
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

/** None where a getter or a proxy throws, or the nesting is too deep to be searched. */
function firstOf(search: () => Found | undefined): Found | undefined {
  try {
    return search();
  } catch {
    return undefined;
  }
}

/** The innermost part that structuredClone refuses. */
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

/** The first part that a clone makes a plain object of, without its methods. */
function instance(value: unknown, path: string, seen: Set<unknown>): Found | undefined {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) return undefined;
  seen.add(value);
  if (Array.isArray(value)) {
    // Without the list that partsOf makes: tables are long.
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] !== 'object') continue;
      const found = instance(value[i], `${path}[${i}]`, seen);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const container = value instanceof Map || value instanceof Set || isPlain(value);
  if (!container && Object.getPrototypeOf(value) !== null)
    return isPlain(structuredClone(value)) ? { path, value } : undefined;
  for (const [step, part] of partsOf(value)) {
    const found = instance(part, path + step, seen);
    if (found !== undefined) return found;
  }
  return undefined;
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
