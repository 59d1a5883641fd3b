/**
 * The frame header: 32 bytes before every payload, the same in a ring, a socket and a broker message.
 * Owns the layout, the version and the kinds. Never looks into a payload.
 */

import { MillraceError } from './errors.js';

/*
 * Little endian, whatever the machine. A writer sets `zero` to 0, a reader does not look at it.
 *
 *          +0              +2      +3      +4      +5      +6              +8
 *        0 | magic "MR"    | vers. | kind  | flags | codec | zero          |
 *        8 | generation                    | source executor id            |
 *       16 | count of values               | payload length in bytes       |
 *       24 | id of the first value         | zero                          |
 *       32 | payload …
 *
 * magic, version   what is not ours, or of another version, is refused before anything else is believed
 * flags            of the kind; unknown ones are carried and ignored
 * codec            how the payload is encoded; the channel's codec gives it its meaning
 * generation       of the run; frames of an older run are dropped by it
 * id, count        the values are id, id + 1 … id + count - 1, modulo 2^32
 */
export const headerBytes = 32;

const magic = 0x52_4d;
const version = 1;

/** What a payload is. That a stream has ended is a state of the channel, not a kind of frame. */
export const kinds = {
  /** Whole values. */
  data: 1,
  /** A piece of one value too large for a frame; `lastPart` marks its end. */
  part: 2,
  /** An encoded fault. */
  error: 3,
} as const;

export type Kind = (typeof kinds)[keyof typeof kinds];

/** Flag of kind `part`: the value is complete with this piece. */
export const lastPart = 1;

/** All fields are unsigned; `kind`, `flags` and `codec` have 8 bits, the others 32. */
export interface Header {
  readonly kind: Kind;
  readonly flags: number;
  readonly codec: number;
  readonly generation: number;
  readonly source: number;
  readonly count: number;
  /** Length of the payload, without this header. */
  readonly bytes: number;
  readonly firstId: number;
}

/** Writes the 32 bytes at `offset`. Numbers are taken modulo their width, so running ids may simply run over. */
export function writeHeader(view: DataView, offset: number, header: Header): void {
  view.setUint16(offset, magic, true);
  view.setUint8(offset + 2, version);
  view.setUint8(offset + 3, header.kind);
  view.setUint8(offset + 4, header.flags);
  view.setUint8(offset + 5, header.codec);
  view.setUint16(offset + 6, 0, true);
  view.setUint32(offset + 8, header.generation, true);
  view.setUint32(offset + 12, header.source, true);
  view.setUint32(offset + 16, header.count, true);
  view.setUint32(offset + 20, header.bytes, true);
  view.setUint32(offset + 24, header.firstId, true);
  view.setUint32(offset + 28, 0, true);
}

/**
 * Reads the header at `offset`. What it returns can be trusted this far: the kind is known, and header and
 * payload lie within `view`, before `end`. Throws ERR_FRAME otherwise.
 */
export function readHeader(view: DataView, offset: number, end: number = view.byteLength): Header {
  const room = end - offset - headerBytes;
  if (!(offset >= 0 && room >= 0)) {
    throw damaged(`a header at byte ${offset} needs ${headerBytes} bytes of a view of ${end}`);
  }
  const foundMagic = view.getUint16(offset, true);
  if (foundMagic !== magic) throw damaged(`it begins with ${hex(foundMagic)} instead of ${hex(magic)}`);
  const foundVersion = view.getUint8(offset + 2);
  if (foundVersion !== version) throw damaged(`its version is ${foundVersion}, this side reads version ${version}`);
  const kind = view.getUint8(offset + 3);
  if (!isKind(kind)) throw damaged(`its kind is ${kind}, this side knows ${Object.values(kinds).join(', ')}`);
  const bytes = view.getUint32(offset + 20, true);
  if (bytes > room) throw damaged(`it announces a payload of ${bytes} bytes, ${room} are there`);
  return {
    kind,
    flags: view.getUint8(offset + 4),
    codec: view.getUint8(offset + 5),
    generation: view.getUint32(offset + 8, true),
    source: view.getUint32(offset + 12, true),
    count: view.getUint32(offset + 16, true),
    bytes,
    firstId: view.getUint32(offset + 24, true),
  };
}

function isKind(kind: number): kind is Kind {
  return kind >= kinds.data && kind <= kinds.error;
}

function damaged(what: string): MillraceError {
  return new MillraceError('ERR_FRAME', `cannot read a frame: ${what}. Use one version of millrace on all threads.`);
}

function hex(value: number): string {
  return `0x${value.toString(16).padStart(4, '0')}`;
}
