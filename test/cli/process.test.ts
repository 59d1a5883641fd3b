/** The command line as a user meets it: processes, pipes, files and signals. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';

const main = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
const pipelines = fileURLToPath(new URL('fixtures/pipelines.mjs', import.meta.url));
const shout = fileURLToPath(new URL('fixtures/shout.ts', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

interface Result {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly result: Promise<Result>;
  /** Resolves when stdout or stderr has said so. */
  saw(what: string): Promise<void>;
}

function start(...args: readonly string[]): Started {
  // Neither the flags of the test runner nor its environment are those of a user.
  const env = { PATH: process.env['PATH'] ?? '' };
  const child = spawn(process.execPath, [main, ...args], { env, cwd: folder });
  child.stdin.on('error', () => {});
  const said = new EventEmitter();
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    said.emit('more');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    said.emit('more');
  });
  const result = once(child, 'close').then(([code]) => ({ code, out, err }));
  const saw = async (what: string): Promise<void> => {
    while (!out.includes(what) && !err.includes(what)) await once(said, 'more');
  };
  return { child, result, saw };
}

function run(exported: string, args: readonly string[], stdin = ''): Promise<Result> {
  const { child, result } = start('run', pipelines, '--export', exported, ...args);
  child.stdin.end(stdin);
  return result;
}

const done = /^done: (\d+) values in, (\d+) results, [\d.]+ s, [\d.]+ values\/s, \d+ threads?$/m;

