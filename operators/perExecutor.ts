/**
 * perExecutor: the user's word that one instance of a stream-scoped operator per executor is meant.
 */

import type { OperatorFunction } from 'rxjs';
import { nodeNow } from './flow.js';

/**
 * Lifts the scope rule for one operator: each executor runs its own instance on its own part of the values.
 * With parallelism n, `perExecutor(take(10))` lets 10 values pass on each. On a plain Observable it is the operator itself.
 */
export function perExecutor<T, R>(operator: OperatorFunction<T, R>): OperatorFunction<T, R> {
  return (source) => {
    const recording = nodeNow(source)?.recording;
    if (recording === undefined) return operator(source);
    const outer = recording.perExecutor;
    recording.perExecutor = true;
    try {
      // Through pipe, so that an operator that is no Flow-aware one is recorded as a step.
      return source.pipe(operator);
    } finally {
      recording.perExecutor = outer;
    }
  };
}
