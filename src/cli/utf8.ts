/**
 * Where UTF-8 is broken: the first byte that cannot belong to a character.
 * Owns the table of what may follow what. Asked only of lines that are known to be broken.
 */

/** Index of the first byte of the first broken sequence, or -1. */
export function brokenAt(bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceAt(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return -1;
}

/** Bytes of the character at `at`; 0 if there is none. */
function sequenceAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return 1;
  const length = lead >= 0xc2 && lead < 0xe0 ? 2 : (lead & 0xf0) === 0xe0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
  const second = bytes[at + 1] ?? 0;
  // Overlong forms, surrogates, and what lies beyond U+10FFFF show in the second byte.
  const from = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const to = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (length === 0 || second < from || second > to) return 0;
  for (let i = 2; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}
