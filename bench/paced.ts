/**
 * Latency at rates at which batches never fill: with batches of 100, and value by value.
 */

import { setImmediate, setTimeout } from 'node:timers/promises';
import { createRuntime } from 'millrace';
import { firstValueFrom, Subject } from 'rxjs';
import { compare, quantile, type Report, type Side } from './kit.js';
import { nowNs, type Stamped, stopwatch } from './stopwatch.js';

const rates = [100, 500, 1_600] as const;
const roundMs = 400;

export async function paced(report: Report, rounds: number): Promise<void> {
  await using runtime = createRuntime({ threads: 2 });
  const sideOf = (size: number, rate: number): Side => {
    const input = new Subject<Stamped>();
    const delays = new Subject<readonly number[]>();
    input.pipe(stopwatch({ runtime, batches: { default: size } })).subscribe(delays);
    return {
      name: `batch: ${size}`,
      async measure() {
        const count = Math.ceil((rate * roundMs) / 1000);
        const startNs = nowNs();
        for (let i = 0; i < count; i++) {
          // Due times do not drift. A timer of Node is a millisecond wide, so the last part is turns of the event loop.
          const dueNs = startNs + (i * 1e9) / rate;
          const leftMs = (dueNs - nowNs()) / 1e6;
          if (leftMs > 1.2) await setTimeout(leftMs - 1.1);
          do await setImmediate();
          while (nowNs() < dueNs);
          input.next({ word: 'water', count: i, sentNs: nowNs() });
        }
        const answered = firstValueFrom(delays);
        input.next({ word: '', count, sentNs: 0 });
        const all = await answered;
        if (all.length !== count) throw new Error(`${all.length} of ${count} values arrived`);
        return (
          quantile(
            [...all].sort((a, b) => a - b),
            0.5,
          ) / 1000
        );
      },
    };
  };
  for (const rate of rates) {
    await compare(report, {
      ...{ name: `latency at ${rate}/s`, unit: 'us', side: sideOf(100, rate), against: sideOf(1, rate) },
      ...{ goal: { atMost: 1.2, sure: true }, rounds },
    });
  }
}
