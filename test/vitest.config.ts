/**
 * How the tests run. `millrace` is never aliased to the sources: tests with real threads import the built package
 * by its own name, as a user does, because a thread loads files and knows nothing of the test runner.
 */
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config';

const long = process.env['MILLRACE_LONG'] === '1';
const exclude = long ? configDefaults.exclude : [...configDefaults.exclude, 'test/long/**'];
const shared = ['runtime', 'operators', 'src', 'testing', 'simulated', 'types', 'docs', 'ws'].map(
  (room) => `test/${room}/**/*.test.ts`,
);

const config: ViteUserConfig = defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    // Files without threads of their own share a process: to load the sources for each takes longer than most of them run.
    projects: [
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
      { extends: true, test: { name: 'alone', include: ['test/**/*.test.ts'], exclude: [...exclude, ...shared] } },
    ],
    pool: 'forks',
    // More than cores: many tests wait for processes and timers.
    maxWorkers: 3,
    testTimeout: long ? 600_000 : 30_000,
    hookTimeout: 120_000,
  },
});

export default config;
