/**
 * The key register: the key `keyBy` gave to the value that is on its way through this thread's loop.
 * Owns that one variable. Set by the head of a keyed segment (inline: by keyBy around `next`), read by key-scoped steps.
 * Never outlives a delivery: whoever suspends a value saves the register and restores it on resuming.
 */

import { MillraceError } from '../runtime/errors.js';

/** No value is under way, or what is under way has lost its key. */
export const noKey: unique symbol = Symbol('no key');

let register: unknown = noKey;

export function setKey(key: unknown): void {
  register = key;
}

/** The register as it stands, `noKey` included: for saving and restoring. */
export function savedKey(): unknown {
  return register;
}

/** The key of the current value. */
export function currentKey(operator: string): unknown {
  if (register !== noKey) return register;
  throw new MillraceError(
    'ERR_KEY_LOST',
    `${operator} met a value whose key is unknown: it did not come from keyBy(), or an asynchronous or opaque step stands between. ` +
      'Put keyBy() directly before the key-scoped step',
    { operator },
  );
}
