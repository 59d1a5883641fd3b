/**
 * The contract of Rx as laws that an operator can break: each runs it on one input and says what was wrong.
 * Owns the laws of a single operator, alone or beside the one it is like. Draws nothing and runs no topology.
 */

import { inspect, isDeepStrictEqual } from 'node:util';
import type { Schedule } from './input.js';
import { type Apply, type Manner, type Note, type Seen, trial, untimed } from './trial.js';

/** A law that was broken. */
export interface Breach {
  readonly law: string;
  /** A sentence that says how. */
  readonly how: string;
  readonly expected: string;
  readonly got: string;
  /** Seed of the simulated world. */
  readonly world?: number;
  /** To see it took real time. */
  readonly stalled?: boolean;
}

/** `like` is the reference, where there is one. */
export type Law = (apply: Apply, schedule: Schedule<unknown>, like: Apply | undefined) => Breach | undefined;

type OwnLaw = (apply: Apply, schedule: Schedule<unknown>) => Breach | undefined;

/** Deliveries of a run at which something is tried. */
const maxPlaces = 10;

const watched: readonly Manner[] = [
  { source: 'hot', seat: 'raw' },
  { source: 'cold', seat: 'raw' },
];

/** In the order in which they are checked: what makes others meaningless comes first. */
export const contract: readonly Law[] = [
  same,
  excused(channel),
  excused(subscriberThrows),
  excused(ending),
  excused(leaving),
  excused(handled),
  likeness,
  reentrance,
];

/** What the reference does as well is no breach. */
function excused(law: OwnLaw): Law {
  return (apply, schedule, like) => {
    const breach = law(apply, schedule);
    if (breach === undefined || like === undefined) return breach;
    return law(like, schedule)?.law === breach.law ? undefined : breach;
  };
}

/** Without this, none of the others could say who is to blame. */
function same(apply: Apply, schedule: Schedule<unknown>): Breach | undefined {
  const manner: Manner = { source: 'hot', seat: 'guarded', open: true };
  const [once, again] = [trial(apply, schedule, manner), trial(apply, schedule, manner)];
  if (equal(once.notes, again.notes)) return undefined;
  return {
    law: 'a fresh instance does the same again',
    how: 'the second run of the same input was another one; state at module level, or outside of the function that makes the operator, outlives a run, or values of the input are changed',
    expected: linesOf(once.notes),
    got: linesOf(again.notes),
  };
}

const errorLaw = 'errors take the error channel';

function channel(apply: Apply, schedule: Schedule<unknown>): Breach | undefined {
  for (const manner of watched) {
    const seen = trial(apply, schedule, manner);
    const [thrown] = seen.thrown;
    if (thrown !== undefined) return outside(`an error came out of ${thrown.where}`, thrown.reason);
    if (seen.unheard.length > 0) return outside('an error met no handler, and RxJS throws it later', seen.unheard[0]);
  }
  return undefined;
}

function outside(how: string, reason: unknown): Breach {
  return { law: errorLaw, how, expected: 'no error, or an error notification', got: textOf(reason) };
}

function handled(apply: Apply, schedule: Schedule<unknown>): Breach | undefined {
  const { failure } = schedule;
  if (failure === undefined) return undefined;
  for (const manner of watched) {
    const { failed, notes, cut } = trial(apply, schedule, manner);
    if (!failed || cut || notes.some(({ kind }) => kind === 'error')) continue;
    return {
      law: errorLaw,
      how: `the error of the ${manner.source} source did not reach the output; an operator that handles errors is compared with \`like\``,
      expected: `error ${textOf(failure.error)}`,
      got: linesOf(notes),
    };
  }
  return undefined;
}

