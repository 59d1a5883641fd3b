/**
 * One Buffer and one DataView per memory: making them costs more than reading a small frame through them.
 * Owns the views; they live as long as the memory. Never looks at what is in it.
 */

export interface Memory {
  readonly bytes: Buffer;
  readonly view: DataView;
}

const memories = new WeakMap<ArrayBufferLike, Memory>();

/** Views of all of `buffer`: what lies in a part of it is addressed from its beginning. */
export function memoryOf(buffer: ArrayBufferLike): Memory {
  let memory = memories.get(buffer);
  if (memory === undefined) {
    memory = { bytes: Buffer.from(buffer), view: new DataView(buffer) };
    memories.set(buffer, memory);
  }
  return memory;
}
