/**
 * How an operator of the menu meets a stream: on a Flow it records a step, on any other Observable it is the RxJS operator.
 * Owns that choice, the labels of steps and the table of traits that the menu fills. Never knows a single operator.
 */

import { isObservable, type Observable, type OperatorFunction } from 'rxjs';
import { nodeNow, recordStep } from './flow.js';
import type { Lower } from './step.js';
import { indexed, type Traits } from './traits.js';

type Plain = OperatorFunction<unknown, unknown>;

const traitsByName = new Map<string, Traits>();

/** The table of traits: every operator of the menu by name. */
export function operatorTraits(): ReadonlyMap<string, Traits> {
  return traitsByName;
}

/**
 * One line of the menu: an RxJS operator (or one of ours) with its traits and, where it is lowered, the kernel for its arguments.
 * A kernel of undefined leaves that use opaque. `indexArity`: a first argument that declares so many parameters counts the stream.
 * The result has the type of the operator it stands for.
 */
export function define<F extends (...args: never) => unknown>(
  plain: F,
  traits: Traits,
  kernel?: (...args: never) => Lower | undefined,
  indexArity?: number,
): F {
  const known = { ...traits, lowered: kernel !== undefined };
  traitsByName.set(traits.name, known);
  const make = (...args: readonly unknown[]): Plain => {
    const given = indexArity === undefined ? known : indexed(known, args[0], indexArity);
    return operator(given, args, plain(...(args as never)) as Plain, kernel?.(...(args as never)));
  };
  return make as unknown as F;
}

function operator(traits: Traits, args: readonly unknown[], plain: Plain, lower: Lower | undefined): Plain {
  const step = { traits, label: labelOf(traits.name, args), plain, lower, others: args.filter(isObservable) };
  return (source: Observable<unknown>) => {
    const node = nodeNow(source);
    return node === undefined ? plain(source) : recordStep(node, step);
  };
}

/** `take(10)`, `map(…)`: short arguments as they are. */
function labelOf(name: string, args: readonly unknown[]): string {
  const shown = args.map((arg) => {
    if (typeof arg === 'number' || typeof arg === 'boolean') return String(arg);
    return typeof arg === 'string' && arg.length <= 20 ? JSON.stringify(arg) : '…';
  });
  return `${name}(${shown.join(', ')})`;
}
