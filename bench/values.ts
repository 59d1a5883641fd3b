/**
 * The values that benches send: small objects, words, pairs, numbers. Made anew for every use and weighed on arrival,
 * by the same functions on both sides of a comparison, so that nothing is left out and nothing can be skipped.
 */

/** Those that are measured one after the other. */
export type Usual = 'objects' | 'words' | 'pairs' | 'numbers';
export type Kind = Usual | 'short' | 'long';
export const kinds: readonly Usual[] = ['objects', 'words', 'pairs', 'numbers'];

export interface Counted {
  readonly word: string;
  readonly count: number;
  readonly id: number;
}

/** Which values, and how many. */
export interface Load {
  readonly kind: Kind;
  readonly count: number;
}

/** 2,000 words of 4 to 10 letters. */
const words: readonly string[] = wordList(2_000);
/** Places in the list, few of them often; a power of two long. */
const skewed: readonly number[] = Array.from({ length: 4_096 }, (_, i) => Math.floor(words.length * fraction(i) ** 3));

/** With its id and their framing about 250 bytes. */
const longText = 'water '.repeat(40);

const make: Readonly<Record<Kind, (i: number) => unknown>> = {
  objects: (i): Counted => ({ word: wordAt(i), count: i & 1_023, id: i }),
  words: wordAt,
  pairs: (i): readonly [string, number] => [wordAt(i), i],
  numbers: (i) => i + 0.5,
  short: (i) => `${1000 + (i % 9000)}`,
  long: (i) => ({ id: i, text: longText }),
};

const weigh: Readonly<Record<Kind, (value: unknown) => number>> = {
  objects: (value) => (value as Counted).word.length + (value as Counted).count,
  words: (value) => (value as string).length,
  pairs: (value) => (value as readonly [string, number])[0].length + 1,
  numbers: (value) => value as number,
  short: (value) => (value as string).length,
  long: (value) => (value as { readonly text: string }).text.length,
};

export function makerOf(kind: Kind): (i: number) => unknown {
  return make[kind];
}

export function weigherOf(kind: Kind): (value: unknown) => number {
  return weigh[kind];
}

export function* valuesOf({ kind, count }: Load): Generator<unknown> {
  const makeValue = make[kind];
  for (let i = 0; i < count; i++) yield makeValue(i);
}

/** What the values weigh together: the answer every sink must give. */
export function weightOf(load: Load): number {
  const weighValue = weigh[load.kind];
  let sum = 0;
  for (const value of valuesOf(load)) sum += weighValue(value);
  return sum;
}

function wordAt(i: number): string {
  return words[skewed[i & (skewed.length - 1)] as number] as string;
}

function wordList(length: number): readonly string[] {
  return Array.from({ length }, (_, i) => {
    const letters = 4 + Math.floor(fraction(i) * 7);
    return String.fromCharCode(
      ...Array.from({ length: letters }, (_, at) => 97 + Math.floor(fraction(i * 11 + at) * 26)),
    );
  });
}

/** From 0 to 1, the same for the same i: the finaliser of MurmurHash3. */
function fraction(i: number): number {
  let bits = Math.imul(i + 0x9e37_79b9, 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
