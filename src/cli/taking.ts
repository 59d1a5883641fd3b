/**
 * Results taken as fast as the reader of stdout takes lines, and no faster: the run waits for it, and holds nothing in memory.
 * Owns the demand of one output. What cannot be asked, of an older copy of the library, is subscribed.
 */

import type { Observable } from 'rxjs';
import type { DemandObserver } from '../../runtime/demand.js';
import { askOf } from '../demand.js';

/** Results asked for at once: enough that to ask costs nothing, few enough to wait in memory. */
const window = 1_024;

/** `room` resolves when there is room for more; undefined: there is. */
export function take(
  values: Observable<unknown>,
  observer: DemandObserver<unknown>,
  room: () => Promise<void> | undefined,
): { unsubscribe(): void } {
  const ask = askOf(values);
  if (ask === undefined) return values.subscribe(observer);
  let left = window;
  const asked = ask({
    next(value) {
      observer.next(value);
      if (--left === 0) more();
    },
    error: (reason) => observer.error(reason),
    complete: () => observer.complete(),
  });
  const more = (): void => {
    const waits = room();
    if (waits === undefined) {
      left = window;
      asked.request(window);
    } else {
      void waits.then(more);
    }
  };
  asked.request(window);
  return asked;
}
