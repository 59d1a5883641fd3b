/**
 * Memory stays flat under endless sources and a slow stage: the short form of `npm run bench -- flat`, a process for each source.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../bench/flatRun.ts', import.meta.url));
const long = process.env['MILLRACE_LONG'] === '1';
const [warmUpMs, measuredMs] = long ? [5_000, 60_000] : [500, 500];

interface Growth {
  readonly values: number;
  readonly heapAndShared: number;
  readonly rss: number;
}

async function growthOf(source: string): Promise<Growth> {
  const args = ['--expose-gc', '--import', 'tsx', script, source, String(warmUpMs), String(measuredMs)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Growth;
}

describe('an endless source into a topology whose slowest stage takes 1 ms', { concurrent: true }, () => {
  test.each(['synchronous', 'pull', 'asyncGenerator', 'nodeStream', 'webSocket'])(
    'law: %s: memory does not grow',
    async (source) => {
      const { values, heapAndShared, rss } = await growthOf(source);
      // It has flowed, and slower than the source could give.
      expect(values).toBeGreaterThan(10);
      expect(values).toBeLessThan(measuredMs * 1.2);
      expect(heapAndShared).toBeLessThanOrEqual(10e6);
      expect(rss).toBeLessThanOrEqual(60e6);
    },
  );
});
