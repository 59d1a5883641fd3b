/**
 * State that all copies of the package share on a thread of ours.
 * A loader may give the module of a topology another copy than the one the thread has started from: `require` of an ES
 * module, transpiled; a bundle with a copy inside. Owns the names of such state, whose form is that of version 1.
 * Never shares anything on the caller's thread, where each copy runs its own topologies.
 */

import { isMillraceThread } from './runtime.js';

export function sharedByCopies<T extends object>(name: string, make: () => T): T {
  if (!isMillraceThread()) return make();
  const shared = globalThis as unknown as Record<symbol, T | undefined>;
  const key = Symbol.for(`millrace.${name}/1`);
  shared[key] ??= make();
  return shared[key];
}
