/**
 * A simulated thread: the same host of executors as on a worker thread, in a lane of its own instead of a process's thread.
 * Owns its runs as the calling thread sees them, and its death.
 */

import { type Bell, createBell, createSleepCell } from '../channel.js';
import { MillraceError } from '../errors.js';
import { fromFault } from '../fault.js';
import type { HostThread, ThreadEvents } from '../host.js';
import type { FromThread, Port, ToThread } from '../order.js';
import { poke } from '../order.js';
import { Residents } from '../residents.js';
import { type Load, ThreadHost } from '../thread.js';
import { Body, type Flush } from './body.js';
import type { Mishap } from './mishap.js';
import { clockOf, type Lane, Mail, type World } from './world.js';

export interface ThreadOptions {
  readonly world: World;
  /** That of the calling thread. */
  readonly caller: { readonly lane: Lane; readonly cell: SharedArrayBuffer; readonly look: () => void };
  readonly load: Load;
  readonly mishaps: Set<Mishap>;
  readonly onFlush: (flush: Flush) => void;
  readonly onExit: () => void;
}

export class SimulatedThread implements HostThread {
  readonly number: number;
  readonly cell: SharedArrayBuffer = createSleepCell();
  readonly bell: Bell;
  readonly body: Body;
  readonly lane: Lane;
  readonly #options: ThreadOptions;
  readonly #host: ThreadHost;
  readonly #residents = new Residents(this);
  readonly #linked = new Set<HostThread>();
  readonly #toThread: Mail;
  readonly #toCaller: Mail;
  #hear: (message: unknown) => void = () => {};
  #broken = false;

  constructor(number: number, options: ThreadOptions) {
    const { world, caller, load, mishaps, onFlush } = options;
    this.number = number;
    this.#options = options;
    this.lane = world.lane(`thread ${number}`);
    this.#toThread = new Mail(world, this.lane);
    this.#toCaller = new Mail(world, caller.lane);
    this.body = new Body({
      world,
      lane: this.lane,
      mishaps,
      onFlush,
      look: () => this.#host.pump.run(),
      die: (why) => this.#die(`ended with code 1 before its run did: ${why}`),
    });
    const port: Port = {
      postMessage: (message) => this.#sent(message as FromThread | number),
      on: (_, listener) => {
        this.#hear = listener;
      },
    };
    this.#host = new ThreadHost(
      { thread: number, cell: this.cell, callerCell: caller.cell },
      { clock: clockOf(world, this.lane), port, load: (order) => this.#load(load, order), ends: this.body.ends },
    );
    this.#host.listen();
    this.lane.onError = (reason) => this.#host.broken(reason);
    this.bell = createBell(this.cell, () => this.#post(poke));
  }

  get runs(): number {
    return this.#residents.count;
  }

  /** It takes no further runs. */
  get ending(): boolean {
    return this.lane.dead || this.#broken;
  }

  tell(message: ToThread): void {
    this.#post(message);
  }

  hold(run: string, events: ThreadEvents): void {
    this.#residents.add(run, events);
  }

  release(run: string): void {
    this.#residents.remove(run);
    if (this.#broken && this.runs === 0) void this.terminate('');
  }

  link(other: HostThread): void {
    if (!(other instanceof SimulatedThread) || other === this || this.#linked.has(other)) return;
    this.#linked.add(other);
    other.#linked.add(this);
    const [here, there] = portsBetween(this, other, this.#options.world);
    this.tell({ kind: 'peer', thread: other.number, cell: other.cell, port: here });
    other.tell({ kind: 'peer', thread: this.number, cell: this.cell, port: there });
  }

  terminate(run: string): Promise<void> {
    if (!this.lane.dead) this.#die(`was terminated because of run ${run}`);
    return Promise.resolve();
  }

  #load(load: Load, order: Parameters<Load>[0]): ReturnType<Load> {
    const build = load(order);
    if (build instanceof Promise) return build.then((late) => () => this.body.logic(late()));
    return () => this.body.logic(build());
  }

  #post(message: ToThread | number): void {
    const isPoke = message === poke;
    this.#toThread.post(
      isPoke ? 'doorbell' : 'order',
      () => {
        if (isPoke) this.#options.world.note(this.lane.name, 'hears a doorbell');
        else if ((message as ToThread).kind !== 'peer')
          this.#options.world.note(this.lane.name, `hears "${(message as ToThread).kind}"`);
        this.#hear(message);
      },
      isPoke ? this.body.bellsLateMs : 0,
    );
  }

  #sent(message: FromThread | number): void {
    if (this.lane.dead) return;
    this.#toCaller.post('message', () => {
      if (typeof message === 'number') this.#options.caller.look();
      else this.#heard(message);
    });
  }

  #heard(message: FromThread): void {
    if (message.kind === 'quiet') return;
    if (message.kind === 'broken') {
      this.#broken = true;
      this.#residents.broken(fromFault(message.fault));
    } else {
      this.#residents.heard(message);
    }
  }

  // What it had posted before arrives before the news of its end.
  #die(how: string): void {
    this.lane.die();
    this.#options.world.note(this.lane.name, how);
    this.#toCaller.post('exit', () => {
      const reason = `thread ${this.number} ${how}`;
      this.#options.onExit();
      this.#residents.lost(() => new MillraceError('ERR_THREAD_LOST', reason));
    });
  }
}

/** A port for each of two threads; what is posted at one is heard at the other. */
function portsBetween(a: SimulatedThread, b: SimulatedThread, world: World): readonly [Port, Port] {
  const listeners = new Map<SimulatedThread, (message: unknown) => void>();
  const portOf = (own: SimulatedThread, other: SimulatedThread): Port => {
    const mail = new Mail(world, other.lane);
    return {
      postMessage(message) {
        if (own.lane.dead) return;
        const hear = (): void => {
          world.note(other.lane.name, 'hears a doorbell');
          listeners.get(other)?.(message);
        };
        mail.post('doorbell', hear, other.body.bellsLateMs);
      },
      on: (_, listener) => listeners.set(own, listener),
    };
  };
  return [portOf(a, b), portOf(b, a)];
}
