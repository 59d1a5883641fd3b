/**
 * Flow: the Observable that `build` gets. Its `pipe` records instead of running.
 * Owns the private brand that ties it to a node; late-bound inside an executor, where it stands for that executor's own stream.
 * Never delivers anything while planning: a subscription then is an error, not an empty stream.
 */

import { isObservable, Observable, type Observer, type OperatorFunction, type Subscription } from 'rxjs';
import { MillraceError } from '../runtime/errors.js';
import { type Node, type Recording, record, recordingNow, type StepNode } from './recording.js';
import { opaque, type Step } from './step.js';

export type Operation = (source: never) => unknown;
type Lift = (this: Observable<unknown>, operator: unknown) => Observable<unknown>;

// `lift` is how RxJS 7 operators build their result. It is deprecated for application code and gone in RxJS 8;
// `pipe` of millrace/operators records without it.
const plainLift = Object.getOwnPropertyDescriptor(Observable.prototype, 'lift')?.value as Lift;

export class Flow<T> extends Observable<T> {
  readonly #node: Node;

  constructor(node: Node) {
    super((subscriber) => {
      const { connect } = node.recording;
      if (connect === undefined) throw subscribedWhilePlanning(node.recording);
      connect(node, subscriber as never);
    });
    this.#node = node;
  }

  /** The node `value` stands for, if it is a Flow of any recording. */
  static nodeOf(value: unknown): Node | undefined {
    return typeof value === 'object' && value !== null && #node in value ? value.#node : undefined;
  }

  // Two signatures of Observable meet here (`pipe` of any length); the operations are applied one by one, each to a Flow.
  override pipe(...operations: readonly Operation[]): never {
    return this.#node.recording.atSite(() => pipeAll(this, operations)) as never;
  }

  /** RxJS operators come back through here. A foreign `this` (ConnectableObservable copies `lift`) has no brand. */
  override lift<R>(operator?: unknown): Observable<R> {
    if (!(#node in this)) return plainLift.call(this, operator) as Observable<R>;
    const apply = (source: Observable<unknown>): Observable<unknown> => plainLift.call(source, operator);
    return recordStep(this.#node, opaque(apply)) as Observable<R>;
  }

  override subscribe(
    observerOrNext?: Partial<Observer<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // While planning, the error is thrown, and remembered in case the user's code swallows it.
    const { recording } = this.#node;
    if (recording.connect === undefined) throw subscribedWhilePlanning(recording);
    return super.subscribe(observerOrNext as never, error as never, complete as never);
  }
}

function subscribedWhilePlanning(recording: Recording): MillraceError {
  return recording.refuse(
    new MillraceError(
      'ERR_FLOW_SUBSCRIBED',
      'a stream of build was subscribed while planning; build only describes the pipeline. ' +
        'Return the streams you want as outputs and subscribe outside the topology',
    ),
  );
}

/** Applies operations from left to right; each sees a Flow as long as the plan can follow. */
export function pipeAll(source: unknown, operations: readonly Operation[]): unknown {
  let stream = source;
  for (const operation of operations) stream = applyTo(stream, operation);
  return stream;
}

function applyTo(stream: unknown, operation: Operation): unknown {
  const result = operation(stream as never);
  const node = Flow.nodeOf(stream);
  if (node === undefined || Flow.nodeOf(result) !== undefined || !isObservable(result)) return result;
  return recordStep(node, opaque(operation as OperatorFunction<unknown, unknown>));
}

/** Appends a step to the stream of `parent`. */
export function recordStep(parent: Node, step: Step): Flow<unknown> {
  const { recording } = parent;
  const { perExecutor } = recording;
  return new Flow(recording.add<StepNode>({ kind: 'step', parents: [parent], step, perExecutor }));
}

/** Runs `build` on a fresh recording, the input being its first node. */
export function recordBuild<T>(recording: Recording, build: (input: Observable<never>) => T): T {
  return record(recording, () => build(new Flow<never>(recording.add({ kind: 'input', parents: [] }))));
}

/** The node of `source` when it belongs to the recording under way. */
export function nodeNow(source: unknown): Node | undefined {
  const node = Flow.nodeOf(source);
  return node !== undefined && node.recording === recordingNow() ? node : undefined;
}
