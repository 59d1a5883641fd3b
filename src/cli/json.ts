/**
 * JSON read exactly: what JSON.parse would lose without a word is refused, with the path.
 * Owns that rule: keys given twice, integers beyond 2^53, numbers too large. JSON.parse does the reading; a fast count of
 * keys in the text and in the value tells whether a slow look is needed.
 */

import { property } from '../../runtime/refusal.js';

/** Why a text was refused, as the end of a sentence about it. */
export class JsonRefusal extends Error {
  override readonly name: string = 'JsonRefusal';
}

/** Above it, neighbouring integers are one and the same number. */
const exactLimit = 2 ** 53;
const maxDepth = 1000;

const colon = 58;
const backslash = 92;

/** Throws a JsonRefusal. */
export function parseExactly(text: string): unknown {
  const value = parsed(text);
  // What the count of the value found; a local of the module, since the count runs once per value.
  doubtful = false;
  const keys = keysOf(value, 0);
  if (doubtful || keys !== membersOf(text)) {
    const reason = new Search(text).reason();
    if (reason !== undefined) throw new JsonRefusal(reason);
  }
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const said = (error as SyntaxError).message.replace(/ \(line \d+ column \d+\)$/, '');
    throw new JsonRefusal(`is not JSON: ${said}`);
  }
}

let doubtful = false;

function keysOf(value: unknown, depth: number): number {
  if (typeof value === 'number') {
    if (value >= exactLimit || value <= -exactLimit) doubtful = true;
    return 0;
  }
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === maxDepth) throw new JsonRefusal(`is nested more than ${maxDepth} levels deep`);
  let keys = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) keys += keysOf(value[i], depth + 1);
  } else {
    for (const key in value) keys += 1 + keysOf((value as Readonly<Record<string, unknown>>)[key], depth + 1);
  }
  return keys;
}

/** Members of all objects in a JSON text: its strings before a colon. */
function membersOf(text: string): number {
  let members = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = endOfString(text, at);
    while (isBlank(text.charCodeAt(at))) at++;
    if (text.charCodeAt(at) === colon) members++;
  }
  return members;
}

/** Index after the closing quote of the string that opens at `from`: the first quote behind an even number of backslashes. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === backslash) before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
}

/** Space, tab, line feed, carriage return. */
function isBlank(char: number): boolean {
  return char === 32 || char === 9 || char === 10 || char === 13;
}

const scalar = /[^\s,\]}]+/y;

/** The first thing in a valid JSON text that JSON.parse does not keep. */
class Search {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  reason(): string | undefined {
    return this.#value('value', this.#next());
  }

  /** A bracket, a comma, a colon, a string with its quotes, or another scalar. */
  #next(): string {
    const text = this.#text;
    while (isBlank(text.charCodeAt(this.#at))) this.#at++;
    const char = text[this.#at] as string;
    if ('[]{},:'.includes(char)) {
      this.#at++;
      return char;
    }
    const from = this.#at;
    if (char === '"') {
      this.#at = endOfString(text, from);
      return text.slice(from, this.#at);
    }
    scalar.lastIndex = from;
    scalar.test(text);
    this.#at = scalar.lastIndex;
    return text.slice(from, this.#at);
  }

  #value(path: string, first: string): string | undefined {
    if (first === '{') return this.#object(path);
    if (first === '[') return this.#array(path);
    return /^[-\d]/.test(first) ? numberReason(path, first) : undefined;
  }

  #object(path: string): string | undefined {
    const keys = new Set<string>();
    for (let next = this.#next(); next !== '}'; next = this.#next()) {
      if (next === ',') continue;
      const key = JSON.parse(next) as string;
      const inner = path + property(key);
      if (keys.has(key)) return `has ${inner} twice`;
      keys.add(key);
      this.#next();
      const reason = this.#value(inner, this.#next());
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  #array(path: string): string | undefined {
    let index = 0;
    for (let next = this.#next(); next !== ']'; next = this.#next()) {
      if (next === ',') continue;
      const reason = this.#value(`${path}[${index++}]`, next);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }
}

function numberReason(path: string, text: string): string | undefined {
  const shown = text.length <= 40 ? text : `${text.slice(0, 37)}…`;
  if (!Number.isFinite(Number(text))) return `has a number at ${path} that is too large: ${shown}`;
  if (!/^-?\d+$/.test(text)) return undefined;
  const integer = BigInt(text);
  if (integer <= BigInt(exactLimit) && integer >= -BigInt(exactLimit)) return undefined;
  return `has an integer at ${path} beyond 2^53, which a number does not hold exactly: ${shown}; write it as a string`;
}
