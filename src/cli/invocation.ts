/**
 * What the user asks for: a command, its module and its options.
 * Owns the known options and the refusal of all others, with the nearest known name. Never touches a file.
 */

import { parseArgs } from 'node:util';
import type { Batch } from '../../runtime/batch.js';
import { batchesOf } from './batches.js';
import { JsonRefusal, parseExactly } from './json.js';
import type { Format } from './row.js';
import { hintFor, UsageError } from './usage.js';

export type Invocation = HelpCall | VersionCall | RunCall | DescribeCall;

export interface HelpCall {
  readonly command: 'help';
  readonly topic: 'run' | 'describe' | undefined;
}

export interface VersionCall {
  readonly command: 'version';
}

interface ModuleCall {
  readonly module: string;
  readonly exported: string | undefined;
  /** Options of the topology: args, and what else was given. */
  readonly options: { readonly args?: unknown };
}

export interface RunCall extends ModuleCall {
  readonly command: 'run';
  readonly input: string | undefined;
  readonly format: 'lines' | 'ndjson';
  readonly badLines: 'stop' | 'skip';
  readonly output: Format;
  readonly stream: string | undefined;
  readonly threads: number | undefined;
  readonly batches: Readonly<Record<string, Batch>> | undefined;
  readonly quiet: boolean;
}

export interface DescribeCall extends ModuleCall {
  readonly command: 'describe';
  readonly format: 'text' | 'json' | 'mermaid';
}

const commands = ['run', 'describe'] as const;
type Command = (typeof commands)[number];

type Kind = 'string' | 'list' | 'boolean';

const everywhere: Readonly<Record<string, Kind>> = { help: 'boolean', version: 'boolean' };
const known: Readonly<Record<Command, Readonly<Record<string, Kind>>>> = {
  run: {
    export: 'string',
    input: 'string',
    format: 'string',
    'bad-lines': 'string',
    output: 'string',
    stream: 'string',
    threads: 'string',
    args: 'string',
    batch: 'list',
    quiet: 'boolean',
    ...everywhere,
  },
  describe: { export: 'string', args: 'string', format: 'string', ...everywhere },
};

/** `given` is the command line behind the program's name. */
export function invocationOf(given: readonly string[]): Invocation {
  const [command, ...rest] = given;
  if (command === '--help' || command === '-h' || command === 'help') return { command: 'help', topic: undefined };
  if (command === '--version') return { command: 'version' };
  if (command === undefined) throw new UsageError('a command is missing: run or describe');
  if (!isCommand(command)) {
    throw new UsageError(`there is no command ${JSON.stringify(command)}: ${hintFor(command, commands)}`);
  }
  const { modules, values } = read(command, rest);
  if (values.has('help')) return { command: 'help', topic: command };
  if (values.has('version')) return { command: 'version' };
  const [module, surplus] = modules;
  if (module === undefined) throw new UsageError(`the module is missing: millrace ${command} <module>`);
  if (surplus !== undefined)
    throw new UsageError(
      `one module is enough, ${JSON.stringify(surplus)} is one too many; a file of input is given by --input`,
    );
  const args = argsOf(values.get('args')?.[0]);
  const of = { module, exported: values.get('export')?.[0], options: args === undefined ? {} : { args } };
  const choice = <T extends string>(name: string, choices: readonly [T, ...T[]]): T =>
    choiceOf(name, values.get(name)?.[0], choices);
  if (command === 'describe') return { command, ...of, format: choice('format', ['text', 'json', 'mermaid']) };
  return {
    command,
    ...of,
    input: values.get('input')?.[0],
    format: choice('format', ['lines', 'ndjson']),
    badLines: choice('bad-lines', ['stop', 'skip']),
    output: choice('output', ['ndjson', 'tsv']),
    stream: values.get('stream')?.[0],
    threads: threadsOf(values.get('threads')?.[0]),
    batches: batchesOf(values.get('batch')),
    quiet: values.has('quiet'),
  };
}

function isCommand(text: string): text is Command {
  return (commands as readonly string[]).includes(text);
}

interface Read {
  readonly modules: readonly string[];
  readonly values: ReadonlyMap<string, readonly string[]>;
}

function read(command: Command, given: readonly string[]): Read {
  const kinds = known[command];
  const options = Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [
      name,
      {
        type: kind === 'boolean' ? ('boolean' as const) : ('string' as const),
        ...(name === 'help' ? { short: 'h' } : {}),
      },
    ]),
  );
  // Not strict: its refusals know no nearest name.
  const { tokens } = parseArgs({ args: [...given], options, allowPositionals: true, strict: false, tokens: true });
  const modules: string[] = [];
  const values = new Map<string, readonly string[]>();
  for (const token of tokens) {
    if (token.kind === 'positional') modules.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) throw unknown(command, rawName, name);
    if (kind === 'boolean' && value !== undefined) throw new UsageError(`--${name} takes no value`);
    const option = kind !== 'boolean' && inlineValue !== true && value !== undefined && /^-./.test(value);
    if (kind !== 'boolean' && (value === undefined || option)) {
      throw new UsageError(
        `--${name} needs a value${option ? `; one that begins with - is given by --${name}=${value}` : ''}`,
      );
    }
    const before = values.get(name);
    if (before !== undefined && kind === 'string') throw new UsageError(`--${name} is given twice`);
    values.set(name, [...(before ?? []), value ?? '']);
  }
  return { modules, values };
}

function unknown(command: Command, rawName: string, name: string): UsageError {
  const names = Object.keys(known[command]).map((other) => `--${other}`);
  return new UsageError(`${command} has no option ${rawName}: ${hintFor(`--${name}`, names)}`);
}

function choiceOf<T extends string>(name: string, given: string | undefined, choices: readonly [T, ...T[]]): T {
  if (given === undefined) return choices[0];
  const found = choices.find((choice) => choice === given);
  if (found !== undefined) return found;
  throw new UsageError(`--${name} must be ${choices.join(' or ')}, got ${JSON.stringify(given)}`);
}

function argsOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return parseExactly(text);
  } catch (error) {
    if (error instanceof JsonRefusal) throw new UsageError(`--args ${error.message}`);
    throw error;
  }
}

function threadsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,4}$/.test(text) && Number(text) <= 1024) return Number(text);
  throw new UsageError(`--threads must be a whole number from 0 to 1024, got ${JSON.stringify(text)}`);
}
