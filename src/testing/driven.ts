/**
 * The input of a simulated run: values at their times, handed over in one of the ways a source may have.
 * Owns which way, by the seed. What is not yet due when it is unsubscribed never comes.
 */

import { Observable, type Subscriber, Subscription } from 'rxjs';
import type { Lane, World } from '../../runtime/simulated/world.js';
import { pull } from '../pull.js';
import type { Schedule } from './input.js';

/** `stalls` say before which value the source stands still, and for how long. */
export interface Stall {
  readonly atValue: number;
  readonly forMs: number;
}

export function driven(
  schedule: Schedule<unknown>,
  stalls: readonly Stall[],
  world: World,
  lane: Lane,
): Observable<unknown> {
  const { values, endMs, failure } = schedule;
  const atOnce = stalls.length === 0 && failure === undefined && endMs === 0 && values.every(([atMs]) => atMs === 0);
  const ways = world.weather.calm ? 1 : atOnce ? 3 : 2;
  const way = world.random.below(ways);
  if (way === 2) return pull(() => values.map(([, value]) => value));
  return new Observable((subscriber) => new Drive(schedule, stalls, lane, subscriber).start(way === 1 ? 1 : Infinity));
}

class Drive {
  readonly #schedule: Schedule<unknown>;
  readonly #stalls: readonly Stall[];
  readonly #lane: Lane;
  readonly #subscriber: Subscriber<unknown>;
  #next = 0;
  #nowMs = 0;
  #lateMs = 0;

  constructor(schedule: Schedule<unknown>, stalls: readonly Stall[], lane: Lane, subscriber: Subscriber<unknown>) {
    this.#schedule = schedule;
    this.#stalls = stalls;
    this.#lane = lane;
    this.#subscriber = subscriber;
  }

  /** At most `atOnce` values in one turn of the event loop. */
  start(atOnce: number): void {
    this.#stallAt(0);
    this.#go(atOnce);
  }

  #go(atOnce: number): void {
    const { values, endMs = Number.POSITIVE_INFINITY, failure } = this.#schedule;
    for (let left = atOnce; !this.#subscriber.closed; left--) {
      const next = values[this.#next];
      const dueMs = (next?.[0] ?? endMs) + this.#lateMs;
      if (dueMs === Number.POSITIVE_INFINITY) return;
      if (dueMs > this.#nowMs || left === 0) {
        this.#wait(dueMs, atOnce);
        return;
      }
      if (next === undefined) {
        if (failure === undefined) this.#subscriber.complete();
        else this.#subscriber.error(failure.error);
        return;
      }
      this.#next++;
      this.#subscriber.next(next[1]);
      this.#stallAt(this.#next);
    }
  }

  #wait(dueMs: number, atOnce: number): void {
    const waiting = new Subscription(
      this.#lane.in(Math.max(0, dueMs - this.#nowMs), 'input', () => {
        this.#subscriber.remove(waiting);
        this.#nowMs = Math.max(this.#nowMs, dueMs);
        this.#go(atOnce);
      }),
    );
    this.#subscriber.add(waiting);
  }

  #stallAt(taken: number): void {
    for (const { atValue, forMs } of this.#stalls) if (atValue === taken) this.#lateMs += forMs;
  }
}
