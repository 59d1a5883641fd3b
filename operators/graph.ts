/**
 * Reads a recording: which nodes form which segment, which exchanges lie between them, what leads to an output.
 * Owns the naming and the structure rules of the plan (design: "cuts", "segments").
 * Never checks scopes (`scope.ts`) and never runs anything.
 */

import { MillraceError } from '../runtime/errors.js';
import { caller, type ExchangeKind } from '../runtime/plan.js';
import { type CutOptions, checkStreamName } from './cut.js';
import { Flow } from './flow.js';
import { type CutNode, type Node, type Recording, type StepNode, shortSite, type UnionNode } from './recording.js';

/** Where an exchange takes its values: a node of a segment, or the input on the caller's thread. */
export interface Tap {
  readonly segment: number;
  readonly node: Node;
}

export interface Exchange {
  readonly name: string;
  readonly kind: ExchangeKind;
  readonly taps: readonly Tap[];
  readonly to: number;
  readonly options: CutOptions;
  readonly fn: CutNode['fn'];
}

export interface Segment {
  readonly name: string;
  readonly parallelism: number;
  /** Where values enter: the input, a pull, a cut, or a union of several segments. */
  readonly head: Node;
  readonly exchange: number | undefined;
  /** In order of recording; those that lead to an output. */
  readonly steps: StepNode[];
}

export interface Graph {
  readonly recording: Recording;
  readonly segments: readonly Segment[];
  readonly exchanges: readonly Exchange[];
  readonly outputs: readonly number[];
  readonly segmentOf: ReadonlyMap<Node, number>;
  /** Recorded streams that reach no output, and are no argument of an operator that does. */
  readonly unused: readonly Node[];
}

export type Outputs = ReadonlyMap<string, Node>;

/** The streams `build` returned, by name; a single one is `output`. */
export function outputsOf(recording: Recording, built: unknown): Outputs {
  if (built === undefined) throw lost('build returned nothing: return the stream, or a record of streams');
  const single = Flow.nodeOf(built) !== undefined || !isRecord(built) || 'subscribe' in built;
  const entries = single ? [[singleName(built), built] as const] : Object.entries(built);
  if (entries.length === 0)
    throw lost('build returned a record without outputs: return a stream, or a record of streams');
  return new Map(
    entries.map(([name, stream]) => {
      checkStreamName(name, 'name of an output');
      const node = Flow.nodeOf(stream);
      if (node !== undefined && node.recording === recording) return [name, node];
      const what = node === undefined ? 'no stream of this build' : 'a stream of another build';
      throw lost(
        `output ${JSON.stringify(name)} is ${what}. Return what starts at the input of build or at pull(); ` +
          'creation functions of RxJS such as merge hide it: use union()',
        node?.at,
      );
    }),
  );
}

/** Where nothing else names the only output, gather() at its end may. */
function singleName(built: unknown): string {
  const node = Flow.nodeOf(built);
  return (node?.kind === 'cut' && node.cut === 'gather' ? node.options.name : undefined) ?? 'output';
}

