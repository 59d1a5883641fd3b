/**
 * `--batch`: one shape for all exchanges, or for the one that is named.
 * Owns how a batch is written on a command line.
 *
 *   100    auto    size=100,flushMs=20    size=auto,latencyMs=5    words:1    words:size=1,idle=false
 */

import { type Batch, checkBatch } from '../../runtime/batch.js';
import { isMillraceError } from '../../runtime/errors.js';
import { UsageError } from './usage.js';

export function batchesOf(specs: readonly string[] | undefined): Readonly<Record<string, Batch>> | undefined {
  if (specs === undefined) return undefined;
  const batches = new Map<string, Batch>();
  for (const spec of specs) {
    const colon = spec.lastIndexOf(':');
    const name = colon < 0 ? 'default' : spec.slice(0, colon);
    if (batches.has(name)) throw new UsageError(`--batch is given twice for ${name}`);
    batches.set(name, checked(spec, spec.slice(colon + 1)));
  }
  return Object.fromEntries(batches);
}

function checked(spec: string, shape: string): Batch {
  try {
    return checkBatch(shapeOf(spec, shape), 'batch');
  } catch (error) {
    if (isMillraceError(error)) throw new UsageError(`--batch ${spec}: ${error.message}`);
    throw error;
  }
}

function shapeOf(spec: string, shape: string): unknown {
  if (/^\d+$/.test(shape)) return Number(shape);
  if (shape === 'auto') return shape;
  const parts = shape.split(',').map((part) => /^(\w+)=(.+)$/.exec(part));
  if (parts.some((part) => part === null)) {
    throw new UsageError(
      `--batch must be a number of values, auto, or size=…,bytes=…,flushMs=…,latencyMs=…,idle=…, got ${JSON.stringify(spec)}`,
    );
  }
  return Object.fromEntries(parts.map((part) => [part?.[1] ?? '', literal(part?.[2] ?? '')]));
}

function literal(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^(\d+(\.\d+)?|Infinity)$/.test(text) ? Number(text) : text;
}
