/**
 * How the command line ends: a code, and what went wrong as text.
 * Owns the codes and the form of a failure.
 */

import { isMillraceError } from '../../runtime/errors.js';

export interface Exit {
  /** 0 done, 1 failed, 2 bad usage, 130 stopped by the second signal, 141 the reader of stdout left. */
  readonly code: 0 | 1 | 2 | 130 | 141;
  readonly failure?: string;
}

/** The message, which begins with the code, and the stack of the user's own error. */
export function failureText(reason: unknown): string {
  if (!isMillraceError(reason)) return reason instanceof Error ? (reason.stack ?? String(reason)) : String(reason);
  const { message, cause, code } = reason;
  // The stack of a source or of a package that is missing leads to nothing of the user's.
  const own =
    cause instanceof Error && code !== 'ERR_SOURCE' && !('code' in cause && cause.code === 'MODULE_NOT_FOUND');
  const stack = own ? cause.stack : undefined;
  return stack === undefined ? message : `${message}\n  caused by ${stack.replaceAll('\n', '\n  ')}`;
}
