/** The type of builtRelay.mjs. */

import type { Topology } from 'millrace';
import type { Observable } from 'rxjs';

export declare const builtRelay: Topology<number, Observable<number>>;
