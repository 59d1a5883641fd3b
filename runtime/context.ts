/**
 * Asynchronous context: what is called for somebody is called in the AsyncLocalStorage context of that somebody.
 * Owns nothing: a context lives as long as what holds it. Entered once a slice, never once a value.
 */

import { AsyncResource } from 'node:async_hooks';

/** Does `work` in the context in which this was made. Entered again from inside itself, it is as it was changed there. */
export type Context = <T>(work: () => T) => T;

export function currentContext(): Context {
  const resource = new AsyncResource('millrace', { requireManualDestroy: true });
  return (work) => resource.runInAsyncScope(work);
}
