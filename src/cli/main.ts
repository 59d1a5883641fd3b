#!/usr/bin/env node
/**
 * The program `millrace`: from its arguments to its exit code.
 * Owns signals and the end of the process. What the commands do is in their own files.
 */

import { readFileSync } from 'node:fs';
import { describe } from './describe.js';
import { type Exit, failureText } from './exit.js';
import { helpFor } from './help.js';
import { type Invocation, invocationOf } from './invocation.js';
import { Printer } from './printer.js';
import { RunCommand } from './run.js';
import { UsageError } from './usage.js';

// Whoever closed stderr does not want to hear; a write to it must not end the run.
process.stderr.on('error', () => {});

async function execute(invocation: Invocation): Promise<Exit> {
  if (invocation.command === 'run') {
    const command = new RunCommand(invocation);
    onSignals(() => command.stop());
    return command.execute();
  }
  if (invocation.command === 'describe') return print(await describe(invocation));
  return print(invocation.command === 'help' ? helpFor(invocation.topic) : version());
}

async function print(text: string): Promise<Exit> {
  let exit: Exit = { code: 0 };
  const printer = new Printer(process.stdout, (reason) => {
    exit =
      reason.code === 'EPIPE' ? { code: 141 } : { code: 1, failure: `stdout cannot be written: ${reason.message}` };
  });
  printer.print(text);
  await printer.end();
  return exit;
}

/** The first one stops, the second one stops at once. */
function onSignals(stop: () => void): void {
  let heard = 0;
  const hear = (): void => {
    if (++heard === 1) stop();
    else process.exit(130);
  };
  process.on('SIGINT', hear).on('SIGTERM', hear);
}

function version(): string {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

async function main(): Promise<Exit> {
  try {
    return await execute(invocationOf(process.argv.slice(2)));
  } catch (reason) {
    if (!(reason instanceof UsageError)) return { code: 1, failure: failureText(reason) };
    return { code: 2, failure: `millrace: ${reason.message}\nmillrace --help tells more` };
  }
}

const exit = await main();
// Not by the end of the event loop: what a module of the user's left open shall not keep the program.
process.stderr.write(exit.failure === undefined ? '' : `${exit.failure}\n`, () => process.exit(exit.code));
