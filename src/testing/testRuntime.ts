/**
 * testRuntime: threads for TestScheduler.run() and testClock(), played in whatever time RxJS has.
 * Owns one simulated host for each such time. Never starts a thread.
 */

import { dateTimestampProvider } from 'rxjs/internal/scheduler/dateTimestampProvider';
import { timeoutProvider } from 'rxjs/internal/scheduler/timeoutProvider';
import type { TimerHandle } from 'rxjs/internal/scheduler/timerHandle';
import type { Host } from '../../runtime/host.js';
import { SimulatedHost } from '../../runtime/simulated/host.js';
import { World } from '../../runtime/simulated/world.js';
import { loadHere } from '../load.js';
import { type Runtime, runtimeOn } from '../runtime.js';

/**
 * A runtime without threads: its executors run on this one, in the virtual time of `TestScheduler.run()` or `testClock()`, with
 * the real batches, codecs and rings between them. What crosses at once arrives in the same frame; what waits for company
 * arrives when its batch leaves. Where neither is in place it runs in real time.
 *
 * ```ts
 * const runtime = testRuntime();
 * new TestScheduler(expect).run(({ cold, expectObservable }) => {
 *   const words$ = cold('a-b-(a|)').pipe(wordCount({ runtime }));
 *   expectObservable(words$).toBe('a-b-(c|)', { a: ['a', 1], b: ['b', 1], c: ['a', 2] });
 * });
 * ```
 */
export function testRuntime(): Runtime {
  const hosts = new WeakMap<object, Host>();
  const realTime = {};
  return runtimeOn(() => {
    // A time begins at 0 again with the next scheduler, where nothing of the last one must be left.
    const time = dateTimestampProvider.delegate ?? realTime;
    const host = hosts.get(time) ?? new DrivenWorld().host;
    hosts.set(time, host);
    return host;
  });
}

const maxThreads = 1024;

/** A world whose things happen when RxJS's timers say so. */
class DrivenWorld {
  readonly host: SimulatedHost;
  readonly #world: World;
  #timer: TimerHandle | undefined;
  #timerMs = Number.POSITIVE_INFINITY;

  constructor() {
    const time = { nowMs: () => dateTimestampProvider.now(), awaits: (ms: number) => this.#arm(ms) };
    const world = new World(0, () => {}, time);
    this.#world = world;
    this.host = new SimulatedHost({ world, size: maxThreads, load: loadHere, mishaps: [], onFlush: () => {} });
    // What is thrown here is told to whoever drives the time: it fails the test.
    this.host.lane.onError = (reason) => {
      throw reason;
    };
  }

  #arm(ms: number): void {
    const atMs = this.#world.nowMs + ms;
    if (atMs >= this.#timerMs) return;
    this.#disarm();
    this.#timerMs = atMs;
    this.#timer = timeoutProvider.setTimeout(() => this.#live(), ms);
  }

  #disarm(): void {
    if (this.#timer !== undefined) timeoutProvider.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerMs = Number.POSITIVE_INFINITY;
  }

  #live(): void {
    this.#disarm();
    try {
      while (this.#world.step(this.#world.nowMs));
    } finally {
      this.#disarm();
      const { nextMs } = this.#world;
      if (nextMs < Number.POSITIVE_INFINITY) this.#arm(Math.max(0, nextMs - this.#world.nowMs));
    }
  }
}
