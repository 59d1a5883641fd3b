/**
 * millrace: RxJS pipelines on worker threads. The public names, no logic.
 * Operators are in 'millrace/operators'; no name here is one that RxJS has, but for two types of Reactive Streams.
 */

export { broadcast } from '../operators/broadcast.js';
export type { ExchangeOptions } from '../operators/cut.js';
export { gather } from '../operators/gather.js';
export { type Keyed, type KeyOf, keyBy } from '../operators/keyBy.js';
export { route } from '../operators/route.js';
export { type ShuffleOptions, shuffle } from '../operators/shuffle.js';
export { spreadKey } from '../operators/spreadKey.js';
export { union } from '../operators/union.js';
export type { Batch, BatchOptions } from '../runtime/batch.js';
export type { Codec, ValueCodec } from '../runtime/codec.js';
export { type ErrorCode, isMillraceError, MillraceError } from '../runtime/errors.js';
export type { ChannelMetrics, ExecutorMetrics, FlushReason, RunMetrics } from '../runtime/metrics.js';
export type { Overflow, OverflowOptions } from '../runtime/overflow.js';
export type { StallReport } from '../runtime/stall.js';
export type { PlanDescription } from './describe.js';
export type { EdgeOptions } from './edges/edge.js';
export { fromPublisher } from './edges/fromPublisher.js';
export { fromRequest, type RequestSink } from './edges/fromRequest.js';
export { into } from './edges/into.js';
export type { Processor, Publisher, Subscriber, Subscription } from './edges/publisher.js';
export { toAsyncBatches } from './edges/toAsyncBatches.js';
export { toAsyncIterable } from './edges/toAsyncIterable.js';
export { toProcessor } from './edges/toProcessor.js';
export { toPublisher } from './edges/toPublisher.js';
export { toReadable } from './edges/toReadable.js';
export { toReadableStream } from './edges/toReadableStream.js';
export type { RunOptions } from './options.js';
export { type Pullable, pull } from './pull.js';
export type { Run } from './run.js';
export { createRuntime, type Runtime, type RuntimeOptions, type WorkerOptions } from './runtime.js';
export type { TopologyOptions } from './topology.js';
export {
  type Applied,
  type Args,
  type Outputs,
  type Results,
  type Source,
  source,
  type Topology,
  topology,
} from './topology.js';
