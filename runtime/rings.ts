/**
 * The pool of rings: shared memory is used again, with a new generation, instead of being allocated per run.
 * Owns the free rings of this thread, up to a bound. A ring comes back only when both its ends have stopped.
 */

import { createRing, resetRing } from './ring.js';

export interface PooledRing {
  readonly memory: SharedArrayBuffer;
  /** Frames of another generation are of an older run. */
  readonly generation: number;
  readonly bytes: number;
}

/** Kept for the next runs; what comes back beyond is left to the garbage collector. */
const maxFreeBytes = 64 * 1024 * 1024;

const free = new Map<number, SharedArrayBuffer[]>();
let freeBytes = 0;
let generations = 0;

export function takeRing(bytes: number): PooledRing {
  const generation = ++generations >>> 0;
  const memory = free.get(bytes)?.pop();
  if (memory === undefined) return { memory: fresh(bytes, generation), generation, bytes };
  freeBytes -= bytes;
  resetRing(memory, generation);
  return { memory, generation, bytes };
}

export function giveRing({ memory, bytes }: PooledRing): void {
  if (freeBytes + bytes > maxFreeBytes) return;
  freeBytes += bytes;
  const rings = free.get(bytes) ?? [];
  rings.push(memory);
  free.set(bytes, rings);
}

function fresh(bytes: number, generation: number): SharedArrayBuffer {
  const memory = createRing(bytes);
  resetRing(memory, generation);
  return memory;
}
