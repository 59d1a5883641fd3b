/**
 * latency: from the caller's thread to a step on another thread, at 1,000 values a second, against postMessage of each value.
 */

import { setInterval } from 'node:timers/promises';
import { createRuntime } from 'millrace';
import { firstValueFrom, Subject } from 'rxjs';
import { answer, bareThread } from './bareThreads.js';
import { type Bench, compare, quantile, type Result, type Side } from './kit.js';
import { nowNs, type Stamped, stopwatch } from './stopwatch.js';

const rounds = 15;
const valuesPerRound = 1_000;

export const latency: Bench = {
  name: 'latency',
  about: 'us one way from the calling thread to a step on a thread, 1,000 values/s, against postMessage of each value',
  async run(report) {
    await using runtime = createRuntime({ threads: 1 });
    const input = new Subject<Stamped>();
    const delays = new Subject<readonly number[]>();
    input.pipe(stopwatch({ runtime })).subscribe(delays);
    const thread = await bareThread('./bareStopwatch.ts');

    const own = new Watched(
      'millrace',
      (value) => input.next(value),
      () => firstValueFrom(delays),
    );
    const bare = new Watched(
      'postMessage',
      (value) => thread.postMessage(value),
      () => answer(thread),
    );
    await compare(report, {
      name: 'latency p50',
      unit: 'us',
      side: own,
      against: bare,
      goal: { atMost: 1.15 },
      rounds,
    });
    for (const q of [0.9, 0.99]) report.result(tail(q, own, bare));
    input.complete();
    await thread.terminate();
  },
};

/** Over all values of the kept rounds; without a goal, since the tail is mostly the machine's. */
function tail(q: number, own: Watched, bare: Watched): Result {
  const [value, other] = [own.quantile(q), bare.quantile(q)];
  return {
    name: `latency p${q * 100}, n ${own.count}`,
    unit: 'us',
    value,
    against: { name: bare.name, value: other },
    ratio: Number.isNaN(value) ? null : value / other,
    interval: null,
    goal: null,
    met: null,
  };
}

/** Sends values at a pace and gets their delays back. */
class Watched implements Side {
  readonly name: string;
  readonly #send: (value: Stamped) => void;
  readonly #answer: () => Promise<readonly number[]>;
  #last: readonly number[] = [];
  readonly #kept: number[] = [];

  constructor(name: string, send: (value: Stamped) => void, receive: () => Promise<readonly number[]>) {
    this.name = name;
    this.#send = send;
    this.#answer = receive;
  }

  get count(): number {
    return this.#kept.length;
  }

  async measure(): Promise<number> {
    let count = 0;
    for await (const _ of setInterval(1)) {
      if (count++ === valuesPerRound) break;
      this.#send({ word: 'water', count, sentNs: nowNs() });
    }
    const answered = this.#answer();
    this.#send({ word: '', count, sentNs: 0 });
    const delays = await answered;
    if (delays.length !== valuesPerRound)
      throw new Error(`${this.name} delivered ${delays.length} of ${valuesPerRound}`);
    this.#last = delays;
    return microseconds(delays, 0.5);
  }

  keep(): void {
    this.#kept.push(...this.#last);
  }

  quantile(q: number): number {
    return microseconds(this.#kept, q);
  }
}

function microseconds(delaysNs: readonly number[], q: number): number {
  return (
    quantile(
      [...delaysNs].sort((a, b) => a - b),
      q,
    ) / 1000
  );
}
