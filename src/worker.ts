/**
 * The file every thread starts from, public as `millrace/worker` for bundlers.
 * Owns nothing: it ties the thread host to the loading of modules.
 */

import { parentPort, workerData } from 'node:worker_threads';
import type { Birth } from '../runtime/order.js';
import { serve } from '../runtime/thread.js';
import { loadTopology } from './load.js';

if (parentPort !== null) serve(parentPort, (workerData as { readonly millrace: Birth }).millrace, loadTopology);
