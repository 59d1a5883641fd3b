/**
 * Worker threads without millrace, for the other side of a comparison.
 */

import { once } from 'node:events';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

/** A thread that has loaded a module of this room. The module posts one message when it is ready. */
export async function bareThread(module: string, peer?: MessagePort): Promise<Worker> {
  const thread = new Worker(new URL('./bareThread.mjs', import.meta.url), {
    workerData: { module: new URL(module, import.meta.url).href, peer },
    transferList: peer === undefined ? [] : [peer],
    execArgv: [],
  });
  await once(thread, 'message');
  return thread;
}

/** Two threads with a port between them. */
export async function barePair(producer: string, consumer: string): Promise<readonly [Worker, Worker]> {
  const { port1, port2 } = new MessageChannel();
  return Promise.all([bareThread(producer, port1), bareThread(consumer, port2)]);
}

/** The next message of a thread. */
export async function answer<T>(thread: Worker): Promise<T> {
  const [message] = await once(thread, 'message');
  return message as T;
}