function subscriberThrows(apply: Apply, schedule: Schedule<unknown>): Breach | undefined {
  for (const source of ['hot', 'cold'] as const) {
    const throws = new Error('the subscriber throws');
    const calm = trial(apply, schedule, { source, seat: 'observer' });
    const seen = trial(apply, schedule, { source, seat: 'observer', throws });
    const thrown = seen.thrown.find(({ reason }) => reason === throws);
    if (thrown !== undefined) return outside(`what the subscriber's next threw came out of ${thrown.where}`, throws);
    if (equal(shape(seen), shape(calm))) continue;
    return {
      law: errorLaw,
      how: "the subscriber's next threw, which changed what it got",
      expected: linesOf(calm.notes),
      got: linesOf(seen.notes),
    };
  }
  return undefined;
}

/** Without the values, which may be streams. */
function shape({ notes }: Seen): unknown {
  return notes.map(({ output, atMs, kind }) => [output, atMs, kind]);
}

function ending(apply: Apply, schedule: Schedule<unknown>): Breach | undefined {
  for (const manner of watched) {
    const { notes, open, cut } = trial(apply, schedule, manner);
    if (cut) continue;
    const outputs = [...new Set(notes.map(({ output }) => output))];
    let ended = outputs.length > 0;
    for (const name of outputs) {
      const own = notes.filter(({ output }) => output === name);
      const end = own.findIndex(({ kind }) => kind !== 'next');
      ended &&= end !== -1;
      const after = end === -1 ? undefined : own[end + 1];
      if (after === undefined) continue;
      const twice = after.kind !== 'next';
      return {
        law: twice ? 'one end' : 'nothing after the end',
        how: twice ? `${name} ended twice` : `${name} gave a value after its end`,
        expected: linesOf(own.slice(0, end + 1)),
        got: linesOf(own),
      };
    }
    if (ended && open > 0) return leak('the output had ended', open);
  }
  return undefined;
}

function leak(when: string, open: number): Breach {
  return {
    law: 'the source is let go of',
    how: `${when}, and the source was still subscribed`,
    expected: 'no subscription of the source',
    got: `${open} of them`,
  };
}

function leaving(apply: Apply, schedule: Schedule<unknown>): Breach | undefined {
  for (const manner of [{ source: 'hot', seat: 'observer' } as const, { source: 'cold', seat: 'guarded' } as const]) {
    const all = trial(apply, schedule, manner);
    if (all.cut) continue;
    for (let leaveAfter = 0; leaveAfter <= places(all); leaveAfter++) {
      const { notes, open, left, thrown } = trial(apply, schedule, { ...manner, leaveAfter });
      const when = leaveAfter === 0 ? 'after subscribe()' : `inside value number ${leaveAfter}`;
      const [first] = thrown;
      if (first !== undefined)
        return outside(`unsubscribed ${when}, an error came out of ${first.where}`, first.reason);
      if (left === undefined) continue;
      if (notes.length > left.notes) {
        return {
          law: 'nothing after unsubscribe',
          how: `the subscriber left ${when} and got more`,
          expected: linesOf(notes.slice(0, left.notes)),
          got: linesOf(notes),
        };
      }
      const kept = Math.max(left.open, open);
      if (kept > 0) return leak(`the subscriber had left ${when}`, kept);
    }
  }
  return undefined;
}

function places({ notes }: Seen): number {
  return Math.min(maxPlaces, notes.filter(({ kind }) => kind === 'next').length);
}

