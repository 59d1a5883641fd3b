/**
 * What may travel between executors, and the snapshot taken of it when it is emitted.
 * Owns the law "a value arrives equal or is refused where it is emitted", and the path in the refusal.
 * Never packs: a snapshot is made of what msgpackr carries exactly, and of escapes for the rest (escape.ts).
 */

import { types } from 'node:util';
import { type Envelope, errorClasses, mark, tags } from './escape.js';
import { isForeignArrayPrototype, isForeignObjectPrototype, isPlain } from './plain.js';
import { describeInstance, maxDepth, property, Refusal, refusalOf, shareByArgs, tooDeep, under } from './refusal.js';

export { revive } from './escape.js';

/** What the snapshots of a batch add up to. */
export interface Meter {
  /** Estimate of the encoded size. */
  bytes: number;
  /** Whether an escape was used, so that the reader has to look for them. */
  escaped: boolean;
}

type Take = (source: never, meter: Meter, depth: number) => unknown;

/**
 * A value as it is now: scalars themselves, everything else copied. Refuses what would not arrive equal.
 * `depth` is the number of containers it stands in, which count for the bound of nesting.
 */
export function snapshot(value: unknown, meter: Meter, depth = 0): unknown {
  const { bytes, escaped } = meter;
  try {
    return take(value, meter, depth);
  } catch (error) {
    meter.bytes = bytes;
    meter.escaped = escaped;
    throw refusalOf(error, value);
  }
}

function take(value: unknown, meter: Meter, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return text(value, meter);
    case 'number':
      meter.bytes += (value | 0) === value ? 3 : 9;
      return value !== 0 || 1 / value > 0 ? value : escaped(meter, [tags.minusZero]);
    case 'object':
      if (value !== null) return container(value, meter, depth + 1);
      meter.bytes += 1;
      return value;
    case 'boolean':
    case 'undefined':
      meter.bytes += 2;
      return value;
    case 'bigint':
      meter.bytes += 9;
      if (BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value) return value;
      return escaped(meter, [tags.bigint, text(value.toString(16), meter)]);
    default:
      throw new Refusal(`is a ${typeof value}`);
  }
}

function text(value: string, meter: Meter): unknown {
  meter.bytes += value.length + 2;
  if (isExactUtf8(value)) return value;
  meter.bytes += value.length;
  return escaped(meter, [tags.text, Buffer.from(value, 'utf16le')]);
}

/** msgpackr replaces lone surrogates, and its TextDecoder takes a leading U+FEFF for a byte order mark. */
function isExactUtf8(value: string): boolean {
  return (value as string & { isWellFormed(): boolean }).isWellFormed() && value.charCodeAt(0) !== 0xfeff;
}

function escaped(meter: Meter, envelope: Envelope): object {
  meter.escaped = true;
  meter.bytes += 4;
  return { [mark]: envelope };
}

function container(value: object, meter: Meter, depth: number): unknown {
  if (depth > maxDepth) throw new Refusal(tooDeep);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    if (prototype === Array.prototype || isForeignArrayPrototype(prototype)) return takeList(value, meter, depth);
  } else {
    if (prototype === Object.prototype) return takePlain(value, meter, depth);
    const builtin = builtins.get(prototype);
    if (builtin !== undefined) return builtin(value as never, meter, depth);
    if (isForeignObjectPrototype(prototype)) return takePlain(value, meter, depth);
  }
  throw new Refusal(...describeInstance(value, prototype));
}

/**
 * Keys known to be fit for field names. A stream of like objects finds them by their place, others in the set;
 * both are bounded, and hold no key that is long or looks like an index.
 */
const familiar: string[] = [];
const fit = new Set<string>();

function takePlain(source: object, meter: Meter, depth: number): unknown {
  const copy: Record<string, unknown> = { ...source };
  refuseSymbols(copy);
  meter.bytes += 2;
  let at: string | undefined;
  let index = 0;
  try {
    for (const key in copy) {
      if (familiar[index] !== key && !isFit(key, index, source, meter)) {
        index = -1;
        break;
      }
      at = key;
      const value = copy[key];
      const taken = take(value, meter, depth);
      if (taken !== value) copy[key] = taken;
      index++;
    }
  } catch (error) {
    throw under(error, at === undefined ? '' : property(at));
  }
  if (index === 0) refuseDisguised(source);
  return index < 0 ? takeFields(source, meter, depth) : copy;
}

