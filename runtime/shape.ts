/**
 * Shapes: the form that the values of a stream have in common, learned from one of them.
 * Owns the kinds of columns, the descriptor that travels in front of them, and what is not worth or not safe to be columns.
 * Never touches a column: columns.ts fills and reads them.
 */

import { isFieldName } from './value.js';

/*
 * A shape is written as JSON, the descriptor of a payload:
 *
 *   "i"                              a leaf: one column
 *   [["word","s"],["count","i"]]     a plain object with exactly these keys in this order; values are shapes again
 *   {"tuple":["s","i"]}              an array with exactly that many elements
 *
 * Every object of the shape is rebuilt by a literal with its keys in that order, so keys that a literal would move
 * (array indices) or take for something else (`__proto__`) have no shape.
 */
export type Shape = Kind | readonly Field[] | Tuple;
export type Field = readonly [key: string, shape: Shape];
export interface Tuple {
  readonly tuple: readonly Shape[];
}

export const leafKinds = {
  /** Integers of 32 bits. -0 is none. */
  int32: 'i',
  /** Any number, bit by bit. */
  float64: 'f',
  boolean: 'b',
  string: 's',
  /** Whatever travels, as MessagePack, column by column. */
  any: 'a',
} as const;

export type Kind = (typeof leafKinds)[keyof typeof leafKinds];

const maxLeaves = 64;
/** Longer arrays are lists, of another length the next time. */
const maxTuple = 8;
const maxDepth = 8;

/** The shape of a value; undefined: its like travel better as MessagePack, or it cannot be read, and a snapshot says why. */
export function learn(value: unknown): Shape | undefined {
  let shape: Shape | undefined;
  try {
    shape = shapeOf(value, 0);
  } catch {}
  const kinds = shape === undefined ? [] : leavesOf(shape);
  const worthIt = kinds.length <= maxLeaves && kinds.some((kind) => kind !== leafKinds.any);
  return worthIt ? shape : undefined;
}

function shapeOf(value: unknown, depth: number): Shape | undefined {
  switch (typeof value) {
    case 'string':
      return leafKinds.string;
    case 'number':
      return Object.is(value | 0, value) ? leafKinds.int32 : leafKinds.float64;
    case 'boolean':
      return leafKinds.boolean;
    case 'object':
      return depth < maxDepth && value !== null ? compositeOf(value, depth) : undefined;
    default:
      return undefined;
  }
}

function compositeOf(value: object, depth: number): Shape | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return prototype === Array.prototype ? tupleOf(value, depth) : undefined;
  return prototype === Object.prototype ? fieldsOf(value, depth) : undefined;
}

function tupleOf(value: readonly unknown[], depth: number): Shape | undefined {
  if (value.length === 0 || value.length > maxTuple) return undefined;
  return { tuple: Array.from(value, (item) => shapeOf(item, depth + 1) ?? leafKinds.any) };
}

function fieldsOf(value: object, depth: number): Shape | undefined {
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.length > maxLeaves) return undefined;
  if (!entries.every(([key]) => isShapeKey(key))) return undefined;
  return entries.map(([key, item]) => [key, shapeOf(item, depth + 1) ?? leafKinds.any]);
}

/** Only what an object literal keeps as it is, in its place. */
function isShapeKey(key: string): boolean {
  return isFieldName(key) && !(key >= '0' && key < ':') && key.length <= 64;
}

/** The columns of a shape, from left to right. */
export function leavesOf(shape: Shape): Kind[] {
  return typeof shape === 'string' ? [shape] : childrenOf(shape).flatMap(leavesOf);
}

export function isTuple(shape: Exclude<Shape, Kind>): shape is Tuple {
  return 'tuple' in shape;
}

function childrenOf(shape: Exclude<Shape, Kind>): readonly Shape[] {
  return isTuple(shape) ? shape.tuple : shape.map(([, child]) => child);
}

/**
 * The shape with the node of that number (in preorder, the root is 0) made wide enough for what did not fit: an integer
 * column takes any number if that is what it was given, everything else becomes `any`. Every widening loses a kind, so
 * there are finitely many.
 */
export function widen(shape: Shape, node: number, isNumber: boolean): Shape {
  if (node === 0) return shape === leafKinds.int32 && isNumber ? leafKinds.float64 : leafKinds.any;
  if (typeof shape === 'string') return shape;
  let at = 1;
  const widened = (child: Shape): Shape => {
    const first = at;
    at += sizeOf(child);
    return node >= first && node < at ? widen(child, node - first, isNumber) : child;
  };
  return isTuple(shape) ? { tuple: shape.tuple.map(widened) } : shape.map(([key, child]) => [key, widened(child)]);
}

/** Nodes of a shape: leaves, objects and tuples. */
export function sizeOf(shape: Shape): number {
  return typeof shape === 'string' ? 1 : childrenOf(shape).reduce((sum, child) => sum + sizeOf(child), 1);
}

/** The shape of a descriptor; undefined if it is none that `learn` and `widen` could have made. */
export function parseShape(descriptor: string): Shape | undefined {
  let found: unknown;
  try {
    found = JSON.parse(descriptor);
  } catch {
    return undefined;
  }
  return isShape(found, 0) && leavesOf(found).length <= maxLeaves ? found : undefined;
}

const kinds: readonly unknown[] = Object.values(leafKinds);

function isShape(found: unknown, depth: number): found is Shape {
  if (typeof found === 'string') return kinds.includes(found);
  if (depth >= maxDepth) return false;
  if (!Array.isArray(found)) return isTupleShape(found, depth);
  if (found.length === 0 || found.length > maxLeaves) return false;
  const keys = new Set(found.map((field: unknown) => (Array.isArray(field) ? (field[0] as unknown) : undefined)));
  return keys.size === found.length && found.every((field: unknown) => isField(field, depth));
}

function isTupleShape(found: unknown, depth: number): boolean {
  const tuple = (found as Partial<Tuple> | null)?.tuple as unknown;
  if (!Array.isArray(tuple) || tuple.length === 0 || tuple.length > maxTuple) return false;
  return Object.keys(found as object).length === 1 && tuple.every((shape: unknown) => isShape(shape, depth + 1));
}

function isField(found: unknown, depth: number): boolean {
  if (!Array.isArray(found) || found.length !== 2) return false;
  const [key, shape] = found as unknown[];
  return typeof key === 'string' && isShapeKey(key) && isShape(shape, depth + 1);
}