function reentrance(apply: Apply, timed: Schedule<unknown>, like: Apply | undefined): Breach | undefined {
  const law = 'a value fed from inside next is as any other';
  const schedule = untimed(timed);
  const manner: Manner = { source: 'hot', seat: 'guarded', open: true };
  const plain = trial(apply, schedule, manner);
  if (plain.cut || plain.thrown.length > 0) return undefined;
  const inside: (number | 'all')[] = Array.from({ length: places(plain) }, (_, index) => index + 1);
  for (const feedInside of [...inside, 'all'] as const) {
    const where = feedInside === 'all' ? 'inside each delivery' : `inside value number ${feedInside}`;
    const seen = trial(apply, schedule, { ...manner, feedInside });
    const model = like === undefined ? undefined : trial(like, schedule, { ...manner, feedInside });
    const [thrown] = seen.thrown;
    if (thrown !== undefined && model?.thrown.length !== seen.thrown.length) {
      return {
        law,
        how: `fed ${where}, an error came out of ${thrown.where}`,
        expected: 'no error',
        got: textOf(thrown.reason),
      };
    }
    const expected = model ?? plain;
    const kept = model === undefined ? holds(seen.notes, plain.notes) : equal(seen.notes, model.notes);
    if (kept) continue;
    const than =
      model === undefined
        ? 'something was lost that comes if it is fed when next has returned; an operator that drops what comes while it is busy is compared with `like`'
        : 'others came than of `like`';
    return { law, how: `fed ${where}, ${than}`, expected: linesOf(expected.notes), got: linesOf(seen.notes) };
  }
  return undefined;
}

/** Whether all that was expected came, in whatever order, for that of deliveries differs, and at any time. */
function holds(got: readonly Note[], expected: readonly Note[]): boolean {
  const left = got.map(keyOf);
  return expected.map(keyOf).every((key) => {
    const at = left.indexOf(key);
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  });
}

function keyOf({ output, kind, value }: Note): string {
  return `${output} ${kind} ${textOf(value)}`;
}

function likeness(apply: Apply, schedule: Schedule<unknown>, like: Apply | undefined): Breach | undefined {
  if (like === undefined) return undefined;
  for (const source of ['hot', 'cold'] as const) {
    const manner: Manner = { source, seat: 'guarded', open: true };
    const got = trial(apply, schedule, manner).notes;
    const expected = trial(like, schedule, manner).notes;
    if (equal(got, expected)) continue;
    const [law, how] = difference(got, expected);
    return { law, how: `${how} (${source} source)`, expected: linesOf(expected), got: linesOf(got) };
  }
  return undefined;
}

function difference(got: readonly Note[], expected: readonly Note[]): readonly [law: string, how: string] {
  const [some, others] = [partsOf(got), partsOf(expected)];
  if (!equal(some.nexts, others.nexts)) {
    const reordered = sorted(some.nexts) === sorted(others.nexts);
    return ['the same values as like', reordered ? 'the same values in another order' : 'other values came'];
  }
  if (!equal(some.ends, others.ends)) return ['the same end as like', 'it ended in another way'];
  return ['the same times as like', 'the same came at other times'];
}

function partsOf(notes: readonly Note[]): { readonly nexts: readonly unknown[]; readonly ends: readonly unknown[] } {
  const nexts = notes.filter(({ kind }) => kind === 'next').map(({ value }) => value);
  const ends = notes.filter(({ kind }) => kind !== 'next').map(({ kind, value }) => [kind, value]);
  return { nexts, ends };
}

function sorted(values: readonly unknown[]): string {
  return values.map(textOf).sort().join('\n');
}

/** Functions are equal if their texts are, for no two of them are the same. */
export function equal(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b) || textOf(a) === textOf(b);
}

/** A line for each note. */
export function linesOf(notes: readonly Note[]): string {
  if (notes.length === 0) return 'nothing';
  const several = notes.some(({ output }) => output !== 'output');
  return notes
    .map(({ output, atMs, kind, value }) => {
      const said = kind === 'complete' ? kind : kind === 'next' ? textOf(value) : `error ${textOf(value)}`;
      return `${atMs} ms  ${several ? `${output} ` : ''}${said}`;
    })
    .join('\n');
}

/** A value in full, equal for equal ones. */
export function textOf(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text = inspect(value, {
    depth: null,
    sorted: true,
    customInspect: false,
    maxArrayLength: null,
    maxStringLength: null,
    breakLength: Number.POSITIVE_INFINITY,
  });
  // Stacks of errors; within texts a line break is written otherwise.
  return text.replace(/\n +at [^\n]*/g, '');
}
