/**
 * Which module this thread is loading: a topology must not be subscribed meanwhile.
 * Owns that one fact and the error that goes with it.
 */

import { MillraceError } from '../runtime/errors.js';
import type { Registered } from './registry.js';
import { isMillraceThread } from './runtime.js';

let loading = 0;
let refused: MillraceError | undefined;

/** Imports a module; rejects with ERR_LOADING if a topology was subscribed meanwhile, even where that error was swallowed. */
export async function whileLoading(load: () => Promise<unknown>): Promise<void> {
  loading++;
  refused = undefined;
  try {
    await load();
  } finally {
    loading--;
  }
  if (refused !== undefined) throw refused;
}

/** The error for a subscription now, if this is a thread of ours that is loading a module. */
export function refusedWhileLoading({ title, module }: Registered): MillraceError | undefined {
  if (loading === 0 || !isMillraceThread()) return undefined;
  const message =
    `topology ${JSON.stringify(title)} was subscribed while ${module} was being loaded on a thread. ` +
    "Subscribe on the main thread only: `if (isMainThread) { … }` with isMainThread of 'node:worker_threads'";
  refused ??= new MillraceError('ERR_LOADING', message, { topology: title });
  return refused;
}
