/**
 * State per key of one key-scoped step in one executor.
 * Owns the entries, indexed by the canonical key: -0 is 0, NaN is one key, arrays, bytes, dates and plain objects count by content.
 * Iterates in the order in which keys were first seen. Never shared between steps or executors.
 */

import { canonicalKey } from '../runtime/hash.js';

/** One key and what a step remembers of it. */
export interface Entry<S> {
  readonly key: unknown;
  state: S;
}

export class KeyedState<S> {
  readonly #entries = new Map<unknown, Entry<S>>();

  get(key: unknown): Entry<S> | undefined {
    return this.#entries.get(canonicalKey(key));
  }

  /** Adds a key that `get` did not find. */
  add(key: unknown, state: S): Entry<S> {
    const entry = { key, state };
    this.#entries.set(canonicalKey(key), entry);
    return entry;
  }

  entries(): IterableIterator<Entry<S>> {
    return this.#entries.values();
  }
}
