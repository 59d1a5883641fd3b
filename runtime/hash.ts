/**
 * Which executor a key belongs to: hash version 1, the same in every process, on every machine and in any language.
 * Owns the bytes of a key, the hash of them, the slots, and the form of a key that a Map can be indexed by.
 * Never changes: a new hash is a new version.
 */

import { types } from 'node:util';
import { MillraceError } from './errors.js';
import { show } from './option.js';
import { isPlain } from './plain.js';
import { maxDepth } from './refusal.js';

/*
 * The bytes of a key, all numbers big endian:
 *
 *   null 00 · undefined 01 · false 02 · true 03
 *   number   04, float64; -0 as 0, every NaN as 7ff8000000000000
 *   bigint   05, sign (01 if negative, else 00), u32 length, magnitude without leading zeros (0n has none)
 *   string   06, UTF-8, ff; a lone surrogate as the three bytes UTF-8 would give it
 *   Date     07, milliseconds since 1970 as float64, like number
 *   bytes    08, u32 length, bytes; of an ArrayBuffer or of what any view of one covers
 *   array    09, u32 length, elements; a hole is undefined
 *   object   0a, u32 number of own enumerable string keys, then key (as string) and value of each,
 *            sorted by the UTF-16 code units of the keys
 *
 * hash = fmix32(FNV-1a 32 of the bytes): FNV because it takes byte after byte without a buffer, the finaliser of
 * MurmurHash3 because the slot is taken from the upper bits, which FNV alone spreads badly.
 */
const tag = {
  null: 0x00,
  undefined: 0x01,
  false: 0x02,
  true: 0x03,
  number: 0x04,
  bigint: 0x05,
  string: 0x06,
  date: 0x07,
  bytes: 0x08,
  array: 0x09,
  object: 0x0a,
} as const;

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/** Keys are dealt to slots, slots to executors, so that executors may later be added and moved by slot. */
export const slots = 1024;

/** An unsigned 32-bit integer. */
export function hashKey(key: unknown): number {
  let hash = typeof key === 'string' ? hashText(offsetBasis, key) : hashPart(offsetBasis, key, 0);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash >>> 0;
}

/** From 0 to `executors` - 1. The slot is the upper ten bits. */
export function executorOf(hash: number, executors: number): number {
  return ((hash >>> 22) * executors) >>> 10;
}

function byte(hash: number, value: number): number {
  return Math.imul(hash ^ value, prime);
}

function hashPart(hash: number, key: unknown, depth: number): number {
  switch (typeof key) {
    case 'string':
      return hashText(hash, key);
    case 'number':
      return hashFloat(byte(hash, tag.number), key);
    case 'boolean':
      return byte(hash, key ? tag.true : tag.false);
    case 'undefined':
      return byte(hash, tag.undefined);
    case 'bigint':
      return hashBytes(byte(byte(hash, tag.bigint), key < 0n ? 1 : 0), magnitude(key));
    default:
      return key === null ? byte(hash, tag.null) : hashComposite(hash, key, depth + 1);
  }
}

function hashComposite(start: number, key: unknown, depth: number): number {
  let hash = start;
  const composite = compositeOf(key, depth);
  switch (composite.kind) {
    case 'date':
      return hashFloat(byte(hash, tag.date), composite.time);
    case 'bytes':
      return hashBytes(byte(hash, tag.bytes), composite.bytes);
    case 'array':
      hash = hashWord(byte(hash, tag.array), composite.items.length);
      for (const item of composite.items) hash = hashPart(hash, item, depth);
      return hash;
    case 'object':
      hash = hashWord(byte(hash, tag.object), composite.keys.length);
      for (const name of composite.keys) hash = hashPart(hashText(hash, name), composite.fields[name], depth);
      return hash;
  }
}

function hashText(start: number, text: string): number {
  let hash = byte(start, tag.string);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      hash = byte(hash, unit);
      continue;
    }
    const point = text.codePointAt(index) as number;
    if (point < 0x800) {
      hash = byte(hash, 0xc0 | (point >> 6));
    } else {
      if (point < 0x10000) {
        hash = byte(hash, 0xe0 | (point >> 12));
      } else {
        hash = byte(byte(hash, 0xf0 | (point >> 18)), 0x80 | ((point >> 12) & 0x3f));
        index++;
      }
      hash = byte(hash, 0x80 | ((point >> 6) & 0x3f));
    }
    hash = byte(hash, 0x80 | (point & 0x3f));
  }
  return byte(hash, 0xff);
}

