/**
 * What may befall an executor in a simulated world, once it has taken so many values.
 * Owns the kinds. The host makes them happen; the caller's own mishaps are up to whoever feeds and reads.
 */

export interface Mishap {
  /**
   * `die`: its thread is gone · `pause`: its thread stands still · `slow`: the value takes that long ·
   * `full`: no channel that leaves it has room · `lateDoorbell`: from then on its thread hears doorbells that late ·
   * `starve`: no further value can come before those in its open batches have left.
   */
  readonly kind: 'die' | 'pause' | 'slow' | 'full' | 'lateDoorbell' | 'starve';
  /** `segment/index`; none: the first for which it comes true. */
  readonly executor: string | undefined;
  /** Values taken before; 0: at its start. */
  readonly atValue: number;
  readonly forMs: number;
}
