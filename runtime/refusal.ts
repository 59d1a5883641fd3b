/**
 * Why a value may not travel, and where in it the reason lies.
 * Owns the sentences of ERR_VALUE, and the path that grows while a refusal climbs out of the value.
 * Never decides what is refused: value.ts does.
 */

import { types } from 'node:util';
import { MillraceError } from './errors.js';

/** Levels of nesting a value may have: well below what the stack bears in packing, well above what data needs. */
export const maxDepth = 256;

export const tooDeep: string = `is nested more than ${maxDepth} levels deep`;
export const shareByArgs = 'pass it in args, where memory stays shared';
const awaitFirst = 'return promises from mergeMap() or concatMap(), which wait for them';

/** Thrown inside a snapshot; every container it passes on its way up adds its step to the path. */
export class Refusal {
  readonly reason: string;
  readonly cure: string;
  readonly cause: unknown;
  path: string;

  constructor(reason: string, path = '', cure = 'send data, or give the exchange a codec', cause?: unknown) {
    this.reason = reason;
    this.path = path;
    this.cure = cure;
    this.cause = cause;
  }
}

/** What is no refusal of ours was thrown by a getter or proxy of the user's, or by a stack without room. */
export function under(error: unknown, step: string): Refusal {
  const refusal = error instanceof Refusal ? error : new Refusal('cannot be read', '', 'see the cause', error);
  refusal.path = step + refusal.path;
  return refusal;
}

/** The step to a property, as one would write it. */
export function property(key: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

export function refusalOf(error: unknown, value: unknown): MillraceError {
  const { reason, path, cure, cause } = under(error, '');
  const place = path.length <= 200 ? `value${path}` : `value${path.slice(0, 100)}…${path.slice(-100)}`;
  if (reason === tooDeep) {
    const what = findCycle(value, 'value', new Map()) ?? `${place} ${reason}`;
    return new MillraceError('ERR_VALUE', `${what}; codec: 'clone' carries that`);
  }
  return new MillraceError('ERR_VALUE', `${place} ${reason}; ${cure}`, cause === undefined ? {} : { cause });
}

/**
 * The first place that leads back to one of its own ancestors, as a sentence.
 * `seen` has the path of those still open and undefined for those known to be free of cycles.
 */
function findCycle(
  value: unknown,
  path: string,
  seen: Map<unknown, string | undefined>,
  depth = 0,
): string | undefined {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return undefined;
  if (seen.has(value)) {
    const ancestor = seen.get(value);
    return ancestor && `${path} refers back to ${ancestor}`;
  }
  seen.set(value, path);
  for (const [step, child] of childrenOf(value)) {
    const cycle = findCycle(child, path + step, seen, depth + 1);
    if (cycle !== undefined) return cycle;
  }
  seen.set(value, undefined);
  return undefined;
}

function childrenOf(value: object): [step: string, child: unknown][] {
  if (ArrayBuffer.isView(value)) return [];
  if (value instanceof Map || value instanceof Set) {
    return [...value.values()].map((child, index) => [`.values()[${index}]`, child]);
  }
  const entries: [string, unknown][] = value instanceof Error ? [['cause', value.cause]] : [];
  entries.push(...Object.entries(value));
  return entries.map(([key, child]) => [Array.isArray(value) ? `[${key}]` : property(key), child]);
}

/** The arguments of the refusal of an object that is neither plain nor a built-in that travels. */
export function describeInstance(value: object, prototype: unknown): [reason: string, path?: string, cure?: string] {
  if (prototype === null) return ['has no prototype'];
  if (types.isBoxedPrimitive(value)) return ['is a boxed primitive'];
  if (types.isPromise(value)) return ['is a promise', '', awaitFirst];
  if (types.isSharedArrayBuffer(value)) return ['is shared memory', '', shareByArgs];
  const name: unknown = (prototype as { constructor?: { name?: unknown } }).constructor?.name;
  return [typeof name === 'string' && name !== '' ? `is an instance of ${name}` : 'is an instance of a class'];
}
