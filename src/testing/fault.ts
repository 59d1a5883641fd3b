/**
 * What may go wrong in a simulation.
 * Owns the names. Never brings a fault about: that is the simulated host.
 */

/**
 * One fault, which happens once.
 *
 * - `die`: the thread of the executor dies once the executor has taken `atValue` values; 0: before the first.
 * - `pause`: after `atValue` values the executor's thread stands still for `forMs`.
 * - `slow`: the step that handles value number `atValue` takes `forMs`, in which the other threads do nothing either.
 * - `full`: after `atValue` values the channels that leave the executor have no room for `forMs`.
 * - `lateDoorbell`: from value number `atValue` on, the executor's thread hears that there is something to do `forMs` late.
 * - `starve`: after `atValue` values nothing more can come to the executor before what waits in its open batches has left.
 * - `sourceStall`: the input stands still for `forMs` after `atValue` values.
 * - `subscriberThrows`: the subscriber throws at output value number `atValue`.
 * - `unsubscribe`: the subscriber leaves after `atValue` output values.
 *
 * ```ts
 * simulate(wordCount(), { input: ['a b'], faults: [{ kind: 'die', executor: 'keyBy-2/0', atValue: 1 }] });
 * ```
 */
export interface Fault {
  readonly kind:
    | 'die'
    | 'pause'
    | 'slow'
    | 'full'
    | 'lateDoorbell'
    | 'starve'
    | 'sourceStall'
    | 'subscriberThrows'
    | 'unsubscribe';
  /** Whose, as `describe` and the metrics name it: `"words/0"`. Default: any. The last three kinds have no use for it. */
  readonly executor?: string;
  /** How many values before; default 0. */
  readonly atValue?: number;
  /** How long, in milliseconds. */
  readonly forMs?: number;
}
