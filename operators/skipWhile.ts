/** skipWhile as a step of the loop. */

import type { Predicate } from './predicate.js';
import type { Lower } from './step.js';

export function skipWhileKernel(predicate: Predicate): Lower {
  return (out) => {
    let taking = false;
    let index = 0;
    return {
      next(value) {
        if (!taking) taking = !predicate(value, index++);
        if (taking) out.emit(value);
      },
    };
  };
}
