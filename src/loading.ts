/**
 * Which modules this thread is loading: a topology must not be subscribed meanwhile.
 * Owns the loads under way and the error that goes with them.
 */

import { MillraceError } from '../runtime/errors.js';
import { sharedByCopies } from './copies.js';
import type { Registered } from './registry.js';
import { isMillraceThread } from './runtime.js';

/** Each load under way, as what refuses it. */
const loads = sharedByCopies('loads', () => new Set<(reason: MillraceError) => void>());

/** Imports a module; rejects with ERR_LOADING if a topology is subscribed meanwhile, even where that error is swallowed. */
export async function whileLoading(load: () => Promise<unknown>): Promise<void> {
  let refuse: (reason: MillraceError) => void = () => {};
  const refused = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  loads.add(refuse);
  try {
    // Not after the import: it may wait for that very subscription, or its error, caught by nobody, end the thread.
    await Promise.race([load(), refused]);
  } finally {
    loads.delete(refuse);
  }
}

/** The error for a subscription now, if this is a thread of ours that is loading. Of several modules none is known to be the one. */
export function refusedWhileLoading({ title, module }: Registered): MillraceError | undefined {
  if (loads.size === 0 || !isMillraceThread()) return undefined;
  const message =
    `topology ${JSON.stringify(title)} was subscribed while ${module} was being loaded on a thread. ` +
    "Give the topology a module of its own, or subscribe on the main thread only: `if (isMainThread) { … }` with isMainThread of 'node:worker_threads'";
  const error = new MillraceError('ERR_LOADING', message, { topology: title });
  for (const refuse of loads) refuse(error);
  return error;
}
