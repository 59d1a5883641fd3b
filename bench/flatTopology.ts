/** The topology of `flat`: its slowest stage takes a millisecond a value. */

import { gather, shuffle, type Topology, topology } from 'millrace';
import { map } from 'millrace/operators';
import type { Observable } from 'rxjs';

export interface Row {
  readonly id: number;
  readonly text: string;
}

/** Rows, or their JSON, to their ids. */
export const slowest: Topology<Row | string | Uint8Array, Observable<number>> = topology(
  import.meta.url,
  (rows$: Observable<Row | string | Uint8Array>) =>
    rows$.pipe(
      shuffle({ name: 'first' }),
      map((row) => (typeof row === 'string' ? (JSON.parse(row) as Row) : (row as Row))),
      gather({ name: 'slowest' }),
      map((row) => {
        const untilMs = performance.now() + 1;
        while (performance.now() < untilMs);
        return row.id;
      }),
    ),
);
