/**
 * Faults: what was thrown, on its way to another thread.
 * Owns the form errors have on the wire. Never throws, and never keeps a reference to what was thrown.
 */

import { types } from 'node:util';
import { codes, type ErrorCode, isMillraceError, MillraceError } from './errors.js';
import { bareError, define, errorClasses } from './escape.js';
import { isPlain } from './plain.js';

/**
 * Plain data that JSON, MessagePack and structured clone all carry as it is. Strings, finite numbers, booleans and
 * null are themselves; what can only be described arrives as the description.
 */
export type Fault =
  | string
  | number
  | boolean
  | null
  | { readonly kind: 'undefined' }
  | { readonly kind: 'number' | 'bigint'; readonly text: string }
  | { readonly kind: 'date'; readonly time: Fault }
  | { readonly kind: 'list'; readonly items: readonly Fault[] }
  | { readonly kind: 'record'; readonly fields: Fields }
  | ErrorFault;

type Fields = readonly (readonly [key: string, value: Fault])[];

interface ErrorFault {
  readonly kind: 'error';
  /** The nearest class that every realm has. */
  readonly class: string;
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** In a list of one, so that a cause that is undefined differs from none. */
  readonly cause?: readonly [Fault];
  /** Of an AggregateError. */
  readonly errors?: Fault;
  /** Own enumerable properties. */
  readonly fields: Fields;
  /** Present if it is an error of millrace. */
  readonly code?: ErrorCode;
}

const maxDepth = 8;
const maxItems = 100;
const maxChars = 16_384;

export function toFault(reason: unknown): Fault {
  try {
    return faultOf(reason, []);
  } catch {
    return '[unreadable]';
  }
}

/** What was thrown, in words, whatever it is; of an error its message alone, unless it is to be named. */
export function said(reason: unknown, named = false): string {
  try {
    if (!(reason instanceof Error)) return cut(String(reason));
    return cut(named ? `${reason.name}: ${reason.message}` : `${reason.message}`);
  } catch {
    return 'what was thrown cannot be put into words';
  }
}

function faultOf(value: unknown, ancestors: readonly unknown[]): Fault {
  switch (typeof value) {
    case 'string':
      return cut(value);
    case 'number':
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return { kind: 'number', text: value === 0 ? '-0' : String(value) };
    case 'boolean':
      return value;
    case 'undefined':
      return { kind: 'undefined' };
    case 'bigint':
      return { kind: 'bigint', text: value.toString() };
    case 'function':
      return `[function ${cut(String(value.name))}]`;
    case 'symbol':
      return `[${cut(String(value))}]`;
    default:
      return value === null ? value : objectFault(value as object, ancestors);
  }
}

function objectFault(value: object, ancestors: readonly unknown[]): Fault {
  if (ancestors.includes(value)) return '[cycle]';
  if (ancestors.length >= maxDepth) return '[nested too deeply]';
  const path = [...ancestors, value];
  if (isError(value)) return errorFault(value, path);
  if (types.isDate(value)) return { kind: 'date', time: faultOf(value.getTime(), path) };
  if (!isPlain(value) && Object.getPrototypeOf(value) !== null)
    return `[instance of ${cut(String(value.constructor?.name))}]`;
  if (!Array.isArray(value)) return { kind: 'record', fields: fieldsOf(value, path) };
  const items = Array.from(value.slice(0, maxItems), (_, index) => readFault(value, index, path));
  if (value.length > maxItems) items.push(`[${value.length - maxItems} more]`);
  return { kind: 'list', items };
}

function isError(value: object): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

function errorFault(error: Error, path: readonly unknown[]): ErrorFault {
  const code = isMillraceError(error) && Object.hasOwn(codes, error.code) ? error.code : undefined;
  const stack = readText(error, 'stack');
  return {
    kind: 'error',
    class: classOf(error),
    name: readText(error, 'name') ?? 'Error',
    message: readText(error, 'message') ?? '',
    ...(stack !== undefined && { stack }),
    ...(isHidden(error, 'cause') && { cause: [readFault(error, 'cause', path)] }),
    ...(isHidden(error, 'errors') && { errors: readFault(error, 'errors', path) }),
    fields: errorFields(error, path, code === undefined ? standard : [...standard, 'code']),
    ...(code !== undefined && { code }),
  };
}

const standard: readonly string[] = ['name', 'message', 'stack'];

/** Own fields, and the code that a DOMException has on its prototype. */
function errorFields(error: Error, path: readonly unknown[], except: readonly string[]): Fields {
  const fields = fieldsOf(error, path, except);
  const inherited = 'code' in error && !Object.hasOwn(error, 'code');
  return inherited ? [...fields, ['code', readFault(error, 'code', path)]] : fields;
}

function isHidden(object: object, key: string): boolean {
  return Object.hasOwn(object, key) && !Object.prototype.propertyIsEnumerable.call(object, key);
}

/** The name of the standard class in the error's prototype chain that is nearest to it. */
function classOf(error: Error): string {
  for (let link: unknown = Object.getPrototypeOf(error); link !== null; link = Object.getPrototypeOf(link)) {
    const name = (link as Error).constructor?.name;
    if (errorClasses.has(name)) return name;
  }
  return 'Error';
}

function fieldsOf(object: object, path: readonly unknown[], except: readonly string[] = []): Fields {
  const keys = Object.keys(object).filter((key) => !except.includes(key));
  const fields = keys.slice(0, maxItems).map((key): [string, Fault] => [cut(key), readFault(object, key, path)]);
  return keys.length > maxItems ? [...fields, ['…', `[${keys.length - maxItems} more]`]] : fields;
}

function readFault(object: object, key: PropertyKey, path: readonly unknown[]): Fault {
  try {
    return faultOf(Reflect.get(object, key), path);
  } catch {
    return '[unreadable]';
  }
}

function readText(object: object, key: string): string | undefined {
  try {
    const value: unknown = Reflect.get(object, key);
    return typeof value === 'string' ? cut(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Bounded, and well formed, for UTF-8 has no word for half a character. */
function cut(text: string): string {
  const short = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  return (short as string & { toWellFormed(): string }).toWellFormed();
}

/** What was thrown, as near as it could be carried: an error of the same standard class and name, or the value. */
export function fromFault(fault: Fault): unknown {
  if (typeof fault !== 'object' || fault === null) return fault;
  switch (fault.kind) {
    case 'undefined':
      return undefined;
    case 'number':
      return Number(fault.text);
    case 'bigint':
      return BigInt(fault.text);
    case 'date':
      return new Date(fromFault(fault.time) as number);
    case 'list':
      return fault.items.map(fromFault);
    case 'record':
      return assign({}, fault.fields);
    case 'error':
      return assign(errorOf(fault), fault.fields);
  }
}

function assign(target: object, fields: Fields): object {
  for (const [key, value] of fields) define(target, key, fromFault(value));
  return target;
}

function errorOf(fault: ErrorFault): Error {
  const { code, name, message, stack, cause, errors } = fault;
  const error = code === undefined ? bareError(fault.class) : new MillraceError(code, '');
  if (stack !== undefined) define(error, 'stack', stack, false);
  if (error.message !== message) define(error, 'message', message, false);
  if (error.name !== name) define(error, 'name', name, false);
  if (cause !== undefined) define(error, 'cause', fromFault(cause[0]), false);
  if (errors !== undefined) define(error, 'errors', fromFault(errors), false);
  return error;
}
