/** millrace/testing as a user gets it: by import and by require, with fast-check, and without. */
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Installation, install, root } from '../package/installation.js';

let installation: Installation;

beforeAll(async () => {
  installation = await install(['rxjs', 'msgpackr', '@types']);
});

afterAll(() => installation.remove());

/** What a script prints, without a word on stderr. */
async function printed(file: string, ...lines: readonly string[]): Promise<unknown> {
  const { app, output } = installation;
  writeFileSync(join(app, file), lines.join('\n'));
  return JSON.parse(await output(app, process.execPath, file));
}

const names = ['arbitrary', 'captured', 'feeder', 'testClock'];
const module = ["import * as testing from 'millrace/testing';", "import * as rx from 'rxjs';"];
const commonJs = ["const testing = require('millrace/testing');", "const rx = require('rxjs');"];
const timed = [
  'const clock = testing.testClock();',
  'const seen = testing.captured(rx.of(1).pipe(rx.delay(1000), rx.observeOn(rx.asapScheduler)));',
  'clock.advance(1000);',
  'clock[Symbol.dispose]();',
  'console.log(JSON.stringify([Object.keys(testing).sort(), seen]));',
];

describe('installed', () => {
  test.each([
    ['a.mjs', module],
    ['a.cjs', commonJs],
  ])('law: without fast-check %s loads it, and RxJS obeys the clock', async (file, head) => {
    const [exported, seen] = (await printed(file, ...head, ...timed)) as [string[], unknown];
    expect(exported).toEqual(expect.arrayContaining(names));
    expect(seen).toEqual({ values: [1], end: 'complete' });
  });

  test('without fast-check each arbitrary says what to install', async () => {
    const said = await printed(
      'b.mjs',
      ...module,
      'const said = Object.keys(testing.arbitrary).map((name) => {',
      '  try { testing.arbitrary[name]([]); } catch ({ code, message }) { return [code, message]; }',
      '});',
      'console.log(JSON.stringify(said));',
    );
    const line = (name: string): string =>
      `ERR_OPTION: arbitrary.${name}() needs fast-check: npm install --save-dev fast-check`;
    expect(said).toEqual(['input', 'batch', 'faults', 'seed'].map((name) => ['ERR_OPTION', line(name)]));
  });

  const addFastCheck = (): void => {
    const place = join(installation.app, 'node_modules', 'fast-check');
    if (!existsSync(place)) symlinkSync(join(root, 'node_modules', 'fast-check'), place);
  };
  const checking = [
    'const { counterexample } = fc.check(fc.property(fc.tuple(testing.arbitrary.input(fc.nat()), testing.arbitrary.seed()), () => false));',
    'console.log(JSON.stringify([counterexample, testing.arbitrary.seed() instanceof fc.Arbitrary]));',
  ];

  test('by import fast-check is the one that the user imports', async () => {
    addFastCheck();
    expect(await printed('c.mjs', ...module, "import fc from 'fast-check';", ...checking)).toEqual([[[[], 0]], true]);
  });

  test('by require it works with the one that the user requires', async () => {
    addFastCheck();
    const [counterexample] = (await printed(
      'c.cjs',
      ...commonJs,
      "const fc = require('fast-check');",
      ...checking,
    )) as unknown[];
    expect(counterexample).toEqual([[[], 0]]);
  });

  test('where require() of ES modules is off, the one for require is taken', async () => {
    addFastCheck();
    writeFileSync(join(installation.app, 'd.mjs'), [...module, "import fc from 'fast-check';", ...checking].join('\n'));
    const said = await installation.output(
      installation.app,
      process.execPath,
      '--no-experimental-require-module',
      'd.mjs',
    );
    expect(JSON.parse(said)).toEqual([[[[], 0]], false]);
  });
});
