/**
 * Loads the module of a topology on a thread, TypeScript included.
 * Owns the registration of tsx where the running Node does not strip types. Never guesses another module.
 */

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { MillraceError } from '../runtime/errors.js';
import type { Build } from '../runtime/logic.js';
import type { RunOrder } from '../runtime/order.js';
import { cloneArgs } from './args.js';
import { whileLoading } from './loading.js';
import { find } from './registry.js';
import { buildOnce } from './topology.js';

export async function loadTopology(order: RunOrder): Promise<Build> {
  const { module } = order.topology;
  await whileLoading(async () => {
    if (/\.[cm]?tsx?$/.test(new URL(module).pathname)) await readTypeScript(module);
    await import(module);
  });
  const registered = find(order.topology);
  return () => buildOnce(registered, cloneArgs(order.args));
}

let registered = false;

/** A loader flag of the process does not reach its threads on Node 20, so tsx is registered here, from the user's own project. */
async function readTypeScript(module: string): Promise<void> {
  const { typescript } = process.features as { readonly typescript?: string | false };
  if (registered || (typescript !== undefined && typescript !== false)) return;
  let api: string;
  try {
    api = createRequire(module).resolve('tsx/esm/api');
  } catch (cause) {
    const message = `${module} is TypeScript, which Node ${process.versions.node} does not run: install tsx (npm install --save-dev tsx) or build it first`;
    throw new MillraceError('ERR_START', message, { cause });
  }
  const { register } = (await import(pathToFileURL(api).href)) as { register: () => unknown };
  register();
  registered = true;
}