/** Whether an object with this key may travel as it is. */
function isFit(key: string, index: number, source: object, meter: Meter): boolean {
  if (fit.has(key)) {
    if (index < 32) familiar[index] = key;
    return true;
  }
  meter.bytes += key.length + 2;
  if (!isFieldName(key)) return false;
  if (!Object.hasOwn(source, key)) return false;
  if (key >= '0' && key < ':') {
    if (index === 0) refuseDisguised(source);
  } else if (key.length <= 64) {
    if (fit.size >= 4096) fit.clear();
    fit.add(key);
  }
  return true;
}

/** Whether msgpackr writes and reads this key as it is. */
export function isFieldName(key: string): boolean {
  return key !== mark && key !== '__proto__' && key !== '__keys__' && isExactUtf8(key);
}

/** `arguments`, `Math` and their like have the prototype of a plain object and are none. */
function refuseDisguised(source: object): void {
  const tag = Object.prototype.toString.call(source);
  if (tag !== '[object Object]') throw new Refusal(`is ${tag}`);
}

function takeFields(source: object, meter: Meter, depth: number): object {
  const envelope: Envelope = [tags.fields];
  for (const [key, value] of Object.entries(source)) {
    envelope.push(text(key, meter), takeAt(property(key), value, meter, depth));
  }
  return escaped(meter, envelope);
}

function takeList(source: readonly unknown[], meter: Meter, depth: number): unknown {
  const { length } = source;
  if (Object.keys(source).length !== length) return takeSparse(source, meter, depth);
  refuseSymbols(source);
  meter.bytes += 3;
  const copy = source.slice();
  let index = 0;
  try {
    for (; index < length; index++) {
      const value = copy[index];
      if (value === undefined && !Object.hasOwn(source, index)) break;
      const taken = take(value, meter, depth);
      if (taken !== value) copy[index] = taken;
    }
  } catch (error) {
    throw under(error, `[${index}]`);
  }
  return index < length ? takeSparse(source, meter, depth) : copy;
}

/** An array with holes, or with properties that are no elements: these are refused. */
function takeSparse(source: readonly unknown[], meter: Meter, depth: number): object {
  const envelope: Envelope = [tags.sparse, source.length];
  for (const key of Object.keys(source)) {
    const index = Number(key) >>> 0;
    if (String(index) !== key || index >= source.length) {
      throw new Refusal('is a property of an array beside its elements', property(key));
    }
    envelope.push(index, takeAt(`[${key}]`, source[index], meter, depth));
  }
  refuseSymbols(source);
  return escaped(meter, envelope);
}

function takeAt(step: string, value: unknown, meter: Meter, depth: number): unknown {
  try {
    return take(value, meter, depth);
  } catch (error) {
    throw under(error, step);
  }
}

function refuseSymbols(source: object): void {
  const symbols = Object.getOwnPropertySymbols(source);
  if (symbols.length === 0) return;
  const found = symbols.find((symbol) => Object.prototype.propertyIsEnumerable.call(source, symbol));
  if (found !== undefined) throw new Refusal('has a symbol for a key', `[${String(found)}]`);
}

function refuseExtras(source: object): void {
  for (const key of Object.keys(source)) throw new Refusal('is a property added to a built-in object', property(key));
  refuseSymbols(source);
}

const entriesOf = Map.prototype.entries;
const valuesOf = Set.prototype.values;

function takeMap(source: Map<unknown, unknown>, meter: Meter, depth: number): unknown {
  refuseExtras(source);
  meter.bytes += 3;
  const entries = entriesOf.call(source);
  const copy = new Map<unknown, unknown>();
  let step = '';
  let at: unknown;
  try {
    for (const [key, value] of entries) {
      step = '.keys()';
      const takenKey = take(key, meter, depth);
      step = '.values()';
      at = key;
      copy.set(takenKey, take(value, meter, depth));
    }
  } catch (error) {
    const named = step === '.values()' && typeof at === 'string';
    throw under(error, named ? `.get(${JSON.stringify(at)})` : `${step}[${copy.size}]`);
  }
  return copy;
}

