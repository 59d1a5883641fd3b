/**
 * The thread side of the threads host: takes orders, builds executors, drives the pump.
 * Owns the executors of this thread by run. The module is loaded by a function from above, so nothing here knows topologies.
 */

import type { MessagePort } from 'node:worker_threads';
import { assembleExecutor, ringEnds, type Site } from './assemble.js';
import { type Bell, createBell, postureOf, Sleeper } from './channel.js';
import { type Clock, clock } from './clock.js';
import { MillraceError } from './errors.js';
import type { Executor } from './executor.js';
import { type Fault, toFault } from './fault.js';
import type { Build } from './logic.js';
import { type Birth, callerThread, type FromThread, type Port, poke, type RunOrder, type ToThread } from './order.js';
import { Patience } from './patience.js';
import { Printed } from './printed.js';
import { Pump } from './pump.js';

/** Imports the module of an order and returns its build; throws, or rejects with, what is wrong. */
export type Load = (order: RunOrder) => Build | Promise<Build>;

/** A thread that may do nothing looks so often whether that still holds. */
const heldLookMs = 50;

/** What a thread stands on. */
export interface Seat {
  readonly clock: Clock;
  /** To the calling thread. */
  readonly port: Port;
  readonly load: Load;
  /** What was printed here and not taken yet; none where nothing stands between a thread and the console. */
  readonly printed?: Printed;
  /** Ends of channels, where they are not simply rings. */
  ends?(bellOf: (thread: number) => Bell): ReturnType<typeof ringEnds>;
}

/** A worker thread serves the calling thread it was started by. */
export function serve(port: MessagePort, birth: Birth, load: Load): void {
  const host = new ThreadHost(birth, {
    clock,
    port,
    load,
    printed: new Printed(() => postureOf(birth.callerCell).held),
  });
  // A timer of a step throws for nobody in particular. The runs that are under way end, but not one that begins meanwhile.
  process.on('uncaughtException', (reason: unknown) => {
    const handled = process.listenerCount('uncaughtException') > 1;
    if (!handled) host.broken(reason);
  });
  host.listen();
}

export class ThreadHost implements Site {
  readonly thread: number;
  readonly clock: Clock;
  readonly pump: Pump;
  readonly writer: Site['writer'];
  readonly reader: Site['reader'];
  readonly countersOf: Site['countersOf'];
  readonly #patience: Patience;
  readonly #printed: Printed | undefined;
  readonly #port: Port;
  readonly #load: Load;
  readonly #bells = new Map<number, Bell>();
  /** Runs that have started or are starting; an executor list once they run. */
  readonly #runs = new Map<string, readonly Executor[]>();
  readonly #drained = new Set<string>();
  #lookAgain = false;
  #cancelLook: () => void = () => {};

  constructor({ thread, cell, callerCell }: Birth, seat: Seat) {
    const { clock, port, load, printed, ends = ringEnds } = seat;
    this.thread = thread;
    this.clock = clock;
    this.#port = port;
    this.#load = load;
    this.#printed = printed;
    this.#patience = new Patience(clock.nowMs);
    const held = (): boolean => printed?.holds(() => this.pump.wake()) === true && this.#lookLater();
    this.pump = new Pump(clock, new Sleeper(cell), this.#patience, () => this.#lookAgain, held);
    this.#bells.set(callerThread, this.#patience.of(createBell(callerCell, () => port.postMessage(poke))));
    this.#bells.set(
      thread,
      createBell(cell, () => this.pump.wake()),
    );
    const { writer, reader, countersOf } = ends((peer) => this.#bellOf(peer));
    this.writer = writer;
    this.reader = reader;
    this.countersOf = countersOf;
  }

  // Whether the calling thread is held may change at any time, and nobody says so.
  #lookLater(): true {
    this.#cancelLook();
    this.#cancelLook = this.clock.later(heldLookMs, () => this.pump.wake(), 'idle');
    return true;
  }

  listen(): void {
    this.#port.on('message', (message) => {
      if (message === poke) this.pump.run();
      else this.#handle(message as ToThread);
    });
  }

  /** An error was thrown that belongs to no run. */
  broken(reason: unknown): void {
    this.#send({ kind: 'broken', fault: toFault(reason) });
  }

  #bellOf(thread: number): Bell {
    const bell = this.#bells.get(thread);
    if (bell !== undefined) return bell;
    throw new MillraceError('ERR_START', `thread ${this.thread} was told of no thread ${thread}`);
  }

  #handle(message: ToThread): void {
    switch (message.kind) {
      case 'run':
        this.#start(message.order);
        break;
      case 'peer': {
        const { port } = message;
        port.on('message', () => this.pump.run());
        this.#bells.set(message.thread, this.#patience.of(createBell(message.cell, () => port.postMessage(poke))));
        break;
      }
      case 'flush':
        for (const executor of this.#runs.get(message.run) ?? []) executor.flush();
        break;
      case 'drain':
        this.#drain(message.run);
        break;
      case 'stop':
        this.#stop(message.run);
        break;
      case 'look':
        this.pump.run();
        this.#send({ kind: 'looked', run: message.run });
        break;
    }
  }

  #start(order: RunOrder): void {
    this.#runs.set(order.run, []);
    try {
      const build = this.#load(order);
      if (build instanceof Promise)
        build.then((late) => this.#begin(order, late)).catch((reason) => this.#failed(order, reason));
      else this.#begin(order, build);
    } catch (reason) {
      this.#failed(order, reason);
    }
  }

  #begin(order: RunOrder, build: Build): void {
    const { run } = order;
    // Stopped while the module was loading.
    if (!this.#runs.has(run)) return;
    this.#lookAgain = order.lookAgain;
    this.#runs.set(run, this.#assemble(order, build));
    this.#send({ kind: 'started', run });
    if (this.#drained.has(run)) this.#drain(run);
  }

  // The run stays known until the caller stops it.
  #failed({ run }: RunOrder, reason: unknown): void {
    this.#send({ kind: 'failed', run, fault: toFault(reason) });
  }

  #assemble(order: RunOrder, build: Build): readonly Executor[] {
    const executors: Executor[] = [];
    try {
      for (const one of order.executors) {
        const onFailed = (fault: Fault, travels: boolean): void =>
          this.#send({ kind: 'fault', run: order.run, fault, travels });
        executors.push(assembleExecutor(order, one, build(), this, onFailed));
      }
    } catch (reason) {
      for (const executor of executors) executor.stop();
      throw reason;
    }
    for (const executor of executors) this.pump.add(executor);
    return executors;
  }

  // A run may be asked to drain before it has started here.
  #drain(run: string): void {
    this.#drained.add(run);
    for (const executor of this.#runs.get(run) ?? []) executor.drain();
  }

  #stop(run: string): void {
    const executors = this.#runs.get(run) ?? [];
    this.#runs.delete(run);
    this.#drained.delete(run);
    for (const executor of executors) {
      executor.stop();
      this.pump.remove(executor);
    }
    this.#printed?.tell();
    const printing = this.#printed?.any === true;
    this.#send({ kind: 'stopped', run, printing });
    if (printing) this.#printed?.gone(() => this.#send({ kind: 'quiet' }));
  }

  #send(message: FromThread): void {
    this.#port.postMessage(message);
  }
}
