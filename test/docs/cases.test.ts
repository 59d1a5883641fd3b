import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rows = readFileSync(`${root}/test/cases.md`, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| C-'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, cases, , held]) => ({ cases: cases as string, held: held as string }));

test('every case names a test that bears its number, or the sentence that replaces it', () => {
  expect(rows.length).toBeGreaterThan(20);
  for (const { cases, held } of rows) {
    const tests = [...held.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file as string);
    if (tests.length === 0) expect(held, cases).toMatch(/^replaced: /);
    for (const file of tests) {
      const text = readFileSync(`${root}/${file}`, 'utf8');
      for (const [number] of cases.matchAll(/C-\d{3}/g))
        expect(text, `${file} has a test for ${number}`).toContain(number);
    }
  }
});
