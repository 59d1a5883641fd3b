/**
 * Code made for one shape: a function that takes a value apart into columns, and one that makes values of columns.
 * Owns the two texts. They contain nothing of the stream but keys, as JSON; a descriptor is checked by shape.ts before.
 * Where a process forbids code from strings, `compile` says so and values are built by walking the shape.
 */

import type { Column } from './column.js';
import { isTuple, type Kind, leafKinds, type Shape } from './shape.js';
import { type Meter, snapshot } from './value.js';

/**
 * Takes the value at place `at` of the columns apart. Above 0: taken, its estimated bytes. Below: it does not fit, see
 * `misfitOf`, and nothing was changed. What a getter of the value throws passes through.
 */
export type TakeApart = (value: unknown, at: number) => number;

export interface Taker {
  readonly takeApart: TakeApart;
  /** Lets go of what the last value held. */
  forget(): void;
}

/** Where a column of a payload is: an offset for numbers and booleans, values for the rest. */
export type Source = number | readonly unknown[];
export type Rebuild = (view: DataView, count: number, sources: readonly Source[]) => unknown[];

/** Which node (shape.ts, `widen`) a negative result of TakeApart speaks of, and whether a number was found there. */
export function misfitOf(result: number): { readonly node: number; readonly isNumber: boolean } {
  return { node: (-result - 2) >> 1, isNumber: (-result & 1) === 1 };
}

/** A misfit of the root that no widening cures. */
export const notAtAll: number = -2;

function misfit(node: number): string {
  return `${-2 * node - 2}`;
}

/** undefined: this process makes no code from strings, so nothing is sent as columns. */
export function compileTakeApart(shape: Shape): ((columns: readonly Column[], meter: Meter) => Taker) | undefined {
  const text = new TakeApartText(shape).text;
  const make = functionOf(
    'columns',
    'meter',
    'snapshot',
    'known',
    `const { ${Object.keys(known).join(', ')} } = known; ${text}`,
  );
  if (make === undefined) return undefined;
  return (columns, meter) => make(columns, meter, snapshot, known) as Taker;
}

/** What the text of a TakeApart calls. */
const known = {
  prototypeOf: Object.getPrototypeOf,
  symbolsOf: Object.getOwnPropertySymbols,
  assign: Object.assign,
  preventExtensions: Object.preventExtensions,
  keysOf: Object.keys,
  isArray: Array.isArray,
  plain: Object.prototype,
  list: Array.prototype,
} as const;

export function compileRebuild(shape: Shape): Rebuild {
  let leaves = 0;
  const literal = (node: Shape): string => {
    if (typeof node !== 'string') {
      if (isTuple(node)) return `[${node.tuple.map(literal).join(', ')}]`;
      return `{ ${node.map(([key, child]) => `${JSON.stringify(key)}: ${literal(child)}`).join(', ')} }`;
    }
    const source = `s${leaves++}`;
    if (node === leafKinds.int32) return `view.getInt32(${source} + i * 4, true)`;
    if (node === leafKinds.float64) return `view.getFloat64(${source} + i * 8, true)`;
    if (node === leafKinds.boolean) return `view.getUint8(${source} + i) !== 0`;
    return `${source}[i]`;
  };
  const value = literal(shape);
  const names = Array.from({ length: leaves }, (_, leaf) => `s${leaf}`);
  const made = functionOf(
    'view',
    'count',
    'sources',
    `const [${names.join(', ')}] = sources;
     const values = [];
     for (let i = 0; i < count; i++) values.push(${value});
     return values;`,
  );
  return (made as Rebuild | undefined) ?? walking(shape);
}

/** The text of a TakeApart: everything is read and checked first, then written. */
class TakeApartText {
  readonly text: string;
  readonly #columns: string[] = [];
  readonly #copies: string[] = [];
  readonly #forgets: string[] = [];
  readonly #checks: string[] = [];
  readonly #writes: string[] = [];
  readonly #sizes: string[] = [];
  #nodes = 0;

  constructor(shape: Shape) {
    this.#node(shape, 0);
    this.text = `${[...this.#columns, ...this.#copies].join('\n')}
      return {
        takeApart(v0, at) {
          ${this.#checks.join('\n')}
          ${this.#writes.join('\n')}
          return ${this.#sizes.join(' + ')};
        },
        forget() {
          ${this.#forgets.join('\n')}
        },
      };`;
  }

