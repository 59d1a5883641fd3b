/**
 * pipe: composes operators and records them step by step, where RxJS's free pipe hands a hand-written operator a plain stream.
 * It needs no `lift`, so it is also the way forward to RxJS 8.
 */

import type * as rx from 'rxjs';
import { type Operation, pipeAll } from './flow.js';

/** As `pipe` of RxJS; inside `build` every operator of it becomes a step of the plan. */
export const pipe: typeof rx.pipe = ((...operations: readonly Operation[]) =>
  (source: unknown) =>
    pipeAll(source, operations)) as typeof rx.pipe;
