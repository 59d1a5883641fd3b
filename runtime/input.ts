/**
 * What an executor reads: the frames of its channels (`inbox.ts`) or a source of its own (`feed.ts`).
 * Owns the contract, no state. Never waits: without a value it says `none`, and its bell or `wake` tells when to look again.
 */

/** There is no value now. */
export const none: unique symbol = Symbol('none');

export interface Input {
  /** The next value, or `none`. Throws what a source throws. */
  take(): unknown;
  /** All values were taken and no more will come. */
  readonly ended: boolean;
  /** No more values are wanted: producers are told, a source is closed. `ended` holds from now on. */
  finish(): void;
  /** After `finish`: throws away what has arrived since, and says how many values that were. */
  discard(): number;
}
