/**
 * How late stamped values arrive on a thread, and the clock that both threads share.
 */

import { type Topology, topology } from 'millrace';
import { mergeMap } from 'millrace/operators';
import type { Observable } from 'rxjs';

export interface Stamped {
  readonly word: string;
  readonly count: number;
  /** When it was sent; 0 asks for the delays so far. */
  readonly sentNs: number;
}

/** Monotonic, the same on all threads of the process; whole nanoseconds are exact for a hundred days. */
export function nowNs(): number {
  return Number(process.hrtime.bigint());
}

/** Collects delays in nanoseconds; the same on both sides of the comparison. */
export class Delays {
  #ns: number[] = [];

  /** The delays, when they are asked for. */
  take({ sentNs }: Stamped): readonly number[] | undefined {
    if (sentNs > 0) {
      this.#ns.push(nowNs() - sentNs);
      return undefined;
    }
    const all = this.#ns;
    this.#ns = [];
    return all;
  }
}

export const stopwatch: Topology<Stamped, Observable<readonly number[]>> = topology(
  import.meta.url,
  (stamped$: Observable<Stamped>) => {
    const delays = new Delays();
    return stamped$.pipe(
      mergeMap((stamped) => {
        const all = delays.take(stamped);
        return all === undefined ? [] : [all];
      }),
    );
  },
);
