import { describe, expect, test } from 'vitest';
import { durationOf, rateOf, sizeOf } from '../../src/cli/figures.js';
import { helpFor } from '../../src/cli/help.js';
import { invocationOf } from '../../src/cli/invocation.js';
import { progressLine } from '../../src/cli/progress.js';

const refused = (message: string) =>
  expect.objectContaining({ name: 'UsageError', message: expect.stringContaining(message) });

describe('arguments', () => {
  test('defaults', () => {
    expect(invocationOf(['run', 'a.ts'])).toEqual({
      command: 'run',
      module: 'a.ts',
      exported: undefined,
      options: {},
      input: undefined,
      format: 'lines',
      badLines: 'stop',
      output: 'ndjson',
      stream: undefined,
      threads: undefined,
      batches: undefined,
      quiet: false,
    });
    expect(invocationOf(['describe', 'a.ts'])).toMatchObject({ command: 'describe', format: 'text', options: {} });
  });

  test('everything that can be said', () => {
    const said =
      'run --export x --input - --format ndjson --bad-lines=skip --output tsv --stream s --threads 0 --args {"a":[1]} ' +
      '--batch 50 --batch words:size=5,flushMs=0.5,idle=false --quiet a.ts';
    expect(invocationOf(said.split(' '))).toEqual({
      command: 'run',
      module: 'a.ts',
      exported: 'x',
      options: { args: { a: [1] } },
      input: '-',
      format: 'ndjson',
      badLines: 'skip',
      output: 'tsv',
      stream: 's',
      threads: 0,
      batches: { default: 50, words: { size: 5, flushMs: 0.5, idle: false } },
      quiet: true,
    });
    expect(invocationOf(['run', 'a.ts', '--args=-5'])).toMatchObject({ options: { args: -5 } });
    expect(invocationOf(['describe', '--', '--odd.ts'])).toMatchObject({ module: '--odd.ts' });
  });

  test('help and version, wherever they stand', () => {
    for (const said of ['--help', '-h', 'help'])
      expect(invocationOf([said])).toEqual({ command: 'help', topic: undefined });
    expect(invocationOf(['run', 'a.ts', '-h'])).toEqual({ command: 'help', topic: 'run' });
    expect(invocationOf(['describe', '--help'])).toEqual({ command: 'help', topic: 'describe' });
    expect(invocationOf(['--version'])).toEqual({ command: 'version' });
    for (const topic of [undefined, 'run', 'describe'] as const) expect(helpFor(topic)).toMatch(/^millrace/);
    for (const line of helpFor('run').split('\n')) expect(line.length).toBeLessThan(125);
  });

  test.each([
    ['', 'a command is missing'],
    ['rum a.ts', 'did you mean run?'],
    ['walk a.ts', 'there are run, describe'],
    ['run', 'the module is missing'],
    ['run a.ts b.txt', '"b.txt" is one too many'],
    ['run a.ts --inptu b', 'run has no option --inptu: did you mean --input?'],
    ['run a.ts --toString', 'run has no option --toString: there are --export'],
    ['describe a.ts --threads 2', 'describe has no option --threads'],
    ['run a.ts -q', 'run has no option -q'],
    ['run a.ts --input', '--input needs a value'],
    ['run a.ts --export --quiet', '--export needs a value; one that begins with - is given by --export=--quiet'],
    ['run a.ts --quiet=no', '--quiet takes no value'],
    ['run a.ts --input a --input b', '--input is given twice'],
    ['run a.ts --format json', '--format must be lines or ndjson, got "json"'],
    ['run a.ts --threads two', '--threads must be a whole number from 0 to 1024, got "two"'],
    ['run a.ts --threads 2000', '--threads must be a whole number'],
    ['run a.ts --args {a:1}', '--args is not JSON'],
    ['run a.ts --args {"a":1,"a":2}', '--args has value.a twice'],
    ['run a.ts --batch 0', '--batch 0: ERR_OPTION: batch must be a whole number of values'],
    ['run a.ts --batch sizes=3', 'did you mean size?'],
    ['run a.ts --batch words', '--batch must be a number of values'],
    ['run a.ts --batch 1 --batch 2', '--batch is given twice for default'],
  ])('%s', (said, message) => {
    expect(() => invocationOf(said.split(' ').filter((word) => word !== ''))).toThrow(refused(message));
  });
});

describe('figures', () => {
  test('sizes, durations and rates', () => {
    expect([0, 999, 1000, 1_234_000, 99_960_000, 2e9].map(sizeOf)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '1.2 MB',
      '100 MB',
      '2.0 GB',
    ]);
    expect([0, 5_400, 720_000, 3_600_000].map(durationOf)).toEqual(['0:00', '0:05', '12:00', '1:00:00']);
    expect([rateOf(0, 0), rateOf(123_456, 1000), rateOf(1, 3000)]).toEqual(['0', '123000', '0.333']);
  });

  test('progress says the share and the time left where the size is known', () => {
    expect(progressLine(10_000, 5_000, 250, 1000)).toBe('25% of 1.0 kB · 500 values/s · 0:30 left');
    expect(progressLine(10_000, 0, 0, 1000)).toBe('0% of 1.0 kB · 0 values/s · no estimate yet');
    expect(progressLine(10_000, 5_000, 2000)).toBe('2.0 kB read · 500 values/s · 0:10');
    expect(progressLine(10_000, 5_000, 0)).toBe('500 values/s · 0:10');
  });
});
