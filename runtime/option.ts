/**
 * Checks of options at the door: unknown names with the nearest known one, and how a wrong value is shown.
 * Owns the sentences. Never applies defaults.
 */

import { MillraceError } from './errors.js';

/** A list is no options object, though one without elements has no unknown name. */
export function isOptions(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

/** Refuses names that are not known; `where` is the option object's own name, `advice` what may have been meant. */
export function checkKeys(given: object, known: readonly string[], where: string, advice = ''): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    const hint = near === undefined ? `known are ${known.join(', ')}${advice}` : `did you mean ${near}?`;
    throw new MillraceError('ERR_OPTION', `${where} has no option ${JSON.stringify(name)}: ${hint}`);
  }
}

/** The known name that is at most two edits, or a change of case, away. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, edits: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= Math.min(2, Math.ceil(best.candidate.length / 3))
    ? best.candidate
    : undefined;
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] as number) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

/** A wrong value in a message: short, never a dump. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}…` : value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `a function${value.name === '' ? '' : ` ${value.name}`}`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return `an object of ${value.constructor?.name ?? 'no class'}`;
  return Object.is(value, -0) ? '-0' : String(value);
}