const float = new DataView(new ArrayBuffer(8));

function hashFloat(start: number, value: number): number {
  if (Number.isNaN(value)) return hashWord(hashWord(start, 0x7ff80000), 0);
  float.setFloat64(0, value + 0);
  return hashWord(hashWord(start, float.getUint32(0)), float.getUint32(4));
}

function hashWord(hash: number, word: number): number {
  return byte(byte(byte(byte(hash, word >>> 24), (word >>> 16) & 0xff), (word >>> 8) & 0xff), word & 0xff);
}

function hashBytes(start: number, bytes: Uint8Array): number {
  let hash = hashWord(start, bytes.length);
  for (const value of bytes) hash = byte(hash, value);
  return hash;
}

function magnitude(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array();
  const digits = (value < 0n ? -value : value).toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

type Composite =
  | { readonly kind: 'date'; readonly time: number }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'array'; readonly items: readonly unknown[] }
  | { readonly kind: 'object'; readonly keys: readonly string[]; readonly fields: Readonly<Record<string, unknown>> };

/** The parts of a key that is no scalar; here it is decided what can be one. */
function compositeOf(key: unknown, depth: number): Composite {
  if (depth > maxDepth)
    throw new MillraceError('ERR_KEY', `a key is cyclic or nested more than ${maxDepth} levels deep`);
  if (typeof key === 'object' && key !== null) {
    if (types.isDate(key)) return { kind: 'date', time: key.getTime() };
    if (ArrayBuffer.isView(key)) {
      return { kind: 'bytes', bytes: new Uint8Array(key.buffer, key.byteOffset, key.byteLength) };
    }
    if (types.isAnyArrayBuffer(key)) return { kind: 'bytes', bytes: new Uint8Array(key) };
    if (isPlain(key)) {
      if (Array.isArray(key)) return { kind: 'array', items: key };
      return { kind: 'object', keys: Object.keys(key).sort(), fields: key as Record<string, unknown> };
    }
  }
  const cure = 'use strings, numbers, bigints, booleans, dates, bytes, or arrays and plain objects of these';
  throw new MillraceError('ERR_KEY', `a key cannot be or hold ${show(key)}; ${cure}`);
}

/** Begins the text of a composite key. */
const prefix = '\0';

/**
 * The key as an index of a Map: two are the same value to a Map exactly if the keys are the same key.
 * Scalars are themselves. A composite is its text behind a NUL; a string that begins with one gets another in front,
 * so that it is never taken for a composite, whose text never begins with NUL.
 */
export function canonicalKey(key: unknown): string | number | bigint | boolean | null | undefined {
  switch (typeof key) {
    case 'string':
      return key.startsWith(prefix) ? prefix + key : key;
    case 'number':
      return key + 0;
    case 'bigint':
    case 'boolean':
    case 'undefined':
      return key;
    default:
      return key === null ? key : prefix + compositeText(key, 1);
  }
}

/** Every part says its type and where it ends. */
function partText(key: unknown, depth: number): string {
  switch (typeof key) {
    case 'string':
      return `s${key.length}:${key}`;
    case 'number':
      return `n${key};`;
    case 'bigint':
      return `i${key};`;
    case 'boolean':
      return key ? 't' : 'f';
    case 'undefined':
      return 'u';
    default:
      return key === null ? '-' : compositeText(key, depth + 1);
  }
}

function compositeText(key: unknown, depth: number): string {
  const composite = compositeOf(key, depth);
  let text: string;
  switch (composite.kind) {
    case 'date':
      return `d${composite.time};`;
    case 'bytes':
      return `b${composite.bytes.length}:${Buffer.from(composite.bytes).toString('latin1')}`;
    case 'array':
      text = `a${composite.items.length}:`;
      for (const item of composite.items) text += partText(item, depth);
      return text;
    case 'object':
      text = `o${composite.keys.length}:`;
      for (const name of composite.keys) text += partText(name, depth) + partText(composite.fields[name], depth);
      return text;
  }
}
