/**
 * What becomes of values of a source that cannot be asked to wait, while there is no room for them.
 * Owns the queue of those that wait and the strategies by which it stays bounded. Knows no time and no thread.
 * Never decides what to do where a strategy neither drops nor grows: it says that it is full.
 */

import { MillraceError } from './errors.js';
import { none } from './input.js';
import { checkKeys, isOptions, nearest, show } from './option.js';
import { Queue } from './queue.js';

/**
 * - `auto`: a source that emits while it is being subscribed is held, as RxJS would hold it; any other has `capacity` values of
 *   room, then `ERR_OVERFLOW`
 * - `block`: whoever emits is held until there is room
 * - `dropOldest`, `dropNewest`: of `capacity` waiting values the oldest is thrown away for the new one, or the new one itself
 * - `latest`: only the newest value waits, whatever `capacity` says
 * - `error`: `capacity` values of room, then `ERR_OVERFLOW`, also for a source that could be held
 * - `buffer`: without bound
 */
export type Overflow = 'auto' | 'block' | 'dropOldest' | 'dropNewest' | 'latest' | 'error' | 'buffer';

export interface OverflowOptions {
  /** Default: `auto`. */
  readonly strategy?: Overflow;
  /** Values that may wait; default 1,024. */
  readonly capacity?: number;
  /** Called with every value that is thrown away, in the order in which that happens. */
  readonly onDrop?: (value: unknown) => void;
}

/** Checked, with defaults. */
export interface OverflowRule {
  readonly strategy: Overflow;
  readonly capacity: number;
  readonly onDrop: ((value: unknown) => void) | undefined;
}

export const overflowDefaults: { readonly strategy: Overflow; readonly capacity: number } = {
  strategy: 'auto',
  capacity: 1_024,
};

const strategies: readonly Overflow[] = ['auto', 'block', 'dropOldest', 'dropNewest', 'latest', 'error', 'buffer'];

/** Checks the option `overflow`; throws ERR_OPTION. */
export function checkOverflow(overflow: unknown): OverflowRule {
  const given = isOptions(overflow) ? (overflow as OverflowOptions) : { strategy: overflow };
  if (isOptions(overflow)) checkKeys(overflow, ['strategy', 'capacity', 'onDrop'], 'overflow');
  const {
    strategy = overflowDefaults.strategy,
    capacity = overflowDefaults.capacity,
    onDrop,
  } = given as OverflowOptions;
  if (!strategies.includes(strategy)) {
    const near = typeof strategy === 'string' ? nearest(strategy, strategies) : undefined;
    const hint = near === undefined ? `it is one of ${strategies.join(', ')}` : `did you mean ${near}?`;
    throw new MillraceError('ERR_OPTION', `overflow got the strategy ${show(strategy)}: ${hint}`);
  }
  if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= 2 ** 31)) {
    throw new MillraceError(
      'ERR_OPTION',
      `overflow.capacity must be a whole number from 1 to 2^31, got ${show(capacity)}`,
    );
  }
  if (onDrop !== undefined && typeof onDrop !== 'function') {
    throw new MillraceError('ERR_OPTION', `overflow.onDrop must be a function, got ${show(onDrop)}`);
  }
  return { strategy, capacity: strategy === 'latest' ? 1 : capacity, onDrop };
}

/** The values that wait. */
export class Waiting {
  readonly #rule: OverflowRule;
  readonly #queue = new Queue<unknown>();
  /** Values thrown away. */
  dropped = 0;

  constructor(rule: OverflowRule) {
    this.#rule = rule;
  }

  get length(): number {
    return this.#queue.length;
  }

  /** Takes a value in, or throws one away as the strategy says; false: it is full, and the value is still the caller's. */
  offer(value: unknown): boolean {
    const { strategy, capacity } = this.#rule;
    if (this.#queue.length < capacity || strategy === 'buffer') {
      this.#queue.push(value);
      return true;
    }
    if (strategy === 'dropNewest') {
      this.#drop(value);
      return true;
    }
    if (strategy !== 'dropOldest' && strategy !== 'latest') return false;
    const oldest = this.#queue.shift();
    this.#queue.push(value);
    this.#drop(oldest);
    return true;
  }

  /** Takes in a value whose source is held until it has been taken: it has its place whatever the capacity. */
  add(value: unknown): void {
    this.#queue.push(value);
  }

  /** The oldest value, or `none`. */
  take(): unknown {
    return this.#queue.length === 0 ? none : this.#queue.shift();
  }

  /** Lets go of all of them. */
  clear(): void {
    while (this.#queue.length > 0) this.#queue.shift();
  }

  /** Why the source ends. */
  overflowed(who: string): MillraceError {
    const { capacity } = this.#rule;
    return new MillraceError(
      'ERR_OVERFLOW',
      `${who} emits faster than its values are taken, and ${capacity} of them wait already. Give it demand by pull(), fromRequest() or fromPublisher(), ` +
        'or say what shall become of them by `overflow`: block, dropOldest, dropNewest, latest, buffer (without bound), or a higher capacity',
    );
  }

  // Order: the queue is whole again before the user's function runs, which may emit.
  #drop(value: unknown): void {
    this.dropped++;
    this.#rule.onDrop?.(value);
  }
}
