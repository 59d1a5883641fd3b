/**
 * union: several streams as one, the only fan-in across segments.
 */

import { merge, Observable } from 'rxjs';
import { MillraceError } from '../runtime/errors.js';
import { show } from '../runtime/option.js';
import { Flow, flowLost, nodeNow } from './flow.js';
import { type Node, recordingNow, type UnionNode } from './recording.js';

/**
 * Values of all inputs as they come; completes when all have completed, errors with the first error.
 * There is no ordered fan-in across segments: a `zip` that insists on one input while bounded channels fill the other deadlocks.
 *
 * ```text
 * a$      --1-----3--|
 * b$      -----2--------4--|
 *         union(a$, b$)
 *         --1--2--3-----4--|
 * ```
 */
export function union<O extends readonly Observable<unknown>[]>(
  ...inputs: O
): Observable<O[number] extends Observable<infer T> ? T : never> {
  if (inputs.length === 0) throw new MillraceError('ERR_OPTION', 'union() needs at least one stream');
  for (const input of inputs) {
    if (!(input instanceof Observable))
      throw new MillraceError('ERR_OPTION', `union() takes Observables, got ${show(input)}`);
  }
  const recording = recordingNow();
  if (recording === undefined) return merge(...inputs) as never;
  const parents = inputs.map((input): Node => {
    const node = nodeNow(input);
    if (node === undefined) throw flowLost(recording, 'union()', input);
    return node;
  });
  return new Flow(recording.add<UnionNode>({ kind: 'union', parents })) as never;
}
