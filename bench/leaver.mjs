/**
 * A script as an app has it: a run on two threads, a line when it is done, and nothing that ends the process.
 */

import { range } from 'rxjs';
import { builtRelay } from './builtRelay.mjs';

range(0, 100)
  .pipe(builtRelay({ threads: 2 }))
  .subscribe({ complete: () => console.log('done') });
