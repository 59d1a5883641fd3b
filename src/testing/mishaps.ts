/**
 * Faults, sorted by who brings them about: the simulated host, the source, the subscriber.
 * Owns the checks at the door.
 */

import { MillraceError } from '../../runtime/errors.js';
import { checkKeys, isOptions, nearest, show } from '../../runtime/option.js';
import type { Mishap } from '../../runtime/simulated/mishap.js';
import type { Fault } from './fault.js';

export interface Mishaps {
  readonly executors: readonly Mishap[];
  /** Before which value the source stands still, and for how long. */
  readonly stalls: readonly { readonly atValue: number; readonly forMs: number }[];
  /** Output values at which the subscriber throws. */
  readonly throws: readonly number[];
  /** Output values after which it leaves; 0: `forMs` after it has come. */
  readonly leaves: readonly { readonly atValue: number; readonly forMs: number }[];
}

const kinds = {
  die: 'executor',
  pause: 'executor',
  slow: 'executor',
  full: 'executor',
  lateDoorbell: 'executor',
  starve: 'executor',
  sourceStall: 'source',
  subscriberThrows: 'subscriber',
  unsubscribe: 'subscriber',
} as const satisfies Record<Fault['kind'], string>;

/** Checks faults given by the user. */
export function mishapsOf(faults: unknown): Mishaps {
  if (!Array.isArray(faults)) throw refused(`faults must be an array of faults, got ${show(faults)}`);
  const checked = faults.map((fault, index) => checkFault(fault, `faults[${index}]`));
  const of = (kind: Fault['kind']) => checked.filter((fault) => fault.kind === kind);
  return {
    executors: checked.filter((fault): fault is Mishap & Checked => kinds[fault.kind] === 'executor'),
    stalls: of('sourceStall'),
    throws: of('subscriberThrows').map(({ atValue }) => Math.max(1, atValue)),
    leaves: of('unsubscribe'),
  };
}

/** Executors that faults name must be of the plan. */
export function checkExecutors(
  mishaps: readonly Mishap[],
  segmentsOf: () => readonly { readonly name: string; readonly parallelism: number }[],
): void {
  const named = mishaps.flatMap(({ executor }) => (executor === undefined ? [] : [executor]));
  if (named.length === 0) return;
  const ids = segmentsOf().flatMap(({ name, parallelism }) =>
    Array.from({ length: parallelism }, (_, index) => `${name}/${index}`),
  );
  for (const name of named) {
    if (ids.includes(name)) continue;
    const near = nearest(name, ids);
    const hint = near === undefined ? `there are ${ids.join(', ') || 'none'}` : `did you mean ${near}?`;
    throw refused(`a fault names executor ${show(name)}, which this plan does not have: ${hint}`);
  }
}

interface Checked {
  readonly kind: Fault['kind'];
  readonly executor: string | undefined;
  readonly atValue: number;
  readonly forMs: number;
}

function checkFault(fault: unknown, where: string): Checked {
  if (!isOptions(fault)) throw refused(`${where} must be { kind, executor, atValue, forMs }, got ${show(fault)}`);
  checkKeys(fault, ['kind', 'executor', 'atValue', 'forMs'], where);
  const { kind, executor, atValue = 0, forMs = 0 } = fault as Partial<Record<keyof Fault, unknown>>;
  if (!isKind(kind)) throw refused(`${where}.kind must be one of ${Object.keys(kinds).join(', ')}, got ${show(kind)}`);
  if (executor !== undefined && typeof executor !== 'string')
    throw refused(`${where}.executor must be an id such as "words/0", got ${show(executor)}`);
  if (!(Number.isInteger(atValue) && (atValue as number) >= 0))
    throw refused(`${where}.atValue must be a whole number of values, at least 0, got ${show(atValue)}`);
  if (!(typeof forMs === 'number' && forMs >= 0 && forMs < Number.POSITIVE_INFINITY))
    throw refused(`${where}.forMs must be milliseconds, at least 0, got ${show(forMs)}`);
  return { kind, executor, atValue: atValue as number, forMs };
}

function isKind(kind: unknown): kind is Fault['kind'] {
  return typeof kind === 'string' && Object.hasOwn(kinds, kind);
}

function refused(message: string): MillraceError {
  return new MillraceError('ERR_OPTION', message);
}
