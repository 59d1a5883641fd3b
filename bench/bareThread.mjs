/**
 * A worker thread without millrace: loads the TypeScript module it is told to, which Node 20 does not do by a flag.
 */

import { workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
await import(workerData.module);
