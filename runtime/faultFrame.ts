/**
 * A fault as the payload of an error frame.
 */

import { MillraceError } from './errors.js';
import type { Fault } from './fault.js';

export function encodeFault(fault: Fault): Uint8Array {
  return Buffer.from(JSON.stringify(fault));
}

/** `payload` must not lie in memory that is reused. */
export function decodeFault(payload: Uint8Array): Fault {
  try {
    return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString()) as Fault;
  } catch (cause) {
    throw new MillraceError('ERR_FRAME', 'an error frame is damaged', { cause });
  }
}