describe.concurrent('millrace run', { timeout: 120_000 }, () => {
  test('lines of a file and of stdin, as they are', async () => {
    const content = '\ufeffone\r\n\ntwo\u2028x\ry\u2029\nlast';
    const rows = ['"one"', '""', '"two\u2028x\\ry\u2029"', '"last"', ''].join('\n');
    const [fromFile, fromStdin] = await Promise.all([
      run('same', ['--input', file('lines.txt', content)]),
      run('same', ['--quiet'], content),
    ]);
    expect(fromFile).toMatchObject({ code: 0, out: rows });
    expect(done.exec(fromFile.err)?.slice(1, 3)).toEqual(['4', '4']);
    expect(fromFile.err).not.toContain('\u001b');
    expect(fromStdin).toEqual({ code: 0, out: rows, err: '' });
  });

  test('args, batches, threads, tsv, and a record of outputs', async () => {
    const input = ['--input', file('words.txt', 'a bc\nbc def\n')];
    const [words, sorted, short] = await Promise.all([
      run('words', [
        ...input,
        '--args',
        '{"minLength":2}',
        '--output',
        'tsv',
        '--batch',
        '7',
        '--batch',
        'count:1',
        '--threads',
        '3',
      ]),
      run('sorted', [...input, '--threads', '0']),
      run('sorted', ['--stream', 'short', '--quiet'], 'abc\nabcd\nx\n'),
    ]);
    expect(words.out.split('\n').sort()).toEqual(['', 'bc\t1', 'bc\t2', 'def\t1']);
    expect(words.err).toMatch(/3 threads$/m);
    expect(sorted).toMatchObject({
      code: 0,
      out: '{"stream":"long","value":"a bc"}\n{"stream":"long","value":"bc def"}\n',
    });
    expect(sorted.err).toMatch(/the calling thread$/m);
    expect(short).toEqual({ code: 0, out: '"abc"\n"x"\n', err: '' });
  });

  test('a source; TypeScript by the tsx of the project', async () => {
    const shouting = start('run', shout);
    shouting.child.stdin.end('hi');
    const [numbers, typed] = await Promise.all([run('numbers', ['--args', '2']), shouting.result]);
    expect(numbers).toMatchObject({ code: 0, out: '0\n1\n' });
    expect(typed).toMatchObject({ code: 0, out: '"HI!"\n' });
  });

  test('bad lines end the run after the good ones before them, or are left out and counted', async () => {
    const bytes = Buffer.concat([Buffer.from('ok\nb'), Buffer.of(0xc3), Buffer.from('(\nfine\n')]);
    const json = ['{"a":1}', '', '{"b":{"c":1,"c":2}}', '[9007199254740993]', '{"a"', 'null', '"end"\r', ''].join('\n');
    const [stopped, skipped] = await Promise.all([
      run('same', ['--input', file('bad.txt.gz', gzipSync(bytes))]),
      run('same', ['--format', 'ndjson', '--input', file('bad.ndjson', json), '--bad-lines', 'skip']),
    ]);
    expect(stopped).toMatchObject({
      code: 1,
      out: '"ok"\n',
      err: expect.stringMatching(
        /^ERR_SOURCE: line 2 of bad.txt.gz is not UTF-8 at byte offset 4;.*\nfailed: 1 values in/,
      ),
    });
    expect(skipped).toMatchObject({ code: 0, out: '{"a":1}\n"end"\n' });
    for (const said of [
      'line 3 of bad.ndjson has value.b.c twice',
      'line 4 of bad.ndjson has an integer at value[0] beyond 2^53',
      'line 5 of bad.ndjson is not JSON: ',
      'line 6 of bad.ndjson is null',
      '4 bad lines left out',
    ])
      expect(skipped.err).toContain(said);
  });

  test('a run that fails says the code and the message, after its results', async () => {
    const [step, value] = await Promise.all([run('failing', [], 'a\nx\nb\n'), run('maps', ['--quiet'], 'a\n')]);
    expect(step).toMatchObject({
      code: 1,
      out: '"a"\n',
      err: expect.stringMatching(
        /^ERR_OPERATOR: map in segment .*no x here\n {2}caused by TypeError: no x here\n[\s\S]*pipelines\.mjs/,
      ),
    });
    expect(value).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^ERR_VALUE: value\.at\[1] of a result is a Map, which JSON cannot carry/),
    });
  });

  test('bad usage is 2 and runs nothing', async () => {
    const cases: readonly (readonly [readonly string[], string])[] = [
      [['run', pipelines, '--export', 'same', '--input', 'none.txt', '--batch', '5'], 'there is no such file'],
      [['run', pipelines, '--export', 'same', '--batch', 'x:1'], '--batch names "x"'],
      [['run', pipelines, '--export', 'sorted', '--stream', 'shrt'], 'did you mean short?'],
      [['run', pipelines, '--export', 'numbers', '--input', '-'], 'is a source'],
    ];
    const results = await Promise.all(cases.map(([args]) => start(...args).result));
    for (const [i, [, message]] of cases.entries())
      expect(results[i]).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) });
  });

  test('the reader of stdout leaves: 141, quietly', async () => {
    const { child, result } = start('run', pipelines, '--export', 'numbers', '--args', '100000000');
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await result).toMatchObject({ code: 141, err: '' });
    const late = start('run', pipelines, '--export', 'same');
    late.child.stdout.destroy();
    late.child.stdin.end('only at the end');
    expect(await late.result).toMatchObject({ code: 141, err: '' });
  });

  test('one signal drains: the input ends, what is under way comes out', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const { child, result, saw } = start('run', pipelines, '--export', 'same');
      child.stdin.write('a\n');
      await saw('"a"');
      child.kill(signal);
      const { code, out, err } = await result;
      expect([code, out]).toEqual([0, '"a"\n']);
      expect(err).toMatch(/^stopping: .*\nstopped: 1 values in, 1 results/);
    }
  });

  test('a second signal stops at once', async () => {
    const { child, result, saw } = start('run', pipelines, '--export', 'endless');
    child.stdin.write('a\n');
    await saw('"a"');
    child.kill('SIGTERM');
    await saw('stopping');
    child.kill('SIGINT');
    expect(await result).toMatchObject({ code: 130, err: expect.not.stringContaining('stopped') });
  });

  test('a line of many megabytes arrives whole', async () => {
    const length = process.env['MILLRACE_LONG'] === '1' ? 100_000_000 : 5_000_000;
    const input = file('long.txt', `${'é'.repeat(length / 2)}\r\nshort`);
    expect(await run('lengths', ['--input', input])).toMatchObject({ code: 0, out: `${length / 2}\n5\n` });
    const { code, out } = await run('same', ['--input', input, '--quiet']);
    expect([code, out.length, out.startsWith('"éé'), out.endsWith('é"\n"short"\n')]).toEqual([
      0,
      length / 2 + 3 + 8,
      true,
      true,
    ]);
  });
});

describe.concurrent('millrace', { timeout: 120_000 }, () => {
  test('describe prints to stdout', async () => {
    const { code, out, err } = await start('describe', pipelines, '--export', 'words', '--format', 'json').result;
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject({
      version: 1,
      segments: [{ name: 'split', parallelism: 2 }, { name: 'count' }],
    });
  });

  test('help, version and a missing command', async () => {
    const [help, version, nothing] = await Promise.all([
      start('run', '--help').result,
      start('--version').result,
      start().result,
    ]);
    expect(help).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Examples:') });
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(version).toEqual({ code: 0, err: '', out: `${manifest.version}\n` });
    expect(nothing).toMatchObject({ code: 2, out: '', err: expect.stringContaining('a command is missing') });
  });
});
