/**
 * The file every thread starts from, public as `millrace/worker` for bundlers.
 * Owns nothing: it ties the thread host to the loading of modules.
 */

import { isMainThread, type MessagePort, workerData } from 'node:worker_threads';
import type { Birth } from '../runtime/order.js';
import { serve } from '../runtime/thread.js';
import { loadTopology } from './load.js';

if (!isMainThread) {
  const { port, ...birth } = (workerData as { readonly millrace: Birth & { readonly port: MessagePort } }).millrace;
  serve(port, birth, loadTopology);
}
