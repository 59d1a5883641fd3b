/**
 * Two executors that hand on what they get: a run of two threads with nothing else in it.
 */

import { gather, type Topology, topology } from 'millrace';
import { map } from 'millrace/operators';
import type { Observable } from 'rxjs';

export const relay: Topology<number, Observable<number>> = topology(import.meta.url, (numbers$: Observable<number>) =>
  numbers$.pipe(
    map((n) => n),
    gather({ name: 'second' }),
    map((n) => n),
  ),
);
