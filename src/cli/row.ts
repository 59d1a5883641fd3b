/**
 * A result as a line of text: JSON, or tab-separated.
 * Owns the refusal of what a line would change without a word, with the path.
 */

import { MillraceError } from '../../runtime/errors.js';
import { property } from '../../runtime/refusal.js';

export type Format = 'ndjson' | 'tsv';

/** `stream` is the name of the output, of a record of outputs. */
export function rowOf(format: Format, value: unknown, stream?: string): string {
  if (format === 'tsv') return (stream === undefined ? '' : `${escaped(stream)}\t`) + tsvOf(value);
  const text = jsonOf(value);
  return stream === undefined ? text : `{"stream":${JSON.stringify(stream)},"value":${text}}`;
}

const maxDepth = 1000;

type Verdict = 'fits' | 'negativeZero' | 'refused';

function jsonOf(value: unknown): string {
  const verdict = judge(value, 0);
  if (verdict === 'refused') throw refusal('JSON', value);
  return verdict === 'fits' ? JSON.stringify(value) : exactJson(value);
}

/** JSON.stringify writes -0 as 0. */
function exactJson(value: unknown): string {
  if (Object.is(value, -0)) return '-0';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  return `{${Object.entries(value)
    .map(([key, part]) => `${JSON.stringify(key)}:${exactJson(part)}`)
    .join(',')}}`;
}

function judge(value: unknown, depth: number): Verdict {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return 'fits';
  if (typeof value === 'number')
    return value === 0 && Object.is(value, -0) ? 'negativeZero' : Number.isFinite(value) ? 'fits' : 'refused';
  if (typeof value !== 'object' || depth === maxDepth) return 'refused';
  let verdict: Verdict = 'fits';
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const inner = judge(value[i], depth + 1);
      if (inner === 'refused') return inner;
      if (inner !== 'fits') verdict = inner;
    }
    return verdict;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return 'refused';
  for (const key of Object.keys(value)) {
    const inner = judge((value as Readonly<Record<string, unknown>>)[key], depth + 1);
    if (inner === 'refused') return inner;
    if (inner !== 'fits') verdict = inner;
  }
  return verdict;
}

function refusal(format: string, value: unknown): MillraceError {
  const { path, what } = firstRefused(value, 'value', 0);
  const shown = path.length <= 200 ? path : `${path.slice(0, 100)}…${path.slice(-100)}`;
  return new MillraceError(
    'ERR_VALUE',
    `${shown} of a result is ${what}, which ${format} cannot carry; map it to a string, a number or plain data before the output`,
  );
}

interface Refused {
  readonly path: string;
  readonly what: string;
}

/** The innermost part that is refused. */
function firstRefused(value: unknown, path: string, depth: number): Refused {
  const plain =
    typeof value === 'object' &&
    value !== null &&
    (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype);
  if (!plain) return { path, what: kindOf(value) };
  if (depth === maxDepth) return { path, what: `nested more than ${maxDepth} levels deep` };
  // Array.from: holes are undefined here.
  const parts: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? Array.from(value, (part: unknown, i) => [`[${i}]`, part] as const)
    : Object.entries(value).map(([key, part]) => [property(key), part] as const);
  const [step, part] = parts.find(([, inner]) => judge(inner, depth + 1) === 'refused') as readonly [string, unknown];
  return firstRefused(part, path + step, depth + 1);
}

function kindOf(value: unknown): string {
  if (typeof value === 'number' || value === undefined) return String(value);
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  const name: unknown = (value as { readonly constructor?: { readonly name?: unknown } }).constructor?.name;
  const kind = typeof name === 'string' && name !== '' ? name : 'object without a prototype';
  return `${/^[aeioAEIO]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

function tsvOf(value: unknown): string {
  if (!Array.isArray(value)) return fieldOf(value, 'value');
  if (value.length === 0)
    throw new MillraceError(
      'ERR_VALUE',
      'value of a result is an empty array, which would be a row like that of an empty string',
    );
  return Array.from(value, (part: unknown, i) => fieldOf(part, `value[${i}]`)).join('\t');
}

function fieldOf(value: unknown, path: string): string {
  if (typeof value === 'string') {
    if (/\p{Surrogate}/u.test(value)) throw unfit(path, 'a string with a lone surrogate');
    return escaped(value);
  }
  if (value === null) return '\\N';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
  throw unfit(path, kindOf(value));
}

function unfit(path: string, what: string): MillraceError {
  return new MillraceError(
    'ERR_VALUE',
    `${path} of a result is ${what}; tsv carries strings, numbers, booleans, null and flat arrays of these`,
  );
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** As databases read and write it, so that a row stays a row and comes back as it was. */
function escaped(text: string): string {
  return /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (char) => escapes[char] as string) : text;
}
