/**
 * Operators of RxJS that an executor refuses at run time: where they would start their source again, and its input cannot.
 * The README's table is made of this one.
 */

import type { ErrorCode } from '../../runtime/errors.js';

export interface RefusedOperator {
  readonly name: string;
  readonly code: ErrorCode;
  /** The end of the source at which RxJS would subscribe it again. */
  readonly at: 'completion' | 'error';
  readonly when: string;
}

const atCompletion = 'its source has completed; until then it passes values on. Put it before or after the topology';
const atError =
  'its source has failed; until then it passes values on. Put it before or after the topology, or inside `perValue`';

export const refusedOperators: readonly RefusedOperator[] = [
  { name: 'repeat', code: 'ERR_NOT_REPEATABLE', at: 'completion', when: atCompletion },
  { name: 'repeatWhen', code: 'ERR_NOT_REPEATABLE', at: 'completion', when: atCompletion },
  { name: 'retry', code: 'ERR_NOT_REPEATABLE', at: 'error', when: atError },
  { name: 'retryWhen', code: 'ERR_NOT_REPEATABLE', at: 'error', when: atError },
];
