/**
 * A thread that posts back what it gets: the least a thread can do.
 */

import { parentPort } from 'node:worker_threads';

parentPort.on('message', (message) => parentPort.postMessage(message));
