/**
 * The topologies each module has created on this thread, in order: how a thread finds the one it shall run.
 * Owns the identity rules. Never imports a module.
 */

import { basename, extname, isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Observable } from 'rxjs';
import { checkName } from '../operators/cut.js';
import { MillraceError } from '../runtime/errors.js';
import { show } from '../runtime/option.js';
import type { TopologyId } from '../runtime/order.js';

export interface TopologyOptions {
  /** Needed when one module makes several topologies conditionally or in a loop; unique in its module. */
  readonly name?: string;
}

/** `build` as the recorder calls it. */
export type BuildFunction = (input: Observable<never>, args: readonly unknown[]) => unknown;

export interface Registered {
  readonly name: string | undefined;
  /** For messages: the given name, or one made of module and place. */
  readonly title: string;
  readonly module: string;
  readonly place: number;
  readonly build: BuildFunction;
}

const modules = new Map<string, Registered[]>();

export function register(module: unknown, build: BuildFunction, options: TopologyOptions = {}): Registered {
  const url = moduleUrl(module);
  const siblings = modules.get(url) ?? [];
  const { name } = options;
  if (name !== undefined) {
    checkName(name, 'name of topology()');
    if (siblings.some((sibling) => sibling.name === name)) {
      throw new MillraceError(
        'ERR_NAME',
        `${url} has two topologies named ${JSON.stringify(name)}: give each its own name`,
      );
    }
  }
  const place = siblings.length;
  const file = basename(fileURLToPath(url));
  const title = name ?? `${file.slice(0, file.length - extname(file).length)}${place === 0 ? '' : `#${place + 1}`}`;
  const registered = { name, title, module: url, place, build };
  modules.set(url, [...siblings, registered]);
  return registered;
}

/** The identity a thread gets. */
export function idOf({ module, name, place }: Registered): TopologyId {
  return { module, name, place, siblings: namesIn(module) };
}

/** Finds a topology after its module was imported; refuses when the module looks different here. */
export function find(id: TopologyId): Registered {
  const here = namesIn(id.module);
  if (JSON.stringify(here) !== JSON.stringify(id.siblings)) {
    throw new MillraceError(
      'ERR_PLAN_MISMATCH',
      `${id.module} created ${listed(id.siblings)} on the caller's thread and ${listed(here)} on the thread that shall run it. ` +
        'Create topologies unconditionally at module level, or give them names',
    );
  }
  return (modules.get(id.module) ?? [])[id.place] as Registered;
}

function namesIn(module: string): readonly (string | null)[] {
  return (modules.get(module) ?? []).map((registered) => registered.name ?? null);
}

function listed(names: readonly (string | null)[]): string {
  const topologies = names.length === 1 ? '1 topology' : `${names.length} topologies`;
  return names.length === 0 ? 'no topology' : `${topologies} (${names.map((name) => name ?? 'unnamed').join(', ')})`;
}

/** `import.meta.url`, a URL, or a path such as `__filename`. */
function moduleUrl(module: unknown): string {
  if (module instanceof URL && module.protocol === 'file:') return module.href;
  if (typeof module === 'string') {
    if (module.startsWith('file:')) return new URL(module).href;
    if (isAbsolute(module)) return pathToFileURL(module).href;
  }
  throw new MillraceError(
    'ERR_OPTION',
    `the first argument must be the module that creates it, import.meta.url or __filename, got ${show(module)}`,
  );
}