function lost(message: string, at?: string): MillraceError {
  return new MillraceError('ERR_FLOW_LOST', message, { at });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function graphOf(recording: Recording, outputs: Outputs): Graph {
  return new GraphReader(recording, outputs).read();
}

class GraphReader {
  readonly #recording: Recording;
  readonly #outputs: Outputs;
  readonly #used: ReadonlySet<Node>;
  readonly #consumers = new Map<Node, Node[]>();
  readonly #ends: ReadonlySet<Node>;
  readonly #segmentOf = new Map<Node, number>();
  readonly #segments: Segment[] = [];
  readonly #exchanges: Exchange[] = [];

  constructor(recording: Recording, outputs: Outputs) {
    this.#recording = recording;
    this.#outputs = outputs;
    this.#used = ancestors(outputs.values());
    for (const node of this.#used) {
      for (const parent of node.parents) this.#consumers.set(parent, [...this.#consumersOf(parent), node]);
    }
    this.#ends = new Set(outputs.values());
  }

  read(): Graph {
    for (const node of this.#recording.nodes) if (this.#used.has(node)) this.#place(node);
    const outputs = [...this.#outputs].map(([name, node]) => this.#output(name, node));
    refuseDoubleNames(this.#exchanges, this.#segments);
    const known = ancestors([...this.#used].flatMap(capturedBy), this.#used);
    return {
      recording: this.#recording,
      segments: this.#segments,
      exchanges: this.#exchanges,
      outputs,
      segmentOf: this.#segmentOf,
      unused: this.#recording.nodes.filter((node) => node.kind !== 'input' && !known.has(node)),
    };
  }

  #place(node: Node): void {
    switch (node.kind) {
      case 'input':
        // Nothing stands before the first cut: the caller's thread routes.
        if (this.#feedsOnlyCuts(node)) this.#segmentOf.set(node, caller);
        else
          this.#open(node, {
            name: 'input',
            kind: 'input',
            taps: [{ segment: caller, node }],
            options: {},
            fn: undefined,
          });
        break;
      case 'pull':
        this.#begin(
          node,
          `pull-${this.#segments.filter((segment) => segment.head.kind === 'pull').length + 1}`,
          1,
          undefined,
        );
        break;
      case 'step':
        this.#join(node, this.#segment(node.parents[0] as Node));
        break;
      case 'union':
        this.#placeUnion(node);
        break;
      case 'cut':
        if (!this.#isLastHop(node)) this.#openCut(node);
        break;
    }
  }

  #openCut(node: CutNode): void {
    const name = node.options.name ?? `${node.cut}-${this.#number()}`;
    this.#open(node, { name, kind: node.cut, taps: this.#taps(node.parents), options: node.options, fn: node.fn });
  }

  /** Streams of one segment meet inside it; streams of several meet in a segment of their own, unless a cut follows anyway. */
  #placeUnion(node: UnionNode): void {
    const segments = new Set(this.#taps(node.parents).map((tap) => tap.segment));
    const [only] = segments;
    if (segments.size === 1 && only !== undefined && only !== caller) this.#join(node, only);
    else if (!this.#feedsOnlyCutsOrOutputs(node)) {
      const name = `union-${this.#number()}`;
      this.#open(node, { name, kind: 'gather', taps: this.#taps(node.parents), options: {}, fn: undefined });
    }
  }

  #output(name: string, node: Node): number {
    const last = node.kind === 'cut' && this.#isLastHop(node) ? node : undefined;
    const options = last?.options ?? {};
    if (options.name !== undefined && options.name !== name) throw otherName(name, options.name, node);
    const taps = this.#taps(last?.parents ?? [node]);
    return this.#exchanges.push({ name, kind: 'output', taps, to: caller, options, fn: undefined }) - 1;
  }

  #open(head: Node, exchange: Omit<Exchange, 'to'>): void {
    const index = this.#exchanges.length;
    this.#exchanges.push({ ...exchange, to: this.#segments.length });
    this.#begin(head, exchange.name, exchange.options.parallelism ?? 1, index);
  }

  #begin(head: Node, name: string, parallelism: number, exchange: number | undefined): void {
    this.#segmentOf.set(head, this.#segments.length);
    this.#segments.push({ name, parallelism, head, exchange, steps: [] });
  }

  #join(node: StepNode | UnionNode, segment: number): void {
    this.#segmentOf.set(node, segment);
    if (node.kind === 'step') (this.#segments[segment] as Segment).steps.push(node);
  }

  /** The nodes that produce a stream; a union without a segment stands for its inputs. */
  #taps(nodes: readonly Node[]): readonly Tap[] {
    return nodes.flatMap((node) => {
      const segment = this.#segmentOf.get(node);
      return segment === undefined ? this.#taps(node.parents) : [{ segment, node }];
    });
  }

  #segment(node: Node): number {
    return this.#segmentOf.get(node) as number;
  }

  #consumersOf(node: Node): readonly Node[] {
    return this.#consumers.get(node) ?? [];
  }

  /** A union that gets the input twice does not count: the caller's thread sends a value once. */
  #feedsOnlyCuts(node: Node, met: Set<Node> = new Set()): boolean {
    if (this.#ends.has(node)) return false;
    return this.#consumersOf(node).every((next) => {
      if (next.kind === 'cut') return !this.#isLastHop(next);
      return next.kind === 'union' && !met.has(next) && this.#feedsOnlyCuts(next, met.add(next));
    });
  }

  #feedsOnlyCutsOrOutputs(node: Node): boolean {
    return this.#consumersOf(node).every((next) => {
      return next.kind === 'cut' || (next.kind === 'union' && this.#feedsOnlyCutsOrOutputs(next));
    });
  }

  /** gather() at the very end makes no executor. */
  #isLastHop(node: CutNode): boolean {
    return node.cut === 'gather' && this.#ends.has(node) && this.#consumersOf(node).length === 0;
  }

  #number(): number {
    return this.#exchanges.filter((exchange) => exchange.kind !== 'input').length + 1;
  }
}

/** Streams of this build among the arguments of a step. */
export function capturedBy(node: Node): readonly Node[] {
  if (node.kind !== 'step') return [];
  return node.step.others.flatMap((other) => {
    const captured = Flow.nodeOf(other);
    return captured?.recording === node.recording ? [captured] : [];
  });
}

function ancestors(ends: Iterable<Node>, known: Iterable<Node> = []): ReadonlySet<Node> {
  const seen = new Set<Node>(known);
  const walk = (node: Node): void => {
    if (seen.has(node)) return;
    seen.add(node);
    node.parents.forEach(walk);
  };
  for (const end of ends) walk(end);
  return seen;
}

/** The key of a record is where the user finds the output, so it cannot have another name. */
function otherName(key: string, name: string, { at }: Node): MillraceError {
  return new MillraceError(
    'ERR_NAME',
    `output ${JSON.stringify(key)} is named ${JSON.stringify(name)} by the gather() at its end (${shortSite(at)}): ` +
      'leave that name out, or make it the key of the record',
    { at },
  );
}

function refuseDoubleNames(exchanges: readonly Exchange[], segments: readonly Segment[]): void {
  // A segment bears the name of the exchange that opens it.
  const outputs = exchanges.filter(({ to }) => to === caller);
  const seen = new Map<string, Node | undefined>();
  for (const { name, node } of [
    ...segments.map(({ name, head }) => ({ name, node: head })),
    ...outputs.map(({ name, taps }) => ({ name, node: taps[0]?.node })),
  ]) {
    if (seen.has(name)) {
      const [other = '', at = ''] = [seen.get(name)?.at, node?.at];
      throw new MillraceError(
        'ERR_NAME',
        `two exchanges or outputs are named ${JSON.stringify(name)} (${shortSite(other)}, ${shortSite(at)}): give each its own name`,
        { at },
      );
    }
    seen.set(name, node);
  }
}
