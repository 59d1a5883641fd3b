/**
 * The graph one call of `build` leaves behind: nodes in the order they were recorded.
 * Owns the nodes and says which recording is under way on this thread.
 * Never runs anything: `graph.ts` reads the nodes, `program.ts` runs a segment of them.
 */

import type { Subscriber } from 'rxjs';
import type { MillraceError } from '../runtime/errors.js';
import type { Input } from '../runtime/input.js';
import type { CutKind, CutOptions } from './cut.js';
import type { Step } from './step.js';

/** Where a value comes from when it does not come through a channel. */
export type MakeFeed = (wake: () => void) => Input;

interface Base {
  readonly id: number;
  readonly parents: readonly Node[];
  /** Source line of the call that recorded it. */
  readonly at: string;
  readonly recording: Recording;
}
export interface InputNode extends Base {
  readonly kind: 'input';
}
export interface PullNode extends Base {
  readonly kind: 'pull';
  readonly feed: MakeFeed;
}
export interface StepNode extends Base {
  readonly kind: 'step';
  readonly step: Step;
  /** The user said perExecutor(…): one instance per executor is meant. */
  readonly perExecutor: boolean;
}
export interface CutNode extends Base {
  readonly kind: 'cut';
  readonly cut: CutKind;
  readonly options: CutOptions;
  /** keyBy, spreadKey: the key of a value. route: indices of executors. */
  readonly fn?: ((value: unknown, executors: number) => unknown) | undefined;
}
export interface UnionNode extends Base {
  readonly kind: 'union';
}
export type Node = InputNode | PullNode | StepNode | CutNode | UnionNode;

/** What a stream of a segment is made of: `node` and all before it, each once, up to the segment's head and without it. */
export function* nodesUpTo(head: Node, node: Node, seen: Set<Node> = new Set([head])): Generator<Node> {
  if (seen.has(node)) return;
  seen.add(node);
  yield node;
  if (node.kind !== 'step' && node.kind !== 'union') return;
  for (const parent of node.parents) yield* nodesUpTo(head, parent, seen);
}

/** Connects a subscriber to the stream a node stands for inside an executor. */
export type Connect = (node: Node, subscriber: Subscriber<unknown>) => void;

export class Recording {
  readonly nodes: Node[] = [];
  /** What went wrong while recording, even where the user's code swallowed it. */
  fault: MillraceError | undefined;
  /** Set while perExecutor(…) applies its operator. */
  perExecutor = false;
  /** Set when this recording is lowered in an executor: late binding of its flows. */
  connect: Connect | undefined;
  readonly #sites: Sites;
  #site: Site | undefined;

  constructor(sites: Sites = []) {
    this.#sites = sites;
  }

  add<N extends Node>(node: Omit<N, 'id' | 'at' | 'recording'>): N {
    const site = this.#nextSite();
    const full = {
      ...node,
      id: this.nodes.length,
      get at() {
        return site.text;
      },
      recording: this,
    } as unknown as N;
    this.nodes.push(full);
    return full;
  }

  /** One `pipe` call is one place, however many operators an operator is made of. */
  atSite<T>(run: () => T): T {
    if (this.#site !== undefined) return run();
    this.#site = this.#nextSite();
    try {
      return run();
    } finally {
      this.#site = undefined;
    }
  }

  /** Of the node that is recorded next. */
  #nextSite(): Site {
    const site = this.#site ?? this.#sites[this.nodes.length] ?? new CallSite();
    this.#sites[this.nodes.length] = site;
    return site;
  }

  refuse(error: MillraceError): MillraceError {
    this.fault ??= error;
    return error;
  }
}

let current: Recording | undefined;

/** The recording under way, if `build` is running now. */
export function recordingNow(): Recording | undefined {
  return current;
}

/** Runs `build` with `recording` as the one under way. */
export function record<T>(recording: Recording, build: () => T): T {
  const outer = current;
  current = recording;
  try {
    return build();
  } finally {
    current = outer;
  }
}

/** None in a bundle of CommonJS. */
const { url: here } = import.meta as { readonly url?: string };
/** Folders whose frames never are the user's line: ours, built or, where source maps are on, the sources of the build. */
const ours: readonly string[] = ['../', '../../'].flatMap((root) =>
  ['operators/', 'runtime/', 'src/'].flatMap((room) => (here === undefined ? [] : new URL(root + room, here).href)),
);
const frame = /\(?((?:file:\/\/|node:|\/|[A-Za-z]:\\)[^()\n]*:\d+:\d+)\)?$/;

/** Where a node was recorded. */
export interface Site {
  /** As `file:line:column`. */
  readonly text: string;
}
/** Of all nodes of a build, by id. */
export type Sites = Site[];

/** The user's line that led here, read from the stack when somebody asks: to make text of a stack takes longer than to build. */
class CallSite implements Site {
  #trace: Error | undefined;
  #text = '';

  constructor() {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 24;
    this.#trace = new Error();
    Error.stackTraceLimit = limit;
  }

  get text(): string {
    if (this.#trace !== undefined) {
      this.#text = siteIn(this.#trace.stack) ?? 'unknown place';
      this.#trace = undefined;
    }
    return this.#text;
  }
}

/** The user's line that led here, as `file:line:column`. */
export function callSite(): string {
  return new CallSite().text;
}

/** The innermost of the user's lines on a stack. */
export function siteIn(stack = ''): string | undefined {
  for (const line of stack.split('\n').slice(1)) {
    const place = frame.exec(line.trim())?.[1];
    if (
      place === undefined ||
      place.startsWith('node:') ||
      /[\\/]node_modules[\\/](?:rxjs|fast-check)[\\/]/.test(place)
    )
      continue;
    const url = place.startsWith('file:') ? place : `file://${place}`;
    if (!ours.some((room) => url.startsWith(room))) return place;
  }
  return undefined;
}

/** `word-count.ts:12` of a full call site, for messages. */
export function shortSite(at: string): string {
  return at.replace(/^.*[\\/]/, '').replace(/:\d+$/, '');
}
