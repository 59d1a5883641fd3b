/**
 * Planted faults are found, and what is found is small: the laws over lists see each of them within 1,000 seeds.
 * Each fault is planted while a process of its own loads the runtime. What the runtime should do is said nowhere here.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { mutants as all, type Edit } from './fixtures/mutants.js';
import type { Found } from './fixtures/mutantsSeek.js';

const long = process.env['MILLRACE_LONG'] === '1';
const mutants = all.filter(({ longOnly }) => long || longOnly === undefined);
const runs = 1000;
const run = promisify(execFile);
const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Number 0 is the runtime as it is. */
const faults: readonly (readonly Edit[])[] = [[], ...mutants.map(({ edits }) => edits)];
const jobs = [
  '0',
  '0:between',
  ...mutants.map(({ how }, index) => (how === undefined ? `${index + 1}` : `${index + 1}:${how}`)),
];

interface Seen {
  readonly found: readonly (Found & { readonly job: string })[];
  /** What the process has said besides. */
  readonly said: string;
}

async function seek(some: readonly string[]): Promise<Seen> {
  const args = ['--import', 'tsx', '--import', fixture('mutantsHook.mjs'), fixture('mutantsChild.mjs'), ...some];
  const env = { ...process.env, MILLRACE_MUTANTS: JSON.stringify(faults), NODE_OPTIONS: '' };
  const { stdout, stderr } = await run(process.execPath, args, { cwd: root, env, timeout: 150_000 }).catch(
    (failed: { readonly stdout: string; readonly stderr: string }) => failed,
  );
  return {
    found: stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
    said: stderr,
  };
}

/** Two processes take turns in the list. */
const halves = [0, 1].map((half) => seek(jobs.filter((_, index) => index % 2 === half)));

async function foundBy(job: string): Promise<Found> {
  const { found, said } = await halves[jobs.indexOf(job) % 2]!;
  const result = found.find((each) => each.job === job);
  if (result === undefined) throw new Error(`nothing came of job ${job} in time; the process said: ${said}`);
  return result;
}

describe('planted faults', { timeout: 180_000 }, () => {
  test(`law: without a fault, all laws hold in ${runs} simulated runs, and between any two accesses`, async () => {
    for (const job of ['0', '0:between']) expect(await foundBy(job)).not.toHaveProperty('law');
    expect(await foundBy('0')).toMatchObject({ runs });
  });

  // Also those that are sought in the long form alone: who changes a file learns of them now.
  test.each(all)('$name fits the runtime as it is built', ({ edits }) => {
    for (const { file, from } of edits) {
      const built = readFileSync(fileURLToPath(new URL(`../../dist/${file}`, import.meta.url)), 'utf8');
      expect(built.split(from).length - 1, `times that ${file} has\n${from}`).toBe(1);
    }
  });

  test.each(mutants.map((mutant, index) => ({ ...mutant, job: jobs[index + 2]! })))(
    'law: $name is found',
    async (mutant) => {
      const result = await foundBy(mutant.job);
      expect(mutant.laws, result.what).toContain(result.law);
      // A fault that is no JavaScript would be found by any law.
      expect(result.what).not.toMatch(/(Reference|Syntax|Type)Error/);
      expect(result.runs).toBeLessThanOrEqual(runs);
      if (mutant.how !== undefined) return;
      expect(result.parts, result.example).toBeLessThanOrEqual(3);
      expect(result.values, result.example).toBeLessThanOrEqual(5);
    },
  );
});
