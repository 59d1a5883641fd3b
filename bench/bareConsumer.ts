/**
 * Weighs the values of posted arrays and posts their sum to the caller after the last, shorter one.
 */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Kind, weigherOf } from './values.js';

const size = 100;
const acknowledged = 16;

const { peer } = workerData as { readonly peer: MessagePort };
let weigh: (value: unknown) => number = () => 0;
let sum = 0;
let taken = 0;

peer.on('message', (message: Kind | readonly unknown[]) => {
  if (typeof message === 'string') {
    weigh = weigherOf(message);
    sum = 0;
    return;
  }
  for (const value of message) sum += weigh(value);
  taken++;
  if (taken >= acknowledged || message.length < size) {
    peer.postMessage(taken);
    taken = 0;
  }
  if (message.length < size) parentPort?.postMessage(sum);
});

parentPort?.postMessage('ready');
