/**
 * The simulated host: threads, doorbells and time played by one thread under a seed, below the same runs and executors as the
 * threads host.
 * Owns the simulated threads and the rings of one world. Never waits: whoever made the world lets its things happen.
 */

import type { Site } from '../assemble.js';
import { type Bell, createBell, createSleepCell, Sleeper } from '../channel.js';
import type { Clock } from '../clock.js';
import { currentContext } from '../context.js';
import type { Host, HostThread } from '../host.js';
import { callerThread } from '../order.js';
import { Patience } from '../patience.js';
import { freest } from '../placement.js';
import { Pump } from '../pump.js';
import { createRing, resetRing } from '../ring.js';
import type { PooledRing } from '../rings.js';
import type { Load } from '../thread.js';
import { Body, type Flush } from './body.js';
import type { Mishap } from './mishap.js';
import { SimulatedThread } from './thread.js';
import { clockOf, type Lane, type World } from './world.js';

export interface SimulatedHostOptions {
  readonly world: World;
  /** Threads it has at most. */
  readonly size: number;
  readonly load: Load;
  readonly mishaps: readonly Mishap[];
  readonly onFlush: (flush: Flush) => void;
}

export class SimulatedHost implements Host {
  readonly clock: Clock;
  readonly size: number;
  readonly cores: number;
  readonly watched = false;
  closed = false;
  /** The lane of the calling thread. */
  readonly lane: Lane;
  readonly #options: SimulatedHostOptions;
  readonly #cell = createSleepCell();
  readonly #pump: Pump;
  readonly #bell: Bell;
  readonly #body: Body;
  #threads: readonly SimulatedThread[] = [];
  #count = 0;
  #generations = 0;
  readonly #free: SharedArrayBuffer[] = [];
  readonly #mishaps: Set<Mishap>;

  constructor(options: SimulatedHostOptions) {
    const { world, size, onFlush } = options;
    this.#options = options;
    this.#mishaps = new Set(options.mishaps);
    this.size = size;
    this.cores = world.weather.cores;
    this.lane = world.lane('caller');
    this.clock = clockOf(world, this.lane);
    this.#pump = new Pump(this.clock, new Sleeper(this.#cell), new Patience(this.clock.nowMs), () => false);
    this.#bell = createBell(this.#cell, () => this.#pump.wake());
    const look = (): void => this.#pump.run();
    this.#body = new Body({ world, lane: this.lane, mishaps: new Set(), onFlush, look, die: () => {} });
  }

  take(count: number): readonly HostThread[] {
    return freest(this.#threads, count, this.size, () => this.#spawn());
  }

  site(threads: readonly HostThread[]): Site {
    const bells = new Map(threads.map((thread) => [thread.number, thread.bell]));
    return {
      thread: callerThread,
      pump: this.#pump,
      clock: this.clock,
      within: currentContext(),
      ...this.#body.ends((peer) => bells.get(peer) ?? this.#bell),
    };
  }

  work(): boolean {
    return this.#pump.work();
  }

  get ages(): boolean {
    return this.#pump.ages;
  }

  /** The other lanes go on; of its own, this one only hears what threads have posted. */
  rest(ms: number): boolean {
    let passes = true;
    const stop = (): void => {
      passes = this.#options.world.others(this.lane, ms);
    };
    this.#pump.standStill(ms, stop);
    this.lane.runMail();
    return passes;
  }

  hold(on: boolean): void {
    this.#pump.hold(on);
    this.lane.held = on;
  }

  /** All rings of a world are of one size, whatever was asked for: small ones are often full. */
  takeRing(): PooledRing {
    const { ringBytes, ringStart } = this.#options.world.weather;
    const generation = ++this.#generations;
    const memory = this.#free.pop() ?? createRing(ringBytes, ringStart);
    resetRing(memory, generation);
    return { memory, generation, bytes: ringBytes };
  }

  giveRing({ memory }: PooledRing): void {
    this.#free.push(memory);
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all(this.#threads.map((thread) => thread.terminate('close()')));
  }

  /** Mishaps that have not come true: the executors did not take so many values. */
  get pending(): readonly Mishap[] {
    return [...this.#mishaps];
  }

  /** Who waits for whom, where nothing can happen any more. */
  waits(): readonly string[] {
    return [this.#body, ...this.#threads.map((thread) => thread.body)].flatMap(waitsOf);
  }

  #spawn(): SimulatedThread {
    const { world, load, onFlush } = this.#options;
    const thread: SimulatedThread = new SimulatedThread(++this.#count, {
      world,
      load,
      mishaps: this.#mishaps,
      onFlush,
      caller: { lane: this.lane, cell: this.#cell, look: () => this.#pump.run() },
      onExit: () => {
        this.#threads = this.#threads.filter((other) => other !== thread);
      },
    });
    this.#threads = [...this.#threads, thread];
    return thread;
  }
}

function waitsOf({ writers, readers, programs }: Body): readonly string[] {
  const lines: string[] = [];
  for (const { id, waits, ended } of writers) {
    if (waits && !ended) lines.push(`${endsOf(id).from} waits for room: ${endsOf(id).to} has not read ${id}`);
  }
  for (const { id, waits, ended, finished } of readers) {
    if (waits && !ended && !finished)
      lines.push(`${endsOf(id).to} waits for input: ${endsOf(id).from} has sent nothing more by ${id}`);
  }
  for (const { id, waiting } of programs)
    if (waiting !== undefined) lines.push(`${id} waits for its own steps: ${waiting}`);
  return lines;
}

/** The executors at the ends of a channel, from its id. */
function endsOf(id: string): { readonly from: string; readonly to: string } {
  const [, from = '', to = ''] = /:(.*)->(.*)$/.exec(id) ?? [];
  return { from, to };
}
