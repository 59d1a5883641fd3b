/**
 * A segment as it runs in one executor: stages built from the recorded nodes, bound to their flows.
 * Owns the stages and the head. Stages connect from the outlets up, so operators subscribe in the order RxJS has.
 * Never encodes or routes: what leaves goes through the host's outlets.
 */

import { merge, Observable, type Subscriber } from 'rxjs';
import { MillraceError, type Place } from '../runtime/errors.js';
import { executorOf, hashKey } from '../runtime/hash.js';
import type { ProgramOptions } from '../runtime/logic.js';
import type { Program, ProgramHost } from '../runtime/program.js';
import type { Graph, Segment } from './graph.js';
import { setKey } from './key.js';
import { Loop } from './loop.js';
import { LoweredStage } from './loweredStage.js';
import { consumerOf, type Heads, OpaqueStage } from './opaqueStage.js';
import { type Node, type StepNode, shortSite } from './recording.js';
import { isKeyed } from './scope.js';
import { type Blame, type Consumer, HeadStage, type Stage, type StageContext, UnionStage } from './stage.js';
import { unknownTraits } from './step.js';

interface OutletEnd {
  readonly consumers: readonly (readonly [Stage, Consumer])[];
  open: number;
}

export class SegmentProgram implements Program {
  readonly #graph: Graph;
  readonly #index: number;
  readonly #segment: Segment;
  readonly #host: ProgramHost;
  readonly #loop: Loop;
  readonly #blame: Blame = { reason: undefined, stage: undefined };
  readonly #heads: Heads = { awaited: 0 };
  readonly #stages = new Map<Node, Stage>();
  readonly #head: HeadStage;
  readonly #selectKey: ((value: unknown) => unknown) | undefined;
  #outlets: readonly OutletEnd[] = [];
  /** The one consumer of a segment without steps: what enters leaves, and nothing can happen in between. */
  readonly #straight: Consumer | undefined;
  /** A step is opaque. */
  #opaque = false;
  #ended = false;
  #stopped = false;

  /** `outlets` are indices of exchanges, in the order of the host's emit functions. */
  constructor(graph: Graph, index: number, outlets: readonly number[], host: ProgramHost, options: ProgramOptions) {
    this.#graph = graph;
    this.#index = index;
    this.#segment = graph.segments[index] as Segment;
    this.#host = host;
    this.#loop = new Loop(host);
    const { head } = this.#segment;
    this.#head = new HeadStage(this.#context(head, head.kind === 'pull' ? 'pull()' : 'the input'));
    this.#stages.set(head, this.#head);
    this.#selectKey = this.#keySelector(options);
    graph.recording.connect = (node, subscriber) => this.#connectFlow(node, subscriber);
    this.#outlets = outlets.map((exchange, outlet) => this.#outletEnd(exchange, outlet));
    this.#straight = this.#straightConsumer();
  }

