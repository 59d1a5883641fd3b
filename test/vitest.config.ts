/**
 * How the tests run. `millrace` is never aliased to the sources: tests with real threads import the built package
 * by its own name, as a user does, because a thread loads files and knows nothing of the test runner.
 */
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config';

const long = process.env['MILLRACE_LONG'] === '1';
const exclude = long ? configDefaults.exclude : [...configDefaults.exclude, 'test/long/**'];
const pure = ['runtime', 'operators', 'src', 'testing', 'types', 'ws'].map((room) => `test/${room}/**/*.test.ts`);

const config: ViteUserConfig = defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    // Files of laws about pure machines share a process: to load the sources for each takes longer than most of them run.
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      { extends: true, test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: [...exclude, ...pure] } },
    ],
    pool: 'forks',
    // More than cores: many tests wait for processes and timers.
    maxWorkers: 3,
    testTimeout: long ? 600_000 : 30_000,
    hookTimeout: 120_000,
  },
});

export default config;
