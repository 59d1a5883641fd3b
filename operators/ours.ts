/**
 * The operators that RxJS does not have. Owns their public documentation and their traits.
 * Never does their work: each has a file of its own.
 */

import * as batching from './batch.js';
import * as byKeyCount from './countByKey.js';
import * as debatching from './debatch.js';
import * as byKeyDistinct from './distinctByKey.js';
import { define } from './lowered.js';
import * as eachValue from './perValue.js';
import * as byKeyReduce from './reduceByKey.js';
import * as byKeyScan from './scanByKey.js';
import { keyScoped, valueScoped } from './traits.js';

/**
 * Emits `[key, state]` for every value, with a state per key that begins at `seed(key)`. Needs keyBy() before it: elsewhere it
 * is refused with `ERR_SCOPE`, or `ERR_KEY_LOST` behind a step that may emit what is not of the value under way. State lives as long as its executor.
 *
 * ```text
 *     --a1----b1----a2-----|
 *     scanByKey((sum, v) => sum + v.n, () => 0)
 *     --[a,1]-[b,1]-[a,3]--|
 * ```
 */
export const scanByKey: typeof byKeyScan.scanByKey = define(
  byKeyScan.scanByKey,
  keyScoped('scanByKey'),
  byKeyScan.scanByKeyKernel,
);
/**
 * Emits `[key, state]` once per key when the stream has ended, in the order in which keys were first seen. Needs keyBy() before it.
 *
 * ```text
 *     --a1--b1--a2--|
 *     reduceByKey((sum, v) => sum + v.n, () => 0)
 *     --------------([a,3][b,1]|)
 * ```
 */
export const reduceByKey: typeof byKeyReduce.reduceByKey = define(
  byKeyReduce.reduceByKey,
  keyScoped('reduceByKey', { endEmits: true }),
  byKeyReduce.reduceByKeyKernel,
);
/**
 * Emits `[key, count so far]` for every value. Needs keyBy() before it.
 *
 * ```text
 *     --a-----b-----a------|
 *     countByKey()
 *     --[a,1]-[b,1]-[a,2]--|
 * ```
 */
export const countByKey: typeof byKeyCount.countByKey = define(
  byKeyCount.countByKey,
  keyScoped('countByKey'),
  byKeyCount.countByKeyKernel,
);
/**
 * Lets the first value of each key pass, as it is. Needs keyBy() before it. An executor remembers every key it has seen.
 *
 * ```text
 *     --a1--b1--a2--c1--b2--|
 *     distinctByKey()
 *     --a1--b1------c1------|
 * ```
 */
export const distinctByKey: typeof byKeyDistinct.distinctByKey = define(
  byKeyDistinct.distinctByKey,
  keyScoped('distinctByKey'),
  byKeyDistinct.distinctByKeyKernel,
);

/**
 * Runs `operator`, any operator of RxJS, on each value alone: it is applied to an Observable of that one value, which may be
 * subscribed again. For what takes time and for what belongs to one value: `retry`, `timeout`, `delay`. Not for synchronous work,
 * which map() and mergeMap() do for a fraction of the price.
 *
 * At most `concurrency` values (16) are open at once; then the executor takes no input. `ordered` (true): outputs come in the
 * order of the values, and an inner's error comes in its turn; a value stays open until all before it have ended, and at most 65,536
 * outputs wait, beyond which it is `ERR_OUTPUT_BURST`. `ordered: false`: outputs and errors as they come. The key is lost.
 *
 * ```text
 *     --3--1------1---|
 *     perValue(mergeMap((n) => timer(2 * n).pipe(map(() => n))))
 *     --------(31)--1-|
 *     perValue(…, { ordered: false })
 *     -------13-----1-|
 * ```
 *
 * @throws ERR_OPTION for what is no operator, a concurrency that is not a whole number of at least 1, and unknown options
 */
export const perValue: typeof eachValue.perValue = define(
  eachValue.perValue,
  valueScoped('perValue', { timed: true }),
  eachValue.perValueKernel,
);

/**
 * Emits values as arrays, by the rule by which exchanges batch: when there are `size` of them, when the oldest is `flushMs` old,
 * when the stream ends. `idle` is off unless asked for; `bytes` is refused, for values have none here. A batch is never empty,
 * and holds what came before an error. Where batches begin means nothing, so each executor makes its own; the key is lost.
 * Given a `scheduler`, time is its time.
 *
 * ```text
 *     --a--b--c-------d------|
 *     batch({ size: 3, flushMs: 20 })        x = [a,b,c], full; y = [d], at the end
 *     --------x--------------(y|)
 *     batch({ size: 3, flushMs: 4 })         x = [a,b], y = [c], z = [d], 4 ms after their first values
 *     ------x-----y-------z--|
 * ```
 *
 * @throws ERR_OPTION for what is no batch
 */
export const batch: typeof batching.batch = define(
  batching.batch,
  valueScoped('batch', { timed: true, holds: true }),
  batching.batchLowering,
);
/**
 * Emits the values of arrays, one by one, in order: what batch() has put together. What is no array passes as it is (C-183).
 *
 * ```text
 *     --[a,b]----[c]--|
 *     debatch()
 *     --(ab)-----c----|
 * ```
 */
export const debatch: typeof debatching.debatch = define(
  debatching.debatch,
  valueScoped('debatch'),
  debatching.debatchKernel,
);