  start(): void {
    this.#loop.run(() => {
      for (const { consumers } of this.#outlets) for (const [stage, consumer] of consumers) stage.subscribe(consumer);
    });
  }

  next(value: unknown): void {
    if (this.#straight !== undefined) {
      this.#straight.next(value);
      return;
    }
    const loop = this.#loop;
    loop.begin();
    try {
      if (this.#selectKey === undefined) this.#head.emit(value);
      else this.#nextKeyed(value, this.#selectKey);
    } finally {
      loop.leave();
    }
  }

  #nextKeyed(value: unknown, selectKey: (value: unknown) => unknown): void {
    try {
      setKey(selectKey(value));
    } catch (reason) {
      // An error of the cut, which no step of this segment may take.
      this.#fail(reason, 'step', { operator: 'keyBy()' });
      return;
    }
    this.#head.emit(value);
  }

  complete(): void {
    this.#ended = true;
    this.#loop.run(() => this.#head.sendComplete());
  }

  error(reason: unknown): void {
    this.#ended = true;
    this.#loop.run(() => this.#head.fail(reason));
  }

  resume(): void {
    this.#loop.resume();
  }

  get suspended(): boolean {
    return this.#loop.suspended;
  }

  get restless(): boolean {
    return this.#opaque || this.#loop.inners > 0;
  }

  get subscribed(): boolean {
    return this.#heads.awaited === 0 && !this.#head.expecting;
  }

  get ready(): boolean {
    const head = this.#head;
    return head.open && !this.#loop.suspended && this.#heads.awaited === 0 && !this.#ended;
  }

  get finished(): boolean {
    // What the executor has once been told stays so.
    if (this.subscribed && !this.#head.hasConsumers) this.#head.close();
    return this.#ended || this.#head.closed;
  }

  closeOutlet(outlet: number): void {
    const end = this.#outlets[outlet] as OutletEnd;
    for (const [stage, consumer] of end.consumers) stage.unsubscribe(consumer);
  }

  stop(): void {
    this.#stopped = true;
    for (const stage of this.#stages.values()) stage.close();
  }

  /** Only segments with a key-scoped step pay for the key, and all keyed ones under `strict`. */
  #keySelector({ index, strict }: ProgramOptions): ((value: unknown) => unknown) | undefined {
    const { exchange, steps, parallelism, name } = this.#segment;
    if (exchange === undefined || !isKeyed(this.#segment, this.#graph)) return undefined;
    const select = this.#graph.exchanges[exchange]?.fn as (value: unknown) => unknown;
    if (strict) return strictKey(select, index, parallelism, name);
    return steps.some((node) => node.step.traits.scope === 'key') ? select : undefined;
  }

  #straightConsumer(): Consumer | undefined {
    const [only, ...others] = this.#outlets.flatMap(({ consumers }) => consumers);
    const straight = this.#stages.size === 1 && this.#selectKey === undefined && others.length === 0;
    return straight ? only?.[1] : undefined;
  }

  #outletEnd(exchange: number, outlet: number): OutletEnd {
    const taps = (this.#graph.exchanges[exchange]?.taps ?? []).filter((tap) => tap.segment === this.#index);
    const end: OutletEnd = {
      consumers: taps.map((tap) => {
        const stage = this.#stageOf(tap.node);
        stage.expect();
        return [stage, this.#outletConsumer(stage, outlet)] as const;
      }),
      open: taps.length,
    };
    return end;
  }

  #outletConsumer(stage: Stage, outlet: number): Consumer {
    const emit = this.#host.emit[outlet] as (value: unknown) => void;
    const consumer: Consumer = {
      next: (value) => {
        try {
          emit(value);
        } catch (reason) {
          this.#fail(reason, 'step', {});
          stage.unsubscribe(consumer);
        }
      },
      error: (reason) => this.#failFrom(reason),
      complete: () => {
        const end = this.#outlets[outlet] as OutletEnd;
        end.open--;
        if (end.open === 0 && !this.#stopped) this.#host.end(outlet);
      },
    };
    return consumer;
  }

  #failFrom(reason: unknown): void {
    const { stage, reason: blamed } = this.#blame;
    const known = stage !== undefined && blamed === reason ? stage : undefined;
    this.#fail(reason, known === this.#head ? 'source' : 'step', known?.place ?? {});
  }

  #fail(reason: unknown, arose: 'source' | 'step', place: Place): void {
    if (!this.#stopped) this.#host.fail(reason, arose, place);
  }

  #stageOf(node: Node): Stage {
    const known = this.#stages.get(node);
    if (known !== undefined) return known;
    const stage = this.#makeStage(node);
    this.#stages.set(node, stage);
    return stage;
  }

  #makeStage(node: Node): Stage {
    const parents = node.parents.map((parent) => this.#stageOf(parent));
    if (node.kind === 'union') return new UnionStage(parents, this.#context(node, 'union()'));
    const { step } = node as StepNode;
    const parent = parents[0] as Stage;
    // An operator of the menu has a name; of any other only its position is known.
    const position = `step ${this.#segment.steps.indexOf(node as StepNode) + 1}`;
    const known = step.traits !== unknownTraits;
    const context = known ? this.#context(node, step.label, step.traits.name) : this.#context(node, position);
    if (step.lower !== undefined) return new LoweredStage(parent, step.lower, context);
    this.#opaque = true;
    return new OpaqueStage(parent, step.plain, this.#heads, context);
  }

  #context(node: Node, label: string, operator: string = label): StageContext {
    const place: Place =
      node.kind === 'input'
        ? { operator }
        : {
            operator,
            get at() {
              return node.at;
            },
          };
    return { label, place, loop: this.#loop, blame: this.#blame };
  }

  /** Late binding: a flow captured by an operator stands for this executor's own stream, from the head of the segment. */
  #connectFlow(node: Node, subscriber: Subscriber<unknown>): void {
    const foreign = this.#foreign(node);
    if (foreign === undefined) this.#plainStream(node).subscribe(subscriber);
    else this.#refuse(foreignStream(node, foreign, this.#segment, this.#graph));
  }

  #plainStream(node: Node): Observable<unknown> {
    if (node === this.#segment.head) return new Observable((subscriber) => this.#enter(subscriber));
    const [first, ...others] = node.parents.map((parent) => this.#plainStream(parent));
    if (node.kind === 'union') return merge(first as Observable<unknown>, ...others);
    return (node as StepNode).step.plain(first as Observable<unknown>);
  }

  #enter(subscriber: Subscriber<unknown>): void {
    if (this.#ended || this.#head.closed) {
      const message =
        'a stream of this segment was subscribed after it had ended; the input of an executor cannot start again. ' +
        'Put repeat, retry or concat before or after the topology';
      this.#refuse(new MillraceError('ERR_NOT_REPEATABLE', message, { segment: this.#segment.name }));
    } else {
      this.#loop.bindings++;
      this.#head.join(consumerOf(this.#head, subscriber, this.#loop, this.#head));
    }
  }

  /** Ends the run: through the operator, retry would try for ever and catchError hide it. */
  #refuse(error: MillraceError): void {
    this.#fail(error, 'step', {});
  }

  /** The stream of another segment that `node` is or is made of. */
  #foreign(node: Node): Node | undefined {
    if (node === this.#segment.head) return undefined;
    if (node.kind !== 'step' && node.kind !== 'union') return node;
    for (const parent of node.parents) {
      const foreign = this.#foreign(parent);
      if (foreign !== undefined) return foreign;
    }
    return undefined;
  }
}

function foreignStream(node: Node, foreign: Node, segment: Segment, graph: Graph): MillraceError {
  const there = graph.segmentOf.get(foreign);
  const other =
    there === undefined ? 'no segment that runs' : `segment ${JSON.stringify(graph.segments[there]?.name ?? 'caller')}`;
  return new MillraceError(
    'ERR_FLOW_SUBSCRIBED',
    `a step of segment ${JSON.stringify(segment.name)} subscribed a stream of ${other} (pipe at ${shortSite(node.at)}). ` +
      'Use union(), the only fan-in across segments, or keep both streams in one segment',
    { segment: segment.name, at: node.at },
  );
}

/** The key again, which must lead to this executor again. */
function strictKey(
  select: (value: unknown) => unknown,
  index: number,
  executors: number,
  exchange: string,
): (value: unknown) => unknown {
  return (value: unknown): unknown => {
    const key = select(value);
    const here = executorOf(hashKey(key), executors);
    if (here === index) return key;
    throw new MillraceError(
      'ERR_KEY',
      `the key selector of ${JSON.stringify(exchange)} gave a key of executor ${index} where the value was sent and one of executor ${here} ` +
        'where it arrived: it must depend on the value alone, and on nothing the codec changes',
    );
  };
}
