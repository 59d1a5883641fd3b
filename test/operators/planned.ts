/**
 * Topologies of tests: made, refused and run on this thread beside their plain RxJS form.
 * Owns how a result is written down; `harness.ts` drives single executors.
 */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { from, type Observable, ReplaySubject } from 'rxjs';
import { isMillraceError, type MillraceError } from '../../runtime/errors.js';
import { type RunOptions, type Topology, topology } from '../../src/index.js';
import { refusal } from './harness.js';

export type Streams = Observable<unknown> | Readonly<Record<string, Observable<unknown>>>;
type Numbers = Observable<number>;

/** A topology of numbers; what is wrong with the result of `build` is for the plan to say. */
export function made(build: (input: Numbers) => unknown): Topology<number, Streams> {
  return topology(import.meta.url, build as (input: Numbers) => Streams);
}

/** The error with which the plan of `build` is refused. */
export function refused(build: (input: Numbers) => unknown, options: RunOptions = {}): MillraceError {
  const t = made(build);
  return refusal(() => t(options as RunOptions<Streams>));
}

/** The source line an error names. */
export function lineOf({ at = '' }: MillraceError): string {
  const [, file, line] = /^(.*):(\d+):\d+$/.exec(at) ?? [];
  if (file === undefined) return `no line: ${at}`;
  const path = file.startsWith('file:') ? fileURLToPath(file) : file;
  return readFileSync(path, 'utf8').split('\n')[Number(line) - 1] ?? '';
}

/** What the outputs of a run gave, by name: their values and their end. */
export interface Outcome {
  readonly values: unknown[];
  end: unknown;
}
export type Outcomes = Readonly<Record<string, Outcome>>;

/** Subscribes all outputs; resolves when all have ended. Errors of millrace are written as their code. */
export function outcomes(streams: Streams): Promise<Outcomes> {
  const named = 'subscribe' in streams ? { output: streams as Observable<unknown> } : streams;
  const ends = Object.entries(named).map(([name, stream]) => {
    const outcome: Outcome = { values: [], end: undefined };
    return new Promise<readonly [string, Outcome]>((resolve) => {
      const ended = (end: unknown): void => {
        outcome.end = end;
        resolve([name, outcome]);
      };
      stream.subscribe({
        next: (value) => outcome.values.push(value),
        error: (reason: unknown) => ended(isMillraceError(reason) ? reason.code : reason),
        complete: () => ended('complete'),
      });
    });
  });
  return Promise.all(ends).then((entries) => Object.fromEntries(entries));
}

/** A run of `t` on this thread. */
export function run(
  t: Topology<number, Streams>,
  values: readonly number[],
  options: RunOptions = {},
): Promise<Outcomes> {
  const applied = t({ threads: 0, ...options } as RunOptions<Streams>);
  return outcomes(applied(from(values)) as Streams);
}

/** The same without executors. Every branch sees all values, as an input that is shared and cold gives them. */
export function inline(t: Topology<number, Streams>, values: readonly number[]): Promise<Outcomes> {
  const input = new ReplaySubject<number>();
  for (const value of values) input.next(value);
  input.complete();
  return outcomes(t.inline(input));
}

/** Outcomes whose order does not matter. */
export function sorted(outcomes: Outcomes): unknown {
  return Object.entries(outcomes)
    .map(([name, { values, end }]) => [name, values.map((value) => JSON.stringify(value)).sort(), end])
    .sort();
}
