/**
 * A line of the input that cannot be read: where it is and why.
 * Owns the sentence. Whether it ends the run is decided by `--bad-lines`.
 */

import { MillraceError } from '../../runtime/errors.js';

export interface BadLine {
  /** Counted from 1. */
  readonly line: number;
  readonly reason: string;
}

/** `input` is the name of the file, or stdin. */
export function sentence(input: string, { line, reason }: BadLine): string {
  return `line ${line} of ${input} ${reason}`;
}

export function badLineError(input: string, bad: BadLine): MillraceError {
  return new MillraceError('ERR_SOURCE', `${sentence(input, bad)}; --bad-lines skip leaves such lines out`);
}
