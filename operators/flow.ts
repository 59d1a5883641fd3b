/**
 * Flow: the Observable that `build` gets. Its `pipe` records instead of running.
 * Owns the private brand that ties it to a node; late-bound inside an executor, where it stands for that executor's own stream.
 * Never delivers anything while planning: a subscription then is an error, not an empty stream.
 */

import { isObservable, Observable, type Observer, type OperatorFunction, type Subscription } from 'rxjs';
import { MillraceError } from '../runtime/errors.js';
import { callSite, type Node, type Recording, record, recordingNow, type StepNode } from './recording.js';
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
    const { recording } = this.#node;
    if (recording.connect !== undefined) return super.pipe(...(operations as [])) as never;
    return recording.atSite(() => pipeAll(this, operations)) as never;
  }

  /** RxJS operators come back through here. A foreign `this` (ConnectableObservable copies `lift`) has no brand. */
  override lift<R>(operator?: unknown): Observable<R> {
    if (!(#node in this) || this.#node.recording.connect !== undefined)
      return plainLift.call(this, operator) as Observable<R>;
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
      { at: callSite() },
    ),
  );
}

/** A cut or union was reached, while planning, with a stream the plan cannot follow. */
export function flowLost(recording: Recording, what: string, source: Observable<unknown>): MillraceError {
  const plain =
    `a plain ${source.constructor?.name ?? 'Observable'}, so what comes before it would not be part of the plan. ` +
    'Hand-written operators and creation functions of RxJS hide the stream they start from: pass operators to .pipe() one by one, ' +
    'use pipe() of millrace/operators, start from pull(), or fan in with union()';
  const given =
    Flow.nodeOf(source) === undefined
      ? plain
      : 'a stream of another build. Start from the input of this build, or from pull()';
  return recording.refuse(
    new MillraceError('ERR_FLOW_LOST', `${what} was given ${given}`, { operator: what, at: callSite() }),
  );
}

/** Applies operations from left to right; each sees a Flow as long as the plan can follow. */
export function pipeAll(source: unknown, operations: readonly Operation[]): unknown {
  let stream = source;
  const left = [...operations];
  for (let operation = left.shift(); operation !== undefined; operation = left.shift()) {
    let apply = operation;
    let result = apply(stream as never);
    // publish() and its kin are a step only together with the refCount() behind them.
    while (isConnectable(result) && left.length > 0) {
      const [first, next] = [apply, left.shift() as Operation];
      apply = (from) => next(first(from) as never);
      result = next(result as never);
    }
    stream = recorded(stream, apply, result);
  }
  return stream;
}

function isConnectable(stream: unknown): boolean {
  return isObservable(stream) && 'connect' in stream;
}

function recorded(stream: unknown, operation: Operation, result: unknown): unknown {
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
