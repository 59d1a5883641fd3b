/** assertLaws on hosts: topologies inline, simulated and on threads, and operators in an executor. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { gather, shuffle } from 'millrace';
import { map, pipe, take } from 'millrace/operators';
import { arbitrary, assertLaws, type Laws } from 'millrace/testing';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { threadsAsInline } from '../../dist/src/testing/comparison.js';
import {
  endless,
  inOrder,
  numbered,
  ofFunctions,
  ordered,
  placed,
  promised,
  pulled,
  twoOutputs,
  wordCount,
} from './fixtures/lawful.js';

const input = arbitrary.input(fc.integer({ min: 1, max: 4 }));
const seed = 5;
const long = process.env['MILLRACE_LONG'] === '1';
const hostLaw = 'law: the same on every host';

type Target = Parameters<typeof assertLaws>[0];

async function broken(target: Target, laws: Partial<Laws> = {}): Promise<string> {
  const reason = await assertLaws(target, { input, seed, runs: 12, ...laws }).catch((reason: unknown) => reason);
  expect(reason).toMatchObject({ name: 'AssertionError', code: 'ERR_ASSERTION' });
  return (reason as Error).message;
}

describe('law: inline, simulated and on threads the same comes out', () => {
  test('words', () => assertLaws(wordCount, { input: arbitrary.input(fc.lorem({ maxCount: 5 })), runs: 8 }));
  test('in order, and where a step throws', () => assertLaws(inOrder, { input, runs: 12 }));
  test('two outputs', () => assertLaws(twoOutputs, { input, runs: 12 }));
  test('a topology is like an operator of RxJS', () =>
    assertLaws(inOrder, {
      input,
      runs: 12,
      hosts: ['inline', 'simulated'],
      like: () => (ns: rx.Observable<number>) =>
        ns.pipe(
          rx.map((n) => {
            if (n === 4) throw new Error('four');
            return 10 / n;
          }),
          rx.scan((sum, n) => sum + n, 0),
        ),
    }));
  test('promises, in real time', () =>
    assertLaws(promised, {
      input,
      runs: 12,
      hosts: ['inline', 'threads'],
      like: () => rx.concatMap(async (n: number) => n + 1),
    }));
});

describe('law: what differs between hosts is named', () => {
  test('by the thread', async () => {
    const message = await broken(placed);
    expect(message).toContain(
      `${hostLaw}\ntopology "lawful#5": threads, other values came from output, whose order is total`,
    );
    expect(message).toContain(
      '\nexpected:\n  output: 1\n  end: complete\ngot:\n  output: -1\n  end: complete\nagain: assertLaws(',
    );
  });

  test('by the order, in a world that can be seen again', async () => {
    const message = await broken(ordered, { hosts: ['simulated'] });
    expect(message.split('\n')[0]).toBe(hostLaw);
    expect(message).toMatch(
      /\nsimulate\(target, \{ input, seed: \d+ \}\)\.trace says what happened in that world\nagain: /,
    );
  });

  test('by what a module keeps', async () => {
    expect(await broken(numbered)).toContain('law: a fresh instance does the same again\n');
  });

  test('by a stall, and for what it waits', async () => {
    const message = await broken(promised);
    expect(message).toContain(`${hostLaw}\ntopology "lawful#7": simulated, it did not end as inline`);
    expect(message).toMatch(/but with ERR_STALLED[\s\S]*a promise at .*lawsHosts\.test\.ts:\d+/);
  });

  test('by what cannot travel', async () => {
    expect(await broken(ofFunctions)).toContain('simulated, it did not end as inline but with ERR_VALUE');
  });

  test('by a run on threads that does not end', async () => {
    const outputs = [{ name: 'output', order: 'total' }] as const;
    const schedule = { values: [[0, 3]], endMs: 0, failure: undefined } as const;
    const breach = await threadsAsInline({ target: endless, outputs }, schedule, 100);
    expect(breach).toMatchObject({
      law: 'the same on every host',
      how: 'threads, it did not end as inline within 0.1 s of real time',
      stalled: true,
    });
  });

  if (long)
    test('by the first run on threads that does not end in 10 s, which is not made smaller', async () => {
      const message = await broken(endless, { input: fc.constant([3]), hosts: ['threads'] });
      expect(message).toContain('threads, it did not end as inline within 10 s of real time');
      expect(message).toContain('got:\n  output: 3\n  end: open\n');
    });
});

describe('operators in an executor', () => {
  test('are simulated, whatever the output is called', async () => {
    await assertLaws(() => rx.map((n: number) => n + 1), { input, runs: 12 });
    await assertLaws(
      () =>
        pipe(
          map((n: number) => n + 1),
          gather({ name: 'last' }),
        ),
      { input, runs: 12 },
    );
  });

  test('and told to be refused at the plan', async () => {
    const message = await broken(() => pipe(shuffle<number>({ parallelism: 2 }), take(1)));
    expect(message).toContain("the operator: executors do not take the operator; `hosts: ['inline']` leaves them out");
    expect(message).toContain('got:\n  ERR_SCOPE: take(1)');
  });

  test('and told to be refused in the run', async () => {
    const message = await broken(() => rx.repeat<number>(2), { like: () => rx.repeat<number>(2) });
    expect(message).toContain('the operator: simulated, it did not end as inline but with ERR_NOT_REPEATABLE');
    expect(message).toContain('simulate(a topology of it, { input, seed: 0 })');
  });
});

test('a record of outputs is like no operator', async () => {
  const like = () => map((n: number) => n);
  const reason = await assertLaws(twoOutputs, { input, like }).catch((reason: unknown) => reason);
  expect(reason).toMatchObject({
    code: 'ERR_OPTION',
    message: expect.stringContaining('has a record of outputs: leave it out'),
  });
});

test('a source has no input to draw', async () => {
  const reason = await assertLaws(pulled as never, { input }).catch((reason: unknown) => reason);
  expect(reason).toMatchObject({ code: 'ERR_OPTION', message: expect.stringContaining('simulate() runs it') });
});

test('under node:test', async () => {
  const file = fileURLToPath(new URL('./fixtures/lawsOfNode.mjs', import.meta.url));
  const env = { PATH: process.env['PATH'], NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file], { env });
  expect(stdout).toMatch(/^ok 1 - lawful$/m);
  expect(stdout).toMatch(/^ok 2 - unlawful$/m);
  expect(stdout).toMatch(/^# pass 2$/m);
});
