/**
 * Loads the module of a topology on a thread, TypeScript included.
 * Owns the registration of tsx where the running Node does not strip types. Never guesses another module.
 */

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Sites } from '../operators/recording.js';
import { MillraceError } from '../runtime/errors.js';
import type { Build } from '../runtime/logic.js';
import type { RunOrder } from '../runtime/order.js';
import { cloneArgs } from './args.js';
import { whileLoading } from './loading.js';
import { find } from './registry.js';

/** Of builds with the same args: several simulated threads get the very same ones. */
const sitesOf = new WeakMap<readonly unknown[], Sites>();

/** The build of a topology whose module is loaded here. */
export function loadHere(order: RunOrder): Build {
  const registered = find(order.topology);
  const sites = sitesOf.get(order.args) ?? [];
  sitesOf.set(order.args, sites);
  return () => registered.logic(cloneArgs(order.args), sites);
}

export async function loadTopology(order: RunOrder): Promise<Build> {
  const { module } = order.topology;
  await whileLoading(async () => {
    if (isTypeScript(module)) await readTypeScript(module);
    await import(module);
  });
  return loadHere(order);
}

export function isTypeScript(module: string): boolean {
  return /\.[cm]?tsx?$/.test(new URL(module).pathname);
}

let typeScript: Promise<void> | undefined;

/** Lets this thread import TypeScript. Once a thread; again only if the project of the last module had no tsx. */
export async function readTypeScript(module: string): Promise<void> {
  const { typescript } = process.features as { readonly typescript?: string | false };
  if (typescript !== undefined && typescript !== false) return;
  typeScript ??= registerTsx(module);
  try {
    await typeScript;
  } catch (reason) {
    typeScript = undefined;
    throw reason;
  }
}

/**
 * A loader flag of the process does not reach its threads on Node 20, so tsx is registered here, from the user's own project:
 * for `require`, which modules of a project without ES modules are made of, and for `import`.
 */
async function registerTsx(module: string): Promise<void> {
  let apis: readonly URL[];
  try {
    const require = createRequire(module);
    apis = [tsxApi(require, './cjs/api'), tsxApi(require, './esm/api')];
  } catch (cause) {
    const message = `${module} is TypeScript, which Node ${process.versions.node} does not run: install tsx (npm install --save-dev tsx) or build it first`;
    throw new MillraceError('ERR_START', message, { cause });
  }
  for (const api of apis) {
    const { register } = (await import(api.href)) as { register: () => unknown };
    register();
  }
}

/** `require.resolve` finds the CommonJS twin, which cannot register hooks for import: the package says where the other one is. */
function tsxApi(require: NodeJS.Require, name: string): URL {
  const manifest = require.resolve('tsx/package.json');
  const { exports } = require(manifest) as {
    readonly exports: Readonly<Record<string, { readonly import: { readonly default: string } }>>;
  };
  const path = exports[name]?.import.default;
  if (path === undefined) throw new Error(`${manifest} has no export ${name}`);
  return new URL(path, pathToFileURL(manifest));
}
