/**
 * What is known of an operator. The menu fills one table with it; refusals, names in errors, the loop, `describe`,
 * random pipelines and the README read it.
 */

/**
 * value: each output comes of one value, so any executor may run it. key: state per key, needs keyBy.
 * stream: it speaks of the whole stream, so one executor must see all of it.
 */
export type Scope = 'value' | 'key' | 'stream';

export interface Traits {
  readonly name: string;
  readonly scope: Scope;
  /** Runs as a step of the loop. */
  readonly lowered: boolean;
  /** May emit outside a delivery because of time. */
  readonly timed: boolean;
  /** Emits before the first value. */
  readonly startEmits: boolean;
  /** May emit when the stream has ended. */
  readonly endEmits: boolean;
  /** Keeps values back that later ones let go. */
  readonly holds: boolean;
  /** The key-scoped form of it. */
  readonly byKey?: string | undefined;
  /** What n executors of it would do, after "would run on n executors and". */
  readonly onSeveral?: ((executors: number, label: string) => string) | undefined;
}

type Extra = Partial<Omit<Traits, 'name' | 'scope' | 'lowered'>>;

function traits(name: string, scope: Scope, extra: Extra): Traits {
  return { name, scope, lowered: false, timed: false, startEmits: false, endEmits: false, holds: false, ...extra };
}

export function valueScoped(name: string, extra: Extra = {}): Traits {
  return traits(name, 'value', extra);
}

export function keyScoped(name: string, extra: Extra = {}): Traits {
  return traits(name, 'key', extra);
}

export function streamScoped(name: string, extra: Extra = {}): Traits {
  return traits(name, 'stream', extra);
}

/** A function that declares the index counts the whole stream: the step is stream-scoped then. */
export function indexed(of: Traits, fn: unknown, indexArity: number): Traits {
  if (typeof fn !== 'function' || fn.length < indexArity) return of;
  return { ...of, scope: 'stream', onSeveral: () => 'count the index anew on each (its function declares the index)' };
}

/** "let 40 values pass": of a step that lets `count` values pass. */
export function lets(count: (argument: number) => number): (executors: number, label: string) => string {
  return (executors, label) => `let ${executors * count(Number(/\d+/.exec(label)?.[0] ?? 1))} values pass`;
}
