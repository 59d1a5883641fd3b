/**
 * relay.ts as a build would leave it: what a thread loads where no TypeScript has to be read.
 */

import { gather, topology } from 'millrace';
import { map } from 'millrace/operators';

export const builtRelay = topology(import.meta.url, (numbers$) =>
  numbers$.pipe(
    map((n) => n),
    gather({ name: 'second' }),
    map((n) => n),
  ),
);