function takeSet(source: Set<unknown>, meter: Meter, depth: number): unknown {
  refuseExtras(source);
  const members = valuesOf.call(source);
  const envelope: Envelope = [tags.set];
  try {
    for (const value of members) envelope.push(take(value, meter, depth));
  } catch (error) {
    throw under(error, `.values()[${envelope.length - 1}]`);
  }
  return escaped(meter, envelope);
}

function takeDate(source: Date, meter: Meter): unknown {
  refuseExtras(source);
  meter.bytes += 9;
  return escaped(meter, [tags.date, Date.prototype.getTime.call(source)]);
}

function takeRegExp(source: RegExp, meter: Meter, depth: number): unknown {
  refuseExtras(source);
  if (!types.isRegExp(source)) throw new Refusal('only looks like a RegExp');
  const lastIndex = takeAt('.lastIndex', source.lastIndex, meter, depth);
  return escaped(meter, [tags.regexp, text(source.source, meter), source.flags, lastIndex]);
}

const hiddenInErrors: readonly string[] = ['stack', 'message', 'cause', 'errors', 'name'];

function takeError(source: Error, meter: Meter, depth: number): unknown {
  if (!types.isNativeError(source)) throw new Refusal('only looks like an Error');
  refuseSymbols(source);
  const envelope: Envelope = [tags.error, (Object.getPrototypeOf(source) as Error).constructor.name];
  for (const key of Object.getOwnPropertyNames(source)) {
    const enumerable = Object.prototype.propertyIsEnumerable.call(source, key);
    if (!enumerable && !hiddenInErrors.includes(key)) continue;
    const value: unknown = Reflect.get(source, key);
    envelope.push(text(key, meter), enumerable, takeAt(property(key), value, meter, depth));
  }
  return escaped(meter, envelope);
}

/*
 * Bytes. Only the view is copied, never the rest of its buffer. Their own extra properties cannot be told from
 * elements at a bearable cost and are ignored.
 */
function takeView<V extends ArrayBufferView>(copy: (source: V) => V): Take {
  return (source: V, meter: Meter): V => {
    if (types.isSharedArrayBuffer(source.buffer)) throw new Refusal('is a view of shared memory', '', shareByArgs);
    meter.bytes += source.byteLength + 5;
    return copy(source);
  };
}

function takeBuffer(source: ArrayBuffer, meter: Meter): unknown {
  refuseExtras(source);
  if ((source as ArrayBuffer & { resizable?: boolean }).resizable) throw new Refusal('is a resizable ArrayBuffer');
  meter.bytes += source.byteLength + 5;
  return ArrayBuffer.prototype.slice.call(source, 0);
}

const typedArrays = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
] as readonly (new (
  source: unknown,
) => ArrayBufferView)[];

const builtins: ReadonlyMap<unknown, Take> = new Map<unknown, Take>([
  [Map.prototype, takeMap],
  [Set.prototype, takeSet],
  [Date.prototype, takeDate],
  [RegExp.prototype, takeRegExp],
  [ArrayBuffer.prototype, takeBuffer],
  [Buffer.prototype, takeView((source: Buffer) => Buffer.from(source))],
  [
    DataView.prototype,
    takeView(({ buffer, byteOffset, byteLength }: DataView) => {
      return new DataView(buffer.slice(byteOffset, byteOffset + byteLength));
    }),
  ],
  ...typedArrays.map((Class): [unknown, Take] => [Class.prototype, takeView((source) => new Class(source))]),
  ...[...errorClasses.values()].map((Class): [unknown, Take] => [Class.prototype, takeError]),
]);

/** Whether this is one of the classes that travel. */
export function isData(value: object): boolean {
  return isPlain(value) || builtins.has(Object.getPrototypeOf(value));
}