  /** The value of node n is in the variable vn. */
  #node(shape: Shape, depth: number): void {
    const node = this.#nodes++;
    const value = `v${node}`;
    if (typeof shape !== 'string') {
      if (isTuple(shape)) this.#tuple(shape.tuple.length, value, misfit(node));
      else
        this.#object(
          shape.map(([key]) => JSON.stringify(key)),
          node,
        );
      const children = isTuple(shape)
        ? shape.tuple.map((child, index) => [`${value}[${index}]`, child] as const)
        : shape.map(([key, child]) => [`p${node}[${JSON.stringify(key)}]`, child] as const);
      for (const [item, child] of children) {
        this.#checks.push(`const v${this.#nodes} = ${item};`);
        this.#node(child, depth + 1);
      }
      return;
    }
    const column = `c${this.#columns.length}`;
    this.#columns.push(`const ${column} = columns[${this.#columns.length}];`);
    this.#leaf(shape, value, column, node, depth);
  }

  // Keys begin with the indices in their order: if the last of so many is the last index, there are no holes and no others.
  #tuple(length: number, value: string, wrong: string): void {
    this.#checks.push(
      `if (!isArray(${value}) || ${value}.length !== ${length} || prototypeOf(${value}) !== list) return ${wrong};
       { const keys = keysOf(${value});
         if (keys.length !== ${length} || keys[${length - 1}] !== '${length - 1}' || symbolsOf(${value}).length !== 0) return ${wrong}; }`,
    );
  }

  // for…in sees what is inherited as well: a polluted prototype does not fit. Symbol keys are seen by the copy into an object
  // that takes no further key: it throws, at less than it costs to ask for them. What getters return is read from the copy.
  #object(keys: readonly string[], node: number): void {
    const value = `v${node}`;
    const wrong = misfit(node);
    const cases = keys.map((key, place) => `case ${place}: if (k !== ${key}) return ${wrong}; break;`);
    this.#copies.push(
      `const p${node} = preventExtensions({ __proto__: null, ${keys.map((key) => `${key}: undefined`).join(', ')} });`,
    );
    this.#forgets.push(...keys.map((key) => `p${node}[${key}] = undefined;`));
    this.#checks.push(
      `if (typeof ${value} !== 'object' || ${value} === null || prototypeOf(${value}) !== plain) return ${wrong};
       { let place = 0;
         for (const k in ${value}) switch (place++) { ${cases.join(' ')} default: return ${wrong}; }
         if (place !== ${keys.length}) return ${wrong}; }
       assign(p${node}, ${value});`,
    );
  }

  #leaf(kind: Kind, value: string, column: string, node: number, depth: number): void {
    const wrong = misfit(node);
    switch (kind) {
      case leafKinds.int32:
        this.#checks.push(
          `if (typeof ${value} !== 'number') return ${wrong};`,
          `if ((${value} | 0) !== ${value} || (${value} === 0 && 1 / ${value} < 0)) return ${wrong} - 1;`,
        );
        this.#writes.push(`${column}.ints[at] = ${value};`);
        this.#sizes.push('4');
        break;
      case leafKinds.float64:
        this.#checks.push(`if (typeof ${value} !== 'number') return ${wrong};`);
        this.#writes.push(`${column}.floats[at] = ${value};`);
        this.#sizes.push('8');
        break;
      case leafKinds.boolean:
        this.#checks.push(`if (typeof ${value} !== 'boolean') return ${wrong};`);
        this.#writes.push(`${column}.flags[at] = ${value} ? 1 : 0;`);
        this.#sizes.push('1');
        break;
      case leafKinds.string:
        this.#checks.push(`if (typeof ${value} !== 'string') return ${wrong};`);
        this.#writes.push(`${column}.text += ${value};`, `${column}.lengths[at] = ${value}.length;`);
        this.#sizes.push(`4 + ${value}.length`);
        break;
      case leafKinds.any:
        this.#checks.push(`const t${node} = snapshot(${value}, meter, ${depth});`);
        this.#writes.push(`${column}.values[at] = t${node};`);
        this.#sizes.push('1');
        break;
    }
  }
}

type Made = (...values: unknown[]) => unknown;

function functionOf(...parameters: readonly string[]): Made | undefined {
  try {
    return new Function(...parameters) as Made;
  } catch (reason) {
    if (reason instanceof EvalError) return undefined;
    throw reason;
  }
}

/** The same as the generated text, slower. */
function walking(shape: Shape): Rebuild {
  return (view, count, sources) =>
    Array.from({ length: count }, (_, i) => {
      let leaf = 0;
      const build = (node: Shape): unknown => {
        if (typeof node !== 'string') {
          if (isTuple(node)) return node.tuple.map(build);
          return Object.fromEntries(node.map(([key, child]) => [key, build(child)]));
        }
        const source = sources[leaf++] as Source;
        if (typeof source !== 'number') return source[i];
        if (node === leafKinds.int32) return view.getInt32(source + i * 4, true);
        return node === leafKinds.float64 ? view.getFloat64(source + i * 8, true) : view.getUint8(source + i) !== 0;
      };
      return build(shape);
    });
}
