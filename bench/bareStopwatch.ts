/**
 * The stopwatch on a thread without millrace: one message a value.
 */

import { parentPort } from 'node:worker_threads';
import { Delays, type Stamped } from './stopwatch.js';

const delays = new Delays();

parentPort?.on('message', (stamped: Stamped) => {
  const all = delays.take(stamped);
  if (all !== undefined) parentPort?.postMessage(all);
});

parentPort?.postMessage('ready');
