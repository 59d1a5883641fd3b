/**
 * The same topology on several hosts: inline, simulated and on threads.
 * Owns the runs and which differences count. Compares no times: each host has its own.
 */

import { isObservable, NEVER, Observable, Subject, type Subscription } from 'rxjs';
import { clock } from '../../runtime/clock.js';
import { isMillraceError, type MillraceError } from '../../runtime/errors.js';
import type { PlanDescription } from '../describe.js';
import { type Breach, equal, textOf } from './contract.js';
import type { Input, Schedule } from './input.js';
import { simulate } from './simulate.js';
import { type Apply, horizonMs, type Note, type Outputs, trial, untimed } from './trial.js';

/** What topology() returns, whatever it takes and gives. */
export interface TopologyLike {
  (...options: never[]): unknown;
  readonly name: string;
  inline(input: Observable<never>, ...args: never[]): unknown;
  describe(...options: never[]): PlanDescription;
}

interface Outcome {
  readonly host: string;
  readonly values: Readonly<Record<string, readonly unknown[]>>;
  readonly end: 'complete' | 'open' | Failed;
}
interface Failed {
  readonly error: unknown;
}

/** A run on threads, or inline in real time, ends within that time or is taken to have stalled. */
const realMs = 10_000;

const law = 'the same on every host';

export function outputsOf(built: unknown): Outputs {
  return isObservable(built) ? { output: built } : (built as Outputs);
}

export function inlineOf(target: TopologyLike): Apply {
  return (source) => outputsOf(target.inline(source as Observable<never>));
}

/** An output as results name it: a single one is 'output', whatever the plan calls it. */
export interface Output {
  readonly name: string;
  readonly order: PlanDescription['exchanges'][number]['order'];
}
/** A topology, and its outputs, which are the same in every run. */
export interface Hosted {
  readonly target: TopologyLike;
  readonly outputs: readonly Output[];
}

/** Throws what is wrong with the plan; none for a source, which takes no input. */
export function outputsIn(target: TopologyLike): readonly Output[] | undefined {
  const { exchanges, outputs } = target.describe();
  const apply = target();
  if (typeof apply !== 'function') return undefined;
  const single = isObservable(apply(NEVER));
  return outputs.map((name) => {
    const order = exchanges.find((exchange) => exchange.name === name && exchange.to === 'caller')?.order ?? 'none';
    return { name: single ? 'output' : name, order };
  });
}

/** In the calm world first, and in that of `seed`. */
export function simulatedAsInline(
  { target, outputs }: Hosted,
  input: Input<unknown>,
  schedule: Schedule<unknown>,
  seed: number,
): Breach | undefined {
  const { notes } = trial(inlineOf(target), schedule, { source: 'hot', seat: 'raw' });
  const inline = inlineOutcome(outputs, notes);
  for (const world of seed === 0 ? [0] : [0, seed]) {
    const untilMs = horizonMs(schedule);
    const { outputs: delivered, end } = simulate(target as never, { input, seed: world, untilMs });
    const values = Object.fromEntries(
      Object.entries(delivered).map(([name, timed]) => [name, timed.map(([, value]) => value)]),
    );
    const simulated: Outcome = {
      host: 'simulated',
      values,
      end: end === 'complete' ? end : end === 'unsubscribed' ? 'open' : { error: end },
    };
    const breach = compare(outputs, inline, simulated, schedule);
    if (breach !== undefined) return { ...breach, world };
  }
  return undefined;
}

function inlineOutcome(outputs: readonly Output[], notes: readonly Note[]): Outcome {
  const of = (output: string, kind: Note['kind']): Note[] =>
    notes.filter((note) => note.output === output && note.kind === kind);
  const failed = notes.find(({ kind }) => kind === 'error');
  const completed = outputs.every(({ name }) => of(name, 'complete').length > 0);
  return {
    host: 'inline',
    values: Object.fromEntries(outputs.map(({ name }) => [name, of(name, 'next').map(({ value }) => value)])),
    end: failed !== undefined ? { error: failed.value } : completed ? 'complete' : 'open',
  };
}

/** In real time and without the times of the input. `boundMs`: a test of it need not wait so long. */
export async function threadsAsInline(
  { target, outputs }: Hosted,
  timed: Schedule<unknown>,
  boundMs: number = realMs,
): Promise<Breach | undefined> {
  const schedule = untimed(timed);
  const hot = new Subject<unknown>();
  const inline = await lived('inline', inlineOf(target)(hot), () => emit(schedule, hot), boundMs);
  if (inline.end === 'open') {
    const how = `inline it did not end within ${boundMs / 1_000} s of real time; without an end there is nothing to compare with, so leave 'threads' out of \`hosts\``;
    return { law, how, expected: 'an end', got: told(inline), stalled: true };
  }
  const cold = new Observable<unknown>((subscriber) => emit(schedule, subscriber));
  const apply = target() as (source: Observable<unknown>) => unknown;
  const threads = await lived('threads', outputsOf(apply(cold)), () => {}, boundMs);
  const breach = compare(outputs, inline, threads, schedule, boundMs);
  return breach === undefined ? undefined : { ...breach, stalled: threads.end === 'open' };
}

