/**
 * What an executor reads: the frames of its channels (`inbox.ts`) or a source of its own (`feed.ts`).
 * Owns the contract, no state. Never waits: without a value it says `none`, and its bell or `wake` tells when to look again.
 */

/** There is no value now. The same in all copies of the package, which may meet on a thread. */
export const none: unique symbol = Symbol.for('millrace.none/1');

export interface Input {
  /** The next value, or `none`. Throws what a source throws. */
  take(): unknown;
  /** All values were taken and no more will come. */
  readonly ended: boolean;
  /** No more values are wanted: producers are told, a source is closed. `ended` holds from now on. */
  finish(): void;
  /** A source ends here; channels go on, for what is under way shall arrive. */
  drain(): void;
  /** After `finish`: throws away what has arrived since, and says how many values that were. */
  discard(): number;
}
