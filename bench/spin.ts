/**
 * A step that costs a stated time per value, alone and on two executors: what the break-even is measured with.
 */

import { shuffle, type Topology, topology } from 'millrace';
import { map } from 'millrace/operators';
import type { Observable } from 'rxjs';
import type { Counted } from './values.js';

/** Turns of a loop that nothing can leave out, since its result is part of the answer. */
export function spin({ id, count }: Counted, turns: number): number {
  let bits = id;
  for (let i = 0; i < turns; i++) bits = (Math.imul(bits ^ (bits >>> 15), 0x2c1b_3c6d) + count) | 0;
  return bits & 0xff;
}

/** How many turns last a microsecond here: the fastest of several tries, the first of which make the loop fast. */
export function turnsPerUs(): number {
  const [calls, turns] = [2_000, 1_000];
  let fastestMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 20; i++) {
    const started = performance.now();
    for (let id = 0; id < calls; id++) spin({ word: '', count: i, id }, turns);
    fastestMs = Math.min(fastestMs, performance.now() - started);
  }
  return (calls * turns) / (fastestMs * 1000);
}

export const spun: Topology<Counted, Observable<number>, [turns: number]> = topology(
  import.meta.url,
  (values$: Observable<Counted>, turns: number) =>
    values$.pipe(
      shuffle({ parallelism: 2 }),
      map((value) => spin(value, turns)),
    ),
);
