/**
 * Routing: which executors of the next segment a value goes to.
 * Owns one emit function per kind of exchange, chosen when lowering: per value nothing is looked up.
 * Never encodes: targets do.
 */

import { isMillraceError, located, MillraceError } from './errors.js';
import { executorOf, hashKey } from './hash.js';
import { show } from './option.js';
import type { ExchangeKind } from './plan.js';

/** Takes a value for one executor. */
export type Take = (value: unknown) => void;
export type Emit = (value: unknown) => void;

export interface Route {
  readonly kind: ExchangeKind;
  /** keyBy, spreadKey: the key of a value. route: the indices. */
  readonly fn?: ((value: unknown, executors: number) => unknown) | undefined;
  readonly name: string;
  /** One per executor of the consuming segment, by index. */
  readonly targets: readonly Take[];
  /** Indices of targets on the producer's thread; used by shuffle({ local: true }). */
  readonly near: readonly number[];
}

export function emitterOf(route: Route): Emit {
  const { kind, targets } = route;
  const [only] = targets;
  switch (kind) {
    case 'input':
    case 'gather':
    case 'output':
      return only as Take;
    case 'shuffle':
      return roundRobin(route.near.length > 0 ? route.near.map((index) => targets[index] as Take) : targets);
    case 'keyBy':
      return keyed(route);
    case 'spreadKey':
      return spread(route);
    case 'broadcast':
      return targets.length === 1 ? (only as Take) : toAll(targets);
    case 'route':
      return chosen(route);
  }
}

function roundRobin(targets: readonly Take[]): Emit {
  const [only] = targets;
  if (targets.length === 1) return only as Take;
  let turn = 0;
  return (value) => {
    const target = targets[turn] as Take;
    turn = turn + 1 === targets.length ? 0 : turn + 1;
    target(value);
  };
}

function toAll(targets: readonly Take[]): Emit {
  return (value) => {
    for (const target of targets) target(value);
  };
}

function keyed(route: Route): Emit {
  const { targets } = route;
  const { length } = targets;
  if (length === 1) return keyedAlone(route, targets[0] as Take);
  return (value) => {
    const target = targets[executorOf(hashOf(route, value), length)] as Take;
    target(value);
  };
}

/** Nothing to choose, but what is no key is refused wherever the pipeline runs; strings and numbers always are one. */
function keyedAlone(route: Route, only: Take): Emit {
  return (value) => {
    const key = select(route, value);
    if (typeof key !== 'string' && typeof key !== 'number') hashed(route, key);
    only(value);
  };
}

/** Two homes per key; of the two, the one this producer has used less, the first on a tie. */
function spread(route: Route): Emit {
  const { targets } = route;
  const { length } = targets;
  const used = new Float64Array(length);
  return (value) => {
    const [first, second] = homes(hashOf(route, value), length);
    const home = (used[second] as number) < (used[first] as number) ? second : first;
    used[home] = (used[home] as number) + 1;
    (targets[home] as Take)(value);
  };
}

/** The two executors of a key: different ones wherever there are two. */
export function homes(hash: number, executors: number): readonly [number, number] {
  const first = executorOf(hash, executors);
  const second = executorOf(otherHash(hash), executors);
  return [first, second === first ? (first + 1) % executors : second];
}

/** A second hash, independent enough of the first: one round of a 32-bit finaliser over its complement. */
function otherHash(hash: number): number {
  const mixed = Math.imul(~hash ^ (~hash >>> 15), 0x2c1b_3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

function chosen(route: Route): Emit {
  const { targets, name } = route;
  const { length } = targets;
  const at = (index: unknown): Take => {
    const target = typeof index === 'number' ? targets[index] : undefined;
    if (target !== undefined) return target;
    const message = `route() of ${JSON.stringify(name)} chose ${show(index)}, but executors are numbered 0 to ${length - 1}`;
    throw new MillraceError('ERR_OPERATOR', message, { operator: 'route()' });
  };
  return (value) => {
    const choice = choose(route, value);
    if (!Array.isArray(choice)) at(choice)(value);
    // All indices are checked before the first one gets the value.
    else for (const target of choice.map(at)) target(value);
  };
}

function select(route: Route, value: unknown): unknown {
  try {
    return (route.fn as (value: unknown) => unknown)(value);
  } catch (cause) {
    throw new MillraceError('ERR_OPERATOR', `the key selector of ${JSON.stringify(route.name)} threw`, {
      operator: `${route.kind}()`,
      cause,
    });
  }
}

function hashOf(route: Route, value: unknown): number {
  return hashed(route, select(route, value));
}

/** Names the cut that has the bad key. */
function hashed(route: Route, key: unknown): number {
  try {
    return hashKey(key);
  } catch (error) {
    throw isMillraceError(error) ? located(error, { operator: `${route.kind}()` }) : error;
  }
}

function choose({ targets, fn, name }: Route, value: unknown): unknown {
  try {
    return (fn as (value: unknown, executors: number) => unknown)(value, targets.length);
  } catch (cause) {
    throw new MillraceError('ERR_OPERATOR', `the function of route() ${JSON.stringify(name)} threw`, {
      operator: 'route()',
      cause,
    });
  }
}
