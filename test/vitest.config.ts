/**
 * How the tests run. `millrace` is never aliased to the sources: tests with real threads import the built package
 * by its own name, as a user does, because a thread loads files and knows nothing of the test runner.
 */
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config';

const long = process.env['MILLRACE_LONG'] === '1';

const config: ViteUserConfig = defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    exclude: long ? configDefaults.exclude : [...configDefaults.exclude, 'test/long/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: long ? 600_000 : 30_000,
    hookTimeout: 120_000,
  },
});

export default config;