function emit(
  { values, failure }: Schedule<unknown>,
  into: { next(value: unknown): void; error(reason: unknown): void; complete(): void },
): void {
  for (const [, value] of values) into.next(value);
  if (failure === undefined) into.complete();
  else into.error(failure.error);
}

/** A run in real time, to its end. */
function lived(host: string, outputs: Outputs, start: () => void, boundMs: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const values: Record<string, unknown[]> = {};
    const subscriptions: Subscription[] = [];
    let open = Object.keys(outputs).length;
    const ended = (end: Outcome['end']): void => {
      cancel();
      for (const subscription of subscriptions) subscription.unsubscribe();
      resolve({ host, values, end });
    };
    const cancel = clock.later(boundMs, () => ended('open'));
    for (const [name, output] of Object.entries(outputs)) {
      const own: unknown[] = [];
      values[name] = own;
      subscriptions.push(
        output.subscribe({
          next: (value) => {
            own.push(value);
          },
          error: (error: unknown) => ended({ error }),
          complete: () => {
            if (--open === 0) ended('complete');
          },
        }),
      );
    }
    start();
  });
}

/** How far an end on a host is the inline one. */
function sameEnd(inline: Outcome['end'], other: Outcome['end'], schedule: Schedule<unknown>): boolean {
  if (typeof other === 'string') return inline === other;
  // An error of the input may overtake the end of a pipeline that had enough before.
  if (inline === 'complete') return schedule.failure !== undefined && codeOf(other.error) === 'ERR_SOURCE';
  if (inline === 'open') return false;
  const code = codeOf(other.error);
  // Which of several errors is the first is a matter of the host.
  return code === 'ERR_OPERATOR' || code === 'ERR_SOURCE' || code === codeOf(inline.error);
}

function codeOf(error: unknown): MillraceError['code'] | undefined {
  return isMillraceError(error) ? error.code : undefined;
}

function compare(
  outputs: readonly Output[],
  inline: Outcome,
  other: Outcome,
  schedule: Schedule<unknown>,
  boundMs: number = realMs,
): Breach | undefined {
  const breach = (how: string): Breach => ({
    law,
    how: `${other.host}, ${how}`,
    expected: told(inline),
    got: told(other),
  });
  if (!sameEnd(inline.end, other.end, schedule)) {
    const refused = typeof other.end === 'string' ? undefined : codeOf(other.end.error);
    const late = other.host === 'threads' && other.end === 'open' ? ` within ${boundMs / 1_000} s of real time` : '';
    return breach(`it did not end as inline${late}${refused === undefined ? '' : ` but with ${refused}`}`);
  }
  for (const { name, order } of outputs) {
    const [expected, got] = [inline.values[name] ?? [], other.values[name] ?? []];
    const how =
      typeof other.end === 'string' ? difference(expected, got, order) : overrun(expected, got, order, outputs.length);
    if (how !== undefined)
      return breach(
        `${how} from ${name}, whose order is ${order}; what depends on when values come is of each host's own`,
      );
  }
  return undefined;
}

function difference(expected: readonly unknown[], got: readonly unknown[], order: Output['order']): string | undefined {
  if (equal(expected, got)) return undefined;
  if (multiset(expected) !== multiset(got)) return 'other values came';
  return order === 'total' ? 'the values came in another order' : undefined;
}

/** What an error leaves of the values is a matter of the host; on one path it is how many. */
function overrun(
  expected: readonly unknown[],
  got: readonly unknown[],
  order: Output['order'],
  outputs: number,
): string | undefined {
  if (order !== 'total' || outputs > 1) return undefined;
  const both = Math.min(expected.length, got.length);
  const agree = equal(expected.slice(0, both), got.slice(0, both));
  return agree ? undefined : 'other values came before the error';
}

function multiset(values: readonly unknown[]): string {
  return values.map(textOf).sort().join('\n');
}

function told({ values, end }: Outcome): string {
  const named = Object.entries(values).map(
    ([name, own]) => `${name}: ${own.length === 0 ? 'nothing' : own.map(textOf).join(', ')}`,
  );
  return [...named, `end: ${typeof end === 'string' ? end : textOf(end.error)}`].join('\n');
}
