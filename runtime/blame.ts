/**
 * What the error of a run says: who failed, and where.
 * Owns the sentence. Never changes an error of ours but for its place, nor one of the user at all: that becomes the cause.
 */

import { type ErrorCode, isMillraceError, located, MillraceError, type Place } from './errors.js';
import { said } from './fault.js';

/** Errors of ours keep their code and learn their place; an error of the user becomes the cause. */
export function errorOf(reason: unknown, arose: 'source' | 'step', place: Place): MillraceError {
  if (isMillraceError(reason) && reason.topology === undefined) return located(reason, place);
  const code: ErrorCode = arose === 'source' ? 'ERR_SOURCE' : 'ERR_OPERATOR';
  return new MillraceError(code, `${whoFailed(arose, place)} failed: ${said(reason, true)}`, {
    ...place,
    cause: reason,
  });
}

/** Why a run did not start. */
export function startError(reason: unknown, topology: string): MillraceError {
  if (isMillraceError(reason) && (reason.code === 'ERR_PLAN_MISMATCH' || reason.code === 'ERR_START'))
    return located(reason, { topology });
  const message = `topology ${JSON.stringify(topology)} did not start: ${said(reason)}`;
  return new MillraceError('ERR_START', message, { topology, cause: reason });
}

/** `map in segment "split" (pipe at word-count.ts:12)`, `the input`. */
function whoFailed(arose: 'source' | 'step', { operator, segment, at }: Place): string {
  const who = operator ?? (arose === 'source' ? 'the source' : 'a step');
  const where = operator === 'the input' ? '' : ` in segment ${JSON.stringify(segment ?? '')}`;
  return `${who}${where}${at === undefined ? '' : ` (pipe at ${at.replace(/^.*[\\/]|:\d+$/g, '')})`}`;
}
