/**
 * codec: nanoseconds a value to encode and to decode batches of 100, alone, against v8's structured clone of the same array.
 */

import { deserialize, serialize } from 'node:v8';
import { type Bench, compare, type Side } from './kit.js';
import { kinds, makerOf } from './values.js';

// As built: what tsx makes of the sources is not what users run.
const built: string = new URL('../dist/runtime/codec.js', import.meta.url).href;
const { codecOf } = (await import(built)) as typeof import('../runtime/codec.js');

const size = 100;
const batchesAtOnce = 100;
const measureMs = 200;

export const codec: Bench = {
  name: 'codec',
  about: "ns a value to encode and to decode batches of 100 on one thread, against v8's structured clone",
  async run(report) {
    const pair = codecOf('auto');
    for (const kind of kinds) {
      const make = makerOf(kind);
      const values = Array.from({ length: size }, (_, i) => make(i));
      const encoder = pair.encoder();
      const decoder = pair.decoder();
      const encode = (): { readonly payload: Uint8Array; readonly flags: number } => {
        for (const value of values) encoder.add(value);
        const encoded = encoder.encode(0, size);
        encoder.clear();
        return encoded;
      };
      const { payload, flags } = encode();
      const frame = new Uint8Array(new SharedArrayBuffer(payload.length));
      frame.set(payload);
      const cloned = serialize(values);

      const encoding = [timed('millrace', encode), timed('v8', () => serialize(values))] as const;
      const decoding = [
        timed('millrace', () => decoder.decode(frame, size, flags)),
        timed('v8', () => deserialize(cloned)),
      ] as const;
      for (const [verb, [side, against]] of [
        ['encode', encoding],
        ['decode', decoding],
      ] as const) {
        await compare(report, { name: `codec ${verb} ${kind}`, unit: 'ns', side, against, threads: 1 });
      }
    }
  },
};

function timed(name: string, once: () => unknown): Side {
  return {
    name,
    async measure() {
      const started = performance.now();
      let batches = 0;
      let ms = 0;
      for (; ms < measureMs; ms = performance.now() - started) {
        for (let i = 0; i < batchesAtOnce; i++) once();
        batches += batchesAtOnce;
      }
      return (ms * 1e6) / (batches * size);
    },
  };
}
