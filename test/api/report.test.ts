/** The public API is what its golden reports say. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entries, writeReports } from './report.js';

const golden = fileURLToPath(new URL('.', import.meta.url));
const fresh = mkdtempSync(join(tmpdir(), 'millrace-api-test-'));

beforeAll(() => writeReports(fresh));
afterAll(() => rmSync(fresh, { recursive: true, force: true }));

describe('public API', () => {
  test.each([...entries.keys()])('law: %s is what the build exports', (report) => {
    const path = join(golden, report);
    const recorded = existsSync(path) ? readFileSync(path, 'utf8') : '';
    expect(
      readFileSync(join(fresh, report), 'utf8'),
      `the public API differs from test/api/${report}; when that is meant, run "npm run api" and review the change`,
    ).toBe(recorded);
  });
});
