/**
 * The thread side of the threads host: takes orders, builds executors, drives the pump.
 * Owns the executors of this thread by run. The module is loaded by a function from above, so nothing here knows topologies.
 */

import type { MessagePort } from 'node:worker_threads';
import { assembleExecutor, type Site } from './assemble.js';
import { type Bell, createBell, Sleeper } from './channel.js';
import { clock } from './clock.js';
import { MillraceError } from './errors.js';
import type { Executor } from './executor.js';
import { toFault } from './fault.js';
import type { Build } from './logic.js';
import { type Birth, callerThread, type FromThread, poke, type RunOrder, type ToThread } from './order.js';
import { planShape } from './plan.js';
import { Pump } from './pump.js';

/** Imports the module of an order and returns its build; rejects with what is wrong. */
export type Load = (order: RunOrder) => Promise<Build>;

export function serve(port: MessagePort, birth: Birth, load: Load): void {
  new ThreadHost(port, birth, load).listen();
}

class ThreadHost implements Site {
  readonly thread: number;
  readonly clock = clock;
  readonly pump: Pump;
  readonly #port: MessagePort;
  readonly #load: Load;
  readonly #bells = new Map<number, Bell>();
  /** Runs that have started or are starting; an executor list once they run. */
  readonly #runs = new Map<string, readonly Executor[]>();
  #lookAgain = false;

  constructor(port: MessagePort, { thread, cell, callerCell }: Birth, load: Load) {
    this.thread = thread;
    this.#port = port;
    this.#load = load;
    this.pump = new Pump(clock, new Sleeper(cell), () => this.#lookAgain);
    this.#bells.set(
      callerThread,
      createBell(callerCell, () => port.postMessage(poke)),
    );
    this.#bells.set(
      thread,
      createBell(cell, () => this.pump.wake()),
    );
  }

  listen(): void {
    this.#port.on('message', (message: ToThread | number) => {
      if (typeof message === 'number') this.pump.run();
      else this.#handle(message);
    });
  }

  bellOf(thread: number): Bell {
    const bell = this.#bells.get(thread);
    if (bell !== undefined) return bell;
    throw new MillraceError('ERR_START', `thread ${this.thread} was told of no thread ${thread}`);
  }

  #handle(message: ToThread): void {
    switch (message.kind) {
      case 'run':
        void this.#start(message.order);
        break;
      case 'peer': {
        const { port } = message;
        port.on('message', () => this.pump.run());
        this.#bells.set(
          message.thread,
          createBell(message.cell, () => port.postMessage(poke)),
        );
        break;
      }
      case 'flush':
        for (const executor of this.#runs.get(message.run) ?? []) executor.flush();
        break;
      case 'drain':
        for (const executor of this.#runs.get(message.run) ?? []) executor.drain();
        break;
      case 'stop':
        this.#stop(message.run);
        break;
    }
  }

  async #start(order: RunOrder): Promise<void> {
    const { run } = order;
    this.#runs.set(run, []);
    try {
      const build = await this.#load(order);
      // Stopped while the module was loading.
      if (!this.#runs.has(run)) return;
      this.#lookAgain = order.lookAgain;
      this.#runs.set(run, this.#assemble(order, build));
      this.#send({ kind: 'started', run });
    } catch (reason) {
      // The run stays known until the caller stops it.
      this.#send({ kind: 'failed', run, fault: toFault(reason) });
    }
  }

  #assemble(order: RunOrder, build: Build): readonly Executor[] {
    const executors: Executor[] = [];
    try {
      for (const one of order.executors) {
        const logic = build();
        comparePlans(order, planShape(logic.plan));
        executors.push(assembleExecutor(order, one, logic, this));
      }
    } catch (reason) {
      for (const executor of executors) executor.stop();
      throw reason;
    }
    for (const executor of executors) this.pump.add(executor);
    return executors;
  }

  #stop(run: string): void {
    const executors = this.#runs.get(run) ?? [];
    this.#runs.delete(run);
    for (const executor of executors) {
      executor.stop();
      this.pump.remove(executor);
    }
    this.#send({ kind: 'stopped', run });
  }

  #send(message: FromThread): void {
    this.#port.postMessage(message);
  }
}

function comparePlans(order: RunOrder, shape: string): void {
  if (shape === order.shape) return;
  throw new MillraceError(
    'ERR_PLAN_MISMATCH',
    `build made another plan on the thread than on the caller: ${firstDifference(order.shape, shape)}. ` +
      'build must make the same pipeline for the same args: no randomness, no thread or environment checks',
  );
}

function firstDifference(theirs: string, ours: string): string {
  let at = 0;
  while (at < theirs.length && theirs[at] === ours[at]) at++;
  const from = Math.max(0, at - 20);
  return `caller …${theirs.slice(from, at + 40)}… thread …${ours.slice(from, at + 40)}…`;
}
