/**
 * Errors nobody is left to hear: of clean-ups, once what they belong to has ended.
 * Owns the warning they become. Never throws, and never ends a thread: other runs may share it.
 */

import { said } from './fault.js';

/** `whose` says which clean-up it was: `finalize(…)`, `the input`. */
export function unheard(whose: string, reason: unknown): void {
  for (const each of partsOf(reason))
    warn(`a clean-up of ${whose} failed when it had ended: ${said(each, true)}`, each);
}

/** A warning of the process, with the stack of what was thrown. */
export function warn(message: string, reason: unknown): void {
  const detail = stackOf(reason);
  process.emitWarning(message, { type: 'MillraceWarning', ...(detail === undefined ? {} : { detail }) });
}

/** RxJS gathers what several clean-ups threw. */
function partsOf(reason: unknown): readonly unknown[] {
  if (!(reason instanceof Error) || reason.name !== 'UnsubscriptionError') return [reason];
  const { errors } = reason as { readonly errors?: unknown };
  return Array.isArray(errors) ? errors : [reason];
}

function stackOf(reason: unknown): string | undefined {
  try {
    const stack: unknown = reason instanceof Error ? reason.stack : undefined;
    return typeof stack === 'string' ? stack : undefined;
  } catch {
    return undefined;
  }
}
