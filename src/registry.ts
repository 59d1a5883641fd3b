/**
 * The topologies each module has created on this thread, in order: how a thread finds the one it shall run.
 * Owns the identity rules. Never imports a module.
 */

import { basename, extname, isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Observable } from 'rxjs';
import { checkFunction, checkName } from '../operators/cut.js';
import { logicOf } from '../operators/logic.js';
import type { Sites } from '../operators/recording.js';
import { MillraceError } from '../runtime/errors.js';
import type { Logic } from '../runtime/logic.js';
import { checkKeys, isOptions, show } from '../runtime/option.js';
import type { TopologyId } from '../runtime/order.js';
import { sharedByCopies } from './copies.js';

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
  /** Runs `build` once, by the copy of the package it was written with. `sites`: of an earlier build with the same args. */
  logic(args: readonly unknown[], sites?: Sites): Logic;
}

const modules = sharedByCopies('registry', () => new Map<string, Registered[]>());

/** `given` is the user's own function, checked here; `build` calls it. */
export function register(module: unknown, given: unknown, build: BuildFunction, options: unknown = {}): Registered {
  const url = moduleUrl(module);
  checkFunction(given, 'the second argument of topology() and source()');
  if (!isOptions(options)) {
    throw new MillraceError('ERR_OPTION', `the options of topology() must be an object, got ${show(options)}`);
  }
  checkKeys(options, ['name'], 'topology()');
  const siblings = modules.get(url) ?? [];
  const { name } = options as TopologyOptions;
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
  const logic = (args: readonly unknown[], sites?: Sites): Logic =>
    logicOf(title, (input) => build(input, args), sites);
  const registered = { name, title, module: url, place, logic };
  modules.set(url, [...siblings, registered]);
  return registered;
}

/** The identity a thread gets. */
export function idOf({ module, name, place }: Registered): TopologyId {
  return { module, name, place, siblings: namesIn(module) };
}

/** Finds a topology after its module was imported: by its name, or by its place where the module looks the same here. */
export function find({ module, name, place, siblings }: TopologyId): Registered {
  const here = modules.get(module) ?? [];
  const names = namesIn(module);
  const found =
    name === undefined
      ? isSame(names, siblings)
        ? here[place]
        : undefined
      : here.find((other) => other.name === name);
  if (found !== undefined) return found;
  const missing = name === undefined ? '' : `, but none named ${JSON.stringify(name)} there`;
  throw new MillraceError(
    'ERR_PLAN_MISMATCH',
    `${module} created ${listed(siblings)} on the caller's thread and ${listed(names)} on the thread that shall run it${missing}. ` +
      'What varies goes into args. Create topologies at module level, unconditionally or each with a name',
  );
}

function isSame(names: readonly (string | null)[], others: readonly (string | null)[]): boolean {
  return names.length === others.length && names.every((name, i) => name === others[i]);
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
  const got = typeof module === 'object' && module !== null && 'url' in module ? 'an object with a url' : show(module);
  throw new MillraceError(
    'ERR_OPTION',
    `the first argument of topology() and source() must be their own module, import.meta.url or __filename, got ${got}`,
  );
}
