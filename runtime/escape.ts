/**
 * Escapes: how a snapshot says what MessagePack has no exact word for.
 * Owns the envelope, its tags and the way back. In band, so no extension is registered with msgpackr, whose table
 * of extensions the user's own msgpackr shares.
 * Never looks at a value before it is encoded: value.ts decides what needs an escape.
 */

/*
 * An escape is a plain object with one key:  { "\0": [tag, …operands] }
 * A user's own object with such a key is written as `fields`, so an envelope is never mistaken.
 *
 *   minusZero                                    -0
 *   text      UTF-16 LE bytes                    a string UTF-8 cannot carry, or whose BOM a decoder would eat
 *   bigint    hexadecimal, with sign             beyond 64 bits
 *   fields    key, value, key, value …           a plain object with a key that does not survive as a field name
 *   sparse    length, index, value, index …      an array with holes
 *   set       members
 *   date      time                               NaN is the invalid date
 *   regexp    source, flags, lastIndex
 *   error     class, key, enumerable, value …    own properties in their order
 */
export const mark = '\0';

export const tags = {
  minusZero: 0,
  text: 1,
  bigint: 2,
  fields: 3,
  sparse: 4,
  set: 5,
  date: 6,
  regexp: 7,
  error: 8,
} as const;

/** What an escape holds: its tag, then the operands. */
export type Envelope = [tag: (typeof tags)[keyof typeof tags], ...operands: unknown[]];

/** The errors the language itself has. `AggregateError` is among them, though it is constructed another way. */
export const errorClasses: ReadonlyMap<string, ErrorConstructor> = new Map(
  [
    Error,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
    AggregateError as unknown as ErrorConstructor,
  ].map((Class) => [Class.name, Class]),
);

/** An error of the class named, or a plain one, without any property of its own. */
export function bareError(className: string): Error {
  const error = className === 'AggregateError' ? new AggregateError([]) : new (errorClasses.get(className) ?? Error)();
  for (const key of Reflect.ownKeys(error)) Reflect.deleteProperty(error, key);
  return error;
}

/** Defines what an assignment might not: `__proto__`, read-only names, hidden properties. */
export function define(target: object, key: string, value: unknown, enumerable = true): void {
  Object.defineProperty(target, key, { value, enumerable, writable: true, configurable: true });
}

/** Undoes the escapes of a decoded value, in place where it can. Called only for frames flagged as escaped. */
export function revive(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === 'object' && item !== null) value[index] = revive(item);
    }
    return value;
  }
  if (value instanceof Map) {
    const entries = [...value];
    value.clear();
    for (const [key, item] of entries) value.set(revive(key), revive(item));
    return value;
  }
  const fields = value as Record<string, unknown>;
  const envelope = fields[mark];
  if (envelope !== undefined) return reviveEscape(revive(envelope) as Envelope);
  for (const key in fields) {
    const item = fields[key];
    if (typeof item === 'object' && item !== null) fields[key] = revive(item);
  }
  return value;
}

function reviveEscape([tag, ...operands]: Envelope): unknown {
  switch (tag) {
    case tags.minusZero:
      return -0;
    case tags.text:
      return (operands[0] as Buffer).toString('utf16le');
    case tags.bigint: {
      const digits = operands[0] as string;
      return digits.startsWith('-') ? -BigInt(`0x${digits.slice(1)}`) : BigInt(`0x${digits}`);
    }
    case tags.fields: {
      const object = {};
      for (let at = 0; at < operands.length; at += 2) define(object, operands[at] as string, operands[at + 1]);
      return object;
    }
    case tags.sparse: {
      const array = new Array<unknown>(operands[0] as number);
      for (let at = 1; at < operands.length; at += 2) array[operands[at] as number] = operands[at + 1];
      return array;
    }
    case tags.set:
      return new Set(operands);
    case tags.date:
      return new Date(operands[0] as number);
    case tags.regexp: {
      const regexp = new RegExp(operands[0] as string, operands[1] as string);
      regexp.lastIndex = operands[2] as number;
      return regexp;
    }
    case tags.error: {
      const error = bareError(operands[0] as string);
      for (let at = 1; at < operands.length; at += 3) {
        define(error, operands[at] as string, operands[at + 2], operands[at + 1] as boolean);
      }
      return error;
    }
    default:
      throw new TypeError(`unknown escape ${tag}`);
  }
}
