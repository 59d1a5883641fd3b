import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { describe as describeCommand } from '../../src/cli/describe.js';
import { failureText } from '../../src/cli/exit.js';
import { type DescribeCall, invocationOf } from '../../src/cli/invocation.js';
import { loadTarget } from '../../src/cli/target.js';

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const refused = (message: string) =>
  expect.objectContaining({ name: 'UsageError', message: expect.stringContaining(message) });

describe('the topology of a module', () => {
  test('by the name of its export, by default, or because it is the only one', async () => {
    expect((await loadTarget(fixture('pipelines.mjs'), 'words')).applicable.describe({}).segments[0]?.name).toBe(
      'split',
    );
    expect((await loadTarget(fixture('only.mjs'), undefined)).applicable.name).toBe('the only one');
    expect((await loadTarget(fixture('only.mjs'), 'again')).applicable.name).toBe('the only one');
    expect(typeof (await loadTarget(fixture('only.mjs'), undefined)).library.pull).toBe('function');
  });

  test('what cannot be found is said with what there is', async () => {
    const several = fixture('pipelines.mjs');
    await expect(loadTarget(several, undefined)).rejects.toEqual(refused('exports several: choose one by --export '));
    await expect(loadTarget(several, 'wrods')).rejects.toEqual(refused('did you mean words?'));
    await expect(loadTarget(several, 'notATopology')).rejects.toEqual(refused('named "notATopology": there are '));
    await expect(loadTarget(fixture('none.mjs'), undefined)).rejects.toEqual(refused('there is no module'));
    await expect(loadTarget(fixture('empty.mjs'), undefined)).rejects.toEqual(
      refused('exports no topology and no source'),
    );
    await expect(loadTarget(fixture('broken.mjs'), undefined)).rejects.toMatchObject({
      code: 'ERR_START',
      message: expect.stringMatching(/broken\.mjs did not load: broken on purpose$/),
    });
  });

  test('described as text, data and a flowchart', async () => {
    const print = (...args: string[]): Promise<string> =>
      describeCommand(
        invocationOf(['describe', fixture('pipelines.mjs'), '--export', 'words', ...args]) as DescribeCall,
      );
    expect(await print('--args', '{"minLength":2}')).toMatch(/^topology .*\n {2}split × 2 on/);
    expect(JSON.parse(await print('--format', 'json'))).toMatchObject({ version: 1, outputs: ['output'] });
    expect(await print('--format', 'mermaid')).toMatch(
      /^flowchart LR\n {2}n0\(\["caller"]\)\n[\s\S]*-->\|"count: keyBy"\| n2/,
    );
  });
});

test('a failure shows the stack of the user’s own error, if there is one', () => {
  expect(failureText('odd')).toBe('odd');
  expect(failureText(new RangeError('a'))).toMatch(/^RangeError: a\n {4}at /);
});
