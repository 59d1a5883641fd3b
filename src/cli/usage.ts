/**
 * A call of the command line that cannot be meant: exit code 2, and where help is.
 * Owns the class. Never used for what goes wrong in a run.
 */

import { nearest } from '../../runtime/option.js';

export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

/** What was meant by a name that does not exist: the nearest one, or all there are. */
export function hintFor(name: string, existing: readonly string[]): string {
  const near = nearest(name, existing);
  return near === undefined ? `there are ${existing.join(', ')}` : `did you mean ${near}?`;
}
