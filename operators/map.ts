/** map as a step of the loop. */

import type { Lower } from './step.js';

export function mapKernel(project: (value: unknown, index: number) => unknown, thisArg?: unknown): Lower {
  return (out) => {
    let index = 0;
    return { next: (value) => out.emit(project.call(thisArg, value, index++)) };
  };
}
