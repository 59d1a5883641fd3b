/**
 * MessagePack by msgpackr, in good manners: its write buffer and its string extractor are module-wide, shared with
 * whatever else on this thread uses msgpackr.
 * Owns the scratch that payloads are packed into. Keeps no state between calls that shows in the bytes.
 * Never sees what is not a snapshot: no toJSON is called and no class instance is met.
 */

import { Packr, RESET_BUFFER_MODE, REUSE_BUFFER_MODE } from 'msgpackr/pack';
import * as unpacking from 'msgpackr/unpack';
import { memoryOf } from './memory.js';

const packr = new Packr({ moreTypes: true, useToJSON: false });
const unpackr = new unpacking.Unpackr({ copyBuffers: true });

/** Packs nothing and tells which buffer msgpackr would write to. */
const probe = new Packr({ useRecords: false });
const peek = (): Buffer => probe.pack(null, REUSE_BUFFER_MODE | RESET_BUFFER_MODE);

const scratchBytes = 64 * 1024;
const keptBytes = 1024 * 1024;
let scratch: Buffer = Buffer.allocUnsafeSlow(scratchBytes);
let theirs: Buffer | undefined;

/** The packed values, in scratch: valid until the next call. The user's buffer and position are put back. */
export function pack(values: readonly unknown[]): Uint8Array {
  const current = peek();
  if (current !== theirs) {
    // Inside a pack() of the user's (a toJSON that emits, say) every look gives a new buffer, and msgpackr itself
    // sets the outer call's state aside.
    if (current !== peek()) return packr.pack(values);
    theirs = current;
  }
  const { position } = packr;
  packr.useBuffer(scratch);
  let packed: Buffer;
  try {
    packed = packr.pack(values);
  } finally {
    packr.useBuffer(current);
    packr.position = position;
  }
  const { buffer } = packed;
  if (buffer !== scratch.buffer && buffer.byteLength <= keptBytes) scratch = Buffer.from(buffer);
  return packed;
}

/** The value in `payload`, which may lie in shared memory. Nothing of the result does. */
export function unpack(payload: Uint8Array): unknown {
  const { buffer, byteOffset, byteLength } = payload;
  if (byteLength === 0) throw new RangeError('there is nothing to unpack');
  // The native extractor, set for the whole thread by whoever imports 'msgpackr', fails slowly on shared memory.
  if ((unpacking as { isNativeAccelerationEnabled?: boolean }).isNativeAccelerationEnabled === true) {
    return unpackr.unpack(Buffer.from(payload));
  }
  // msgpackr keeps a DataView on what it reads, which costs more to make than a small frame to read.
  return unpackr.unpack(memoryOf(buffer).bytes, { start: byteOffset, end: byteOffset + byteLength });
}
