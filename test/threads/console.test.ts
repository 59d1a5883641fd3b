/** What threads print arrives, all of it, and a thread that prints more than is taken waits. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('./fixtures/talking.mjs', import.meta.url));

function talking(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [script, ...args], { maxBuffer: 2 ** 30, timeout: 60_000 });
}

test.each(['exit', 'close'])('every line arrives before the process ends by itself (%s)', async (how) => {
  const { stdout, stderr } = await talking('3000', '100', how);
  const lines = stdout.split('\n');
  expect(lines).toHaveLength(300_001);
  expect(lines[299_999]).toMatch(/^2999 99 \.+$/);
  expect(stderr).toContain('the last value');
  // A mebibyte, and what one slice of a millisecond prints.
  expect(Number(/at most (\d+)/.exec(stderr)?.[1])).toBeLessThan(8 * 1024 * 1024);
});
