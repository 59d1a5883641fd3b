/**
 * endurance: values of 250 bytes at full speed for ten minutes; the last minute against the second one. Its ancestors went from
 * 430,000 a second to 115,000 at this size.
 */

import { createRuntime } from 'millrace';
import { lastValueFrom } from 'rxjs';
import { hop } from './hop.js';
import type { Bench, Report } from './kit.js';
import { weightOf } from './values.js';

const minuteMs = 60_000;
const minutes = Number(process.env['ENDURANCE_MINUTES'] ?? 10);
const load = { kind: 'long', count: 2_000_000 } as const;

export const endurance: Bench = {
  name: 'endurance',
  about:
    'values/s of 250 bytes each, minute by minute for ten minutes: the last against the second (takes ten minutes)',
  byNameOnly: true,
  async run(report) {
    await using runtime = createRuntime({ threads: 2 });
    const expected = weightOf(load);
    const perMinute = new Array<number>(minutes).fill(0);
    const started = performance.now();
    for (let at = 0; at < minutes; at = Math.floor((performance.now() - started) / minuteMs)) {
      const sum = await lastValueFrom(hop({ args: load, runtime }));
      if (sum !== expected) throw new Error(`weighed ${sum} instead of ${expected}`);
      // A run that crosses a minute counts for the one it began in, as others do for the one before.
      perMinute[at] = (perMinute[at] ?? 0) + load.count;
    }
    for (const [minute, values] of perMinute.entries()) tell(report, `minute ${minute + 1}`, values / 60);
    const [, second = Number.NaN] = perMinute;
    const last = perMinute.at(-1) ?? Number.NaN;
    const ratio = last / second;
    report.result({
      ...{
        name: 'last minute',
        unit: 'values/s',
        value: last / 60,
        against: { name: 'second minute', value: second / 60 },
      },
      ...{ ratio, interval: null, goal: '>= 0.95', met: ratio >= 0.95 },
    });
  },
};

function tell(report: Report, name: string, value: number): void {
  report.result({ name, unit: 'values/s', value, against: null, ratio: null, interval: null, goal: null, met: null });
}
