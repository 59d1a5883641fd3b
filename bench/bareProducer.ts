/**
 * Posts values in arrays of 100, as one would by hand: at most `window` arrays are under way, so that memory is bounded.
 */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Load, valuesOf } from './values.js';

const size = 100;
const window = 64;

const { peer } = workerData as { readonly peer: MessagePort };
let values: Iterator<unknown> | undefined;
let underWay = 0;

parentPort?.on('message', (load: Load) => {
  peer.postMessage(load.kind);
  values = valuesOf(load);
  send();
});

peer.on('message', (taken: number) => {
  underWay -= taken;
  send();
});

function send(): void {
  while (values !== undefined && underWay < window) {
    const batch = nextBatch(values);
    peer.postMessage(batch);
    underWay++;
    if (batch.length < size) values = undefined;
  }
}

/** A shorter one is the last. */
function nextBatch(from: Iterator<unknown>): unknown[] {
  const batch: unknown[] = [];
  while (batch.length < size) {
    const { done, value } = from.next();
    if (done === true) break;
    batch.push(value);
  }
  return batch;
}

parentPort?.postMessage('ready');
