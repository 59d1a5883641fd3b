/**
 * The topology or source a module exports, and the copy of the library it was made with.
 * Owns the rules by which it is found. Knows it by its shape, since that copy may be another one than this.
 */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMillraceError, MillraceError } from '../../runtime/errors.js';
import type { PlanDescription } from '../describe.js';
import { isTypeScript, readTypeScript } from '../load.js';
import { pull } from '../pull.js';
import { createRuntime } from '../runtime.js';
import { hintFor, UsageError } from './usage.js';

export interface Library {
  readonly pull: typeof pull;
  readonly createRuntime: typeof createRuntime;
}

/** A topology or a source. */
export interface Applicable {
  (options: object): unknown;
  readonly name: string;
  describe(options: object): PlanDescription;
}

export interface Target {
  readonly applicable: Applicable;
  readonly library: Library;
}

export async function loadTarget(module: string, exported: string | undefined): Promise<Target> {
  const url = module.startsWith('file:') ? module : pathToFileURL(resolve(module)).href;
  const namespace = await load(url, module);
  return { applicable: choose(module, applicablesOf(namespace), exported), library: await libraryOf(url) };
}

async function load(url: string, module: string): Promise<object> {
  if (!existsSync(new URL(url))) throw new UsageError(`there is no module ${module}`);
  try {
    if (isTypeScript(url) && !startedWithTsx()) await readTypeScript(url);
    return (await import(url)) as object;
  } catch (cause) {
    if (isMillraceError(cause)) throw cause;
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new MillraceError('ERR_START', `${module} did not load: ${said}`, { cause });
  }
}

/** By `node --import tsx` or `tsx` itself. */
function startedWithTsx(): boolean {
  return [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((flag) => /\btsx\b/.test(flag));
}

/** By name; what a CommonJS module exports stands under `default`. */
function applicablesOf(namespace: object): ReadonlyMap<string, Applicable> {
  const found = new Map<string, Applicable>();
  const nested: unknown = (namespace as { readonly default?: unknown }).default;
  const objects = typeof nested === 'object' && nested !== null ? [namespace, nested] : [namespace];
  for (const object of objects) {
    for (const [name, value] of Object.entries(object))
      if (isApplicable(value) && !found.has(name)) found.set(name, value);
  }
  return found;
}

function isApplicable(value: unknown): value is Applicable {
  const { inline, describe } = (value ?? {}) as { readonly inline?: unknown; readonly describe?: unknown };
  return typeof value === 'function' && typeof inline === 'function' && typeof describe === 'function';
}

function choose(module: string, found: ReadonlyMap<string, Applicable>, exported: string | undefined): Applicable {
  const names = [...found.keys()];
  if (names.length === 0) throw new UsageError(`${module} exports no topology and no source`);
  if (exported !== undefined) {
    const named = found.get(exported);
    if (named !== undefined) return named;
    throw new UsageError(
      `${module} exports no topology or source named ${JSON.stringify(exported)}: ${hintFor(exported, names)}`,
    );
  }
  const only = found.get('default') ?? (new Set(found.values()).size === 1 ? found.get(names[0] as string) : undefined);
  if (only === undefined)
    throw new UsageError(`${module} exports several: choose one by --export ${names.join(' | ')}`);
  return only;
}

/** The copy that `module` sees: `pull` has demand only for topologies of its own copy. */
async function libraryOf(module: string): Promise<Library> {
  const require = createRequire(module);
  try {
    const path = require.resolve('millrace');
    const required: unknown = require.cache[path]?.exports;
    return (required ?? (await import(pathToFileURL(path).href))) as Library;
  } catch {
    // It got its topology from a package that sees one.
    return { pull, createRuntime };
  }
}
