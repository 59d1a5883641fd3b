/**
 * flat: by how much memory grows in a minute in which an endless source feeds a topology whose slowest stage takes 1 ms a value.
 * One process per source, so that all its memory is the run's.
 */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Growth } from './flatRun.js';
import { type Bench, compare, type Side } from './kit.js';

export const flatSources: readonly string[] = ['synchronous', 'pull', 'asyncGenerator', 'nodeStream', 'webSocket'];

export const flat: Bench = {
  name: 'flat',
  byNameOnly: true,
  about: 'MB that memory grows by in 60 s, after 5 s, under endless sources and a stage of 1 ms a value (only by name)',
  async run(report) {
    for (const source of flatSources) {
      let growth: Growth | undefined;
      const heap: Side = {
        name: source,
        async measure() {
          growth = await growthOf(source, 5_000, 60_000);
          return growth.heapAndShared / 1e6;
        },
      };
      const rss: Side = { name: source, measure: async () => (growth?.rss ?? Number.NaN) / 1e6 };
      const once = { rounds: 1, warmUps: 0, threads: 0 } as const;
      await compare(report, {
        name: `${source}, heap and shared`,
        unit: 'MB',
        side: heap,
        goal: { atMost: 10 },
        ...once,
      });
      await compare(report, { name: `${source}, rss`, unit: 'MB', side: rss, goal: { atMost: 60 }, ...once });
    }
  },
};

/** Runs one source in a process of its own. */
export async function growthOf(source: string, warmUpMs: number, measuredMs: number): Promise<Growth> {
  const script = fileURLToPath(new URL('flatRun.ts', import.meta.url));
  const args = ['--expose-gc', '--import', 'tsx', script, source, String(warmUpMs), String(measuredMs)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: warmUpMs + measuredMs + 60_000 });
  return JSON.parse(stdout) as Growth;
}
