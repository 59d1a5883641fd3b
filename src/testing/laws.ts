/**
 * assertLaws: an operator or a topology is held to the contract of Rx, to a reference, and to be the same on every host.
 * Owns the options, the drawing of inputs and the message. The laws themselves are in contract.ts and comparison.ts.
 */

import { AssertionError } from 'node:assert';
import type { Arbitrary } from 'fast-check';
import { isObservable, type Observable, type OperatorFunction } from 'rxjs';
import { gather } from '../../operators/gather.js';
import { isMillraceError, MillraceError } from '../../runtime/errors.js';
import { checkKeys, isOptions, nearest, show } from '../../runtime/option.js';
import { topology } from '../topology.js';
import {
  inlineOf,
  type Output,
  outputsIn,
  simulatedAsInline,
  type TopologyLike,
  threadsAsInline,
} from './comparison.js';
import { type Breach, contract, textOf } from './contract.js';
import { fastCheck } from './fastCheck.js';
import { type Input, type Schedule, scheduleOf } from './input.js';
import type { Apply } from './trial.js';

/** An operator's maker, whatever it takes and gives. */
type Maker = () => OperatorFunction<never, unknown>;

/** What `assertLaws` draws, how often, and what it compares with. */
export interface Laws {
  /** Draws arrays of values, or inputs of values at times, as `arbitrary.input(value)` does. */
  readonly input: Arbitrary<unknown>;
  /** Inputs for each law; default 100. */
  readonly runs?: number;
  /** Chooses the inputs and the simulated worlds, 0 to 2^32 - 1. Default: random; a failure names it. */
  readonly seed?: number;
  /**
   * Hosts whose results are compared, always with the inline ones. Default: `inline` and `simulated` for an operator, these and
   * `threads` for a topology.
   */
  readonly hosts?: readonly Host[];
  /** Makes the operator of reference. Default: none, and the strict forms of the laws hold. */
  readonly like?: Maker;
}

type Host = 'inline' | 'simulated' | 'threads';

const known = ['input', 'runs', 'seed', 'hosts', 'like'] as const;
const allHosts: readonly Host[] = ['inline', 'simulated', 'threads'];

/**
 * Holds an operator, or a topology without args, to its laws on random inputs; the first that is broken rejects with an
 * `AssertionError` which names the law, the smallest input found, what was expected and what came, and the seed that shows it
 * again. `target` makes a fresh operator at each call. Runs inline, in virtual time, for a minute of it after the input's end:
 *
 * - **a fresh instance does the same again**
 * - **errors take the error channel**: nothing is thrown by `subscribe()`, a timer or the source's `next`, also where the
 *   subscriber throws; no error lacks a handler; one of the source reaches the output.
 * - **one end**, **nothing after the end**: also of what is said to a subscriber that has ended.
 * - **nothing after unsubscribe**, **the source is let go of**: after `unsubscribe()` in any delivery and at once, also after the
 *   end. A source that emits inside `subscribe()` may be let go of when that returns.
 * - **a value fed from inside next is as any other**: without `like`, all that comes else does come, in whatever order;
 *   with it, exactly what comes of it.
 * - **the same values**, **end** and **times as like**: on a hot source and on one that begins inside `subscribe()`.
 * - **the same on every host**: the values, in order where `describe()` says `total`, and the end; never the times. Simulated
 *   are the calm world and one drawn for each input. On threads, an input comes without its times, and ends; a run that has not
 *   ended after 10 s of real time has stalled. Where a run fails, it must fail everywhere, and in order `total` one must have
 *   begun with all that came of the other.
 *
 * Where `like` breaks a law, `target` may, too: an operator that handles errors, or drops what comes while it is busy, is
 * compared with one that does. What RxJS guards cannot be broken, nor seen: it gives every observer a subscriber that drops
 * what comes after the end and after `unsubscribe()`, and catches what `next` throws. So the end is watched in front of the
 * last of these, which sees an operator made by `new Observable` or an Observable of one's own, but not what another RxJS operator
 * behind it has dropped; and of unsubscribing mostly the source shows what is wrong.
 *
 * Of the deliveries of a run, the first ten are tried to leave or to feed in; a run that says more than 1,000 things is cut short. What depends on the times at
 * which values come, such as `debounceTime`, is not the same on every host: `hosts: ['inline']`.
 *
 * Needs fast-check. No `testClock()` may be in place. `ERR_OPTION`: an option is wrong, or `input` draws something else.
 *
 * ```ts
 * await assertLaws(() => myMap((n: number) => n + 1), {
 *   input: arbitrary.input(fc.nat()),
 *   like: () => map((n: number) => n + 1),
 * });
 * await assertLaws(wordCount, { input: fc.array(fc.lorem()), runs: 20 });
 * ```
 */
export async function assertLaws(target: Maker | TopologyLike, laws: Laws): Promise<void> {
  const fc = fastCheck('assertLaws()');
  const trying = check(target, laws);
  const { input, apply, like, hosts, seed } = trying;
  const settings = { numRuns: trying.runs, seed };
  for (const law of contract) {
    const keeps = (drawn: unknown): void => broken(law(apply, scheduled(drawn), like));
    judge(fc.check(fc.property(input, keeps), settings), trying);
  }
  const outputs = hosts.some((host) => host !== 'inline') ? planned(trying) : [];
  if (hosts.includes('simulated')) {
    const worlds = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    const keeps = (drawn: unknown, world: number): void =>
      broken(
        simulatedAsInline({ target: trying.topology(), outputs }, drawn as Input<unknown>, scheduled(drawn), world),
      );
    judge(fc.check(fc.property(input, worlds, keeps), settings), trying);
  }
  if (hosts.includes('threads')) {
    // To see that a run stalls takes its time: the first one is not made smaller.
    let stalled = false;
    const keeps = async (drawn: unknown): Promise<void> => {
      if (stalled) return;
      const breach = await threadsAsInline({ target: trying.topology(), outputs }, scheduled(drawn));
      stalled = breach?.stalled === true;
      broken(breach);
    };
    judge(await fc.check(fc.asyncProperty(input, keeps), settings), trying);
  }
}

interface Trying {
  readonly what: string;
  readonly input: Arbitrary<unknown>;
  readonly apply: Apply;
  readonly like: Apply | undefined;
  readonly runs: number;
  readonly seed: number;
  readonly hosts: readonly Host[];
  /** What runs on hosts. */
  topology(): TopologyLike;
}

function check(target: unknown, laws: Laws): Trying {
  if (typeof target !== 'function')
    throw refusal(
      `assertLaws() takes a function that makes an operator, such as () => map(f), or a topology, got ${show(target)}`,
    );
  if (!isOptions(laws)) throw refusal(`the laws of assertLaws() must be an object, got ${show(laws)}`);
  checkKeys(laws, known, 'the laws of assertLaws()');
  const { input, runs = 100, seed = Math.floor(Math.random() * 2 ** 32), like }: Partial<Laws> = laws;
  if (!isArbitrary(input))
    throw refusal(
      `input of assertLaws() must be an arbitrary, such as arbitrary.input(fc.nat()) or fc.array(fc.string()), got ${show(input)}`,
    );
  if (!(Number.isInteger(runs) && runs >= 1))
    throw refusal(`runs of assertLaws() must be a whole number of inputs, at least 1, got ${show(runs)}`);
  if (!(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32))
    throw refusal(`seed of assertLaws() must be a whole number from 0 to 2^32 - 1, got ${show(seed)}`);
  if (like !== undefined && typeof like !== 'function')
    throw refusal(`like of assertLaws() must be a function that makes an operator, got ${show(like)}`);
  const hosts = checkHosts(laws.hosts);
  const drawing = { input, runs, seed, like: like === undefined ? undefined : made(like, 'like') };
  if (isTopology(target)) return { ...ofTopology(target, like), ...drawing, hosts: hosts ?? allHosts };
  if (hosts?.includes('threads'))
    throw refusal(
      "hosts of assertLaws() has 'threads', but a thread loads modules, and an operator made here cannot go there: " +
        'put it into a topology of a module of its own, and give that',
    );
  return { ...ofOperator(target as Maker), ...drawing, hosts: hosts ?? ['inline', 'simulated'] };
}

function checkHosts(hosts: unknown): readonly Host[] | undefined {
  if (hosts === undefined) return undefined;
  const names = allHosts.map((host) => JSON.stringify(host)).join(', ');
  if (!Array.isArray(hosts) || hosts.length === 0)
    throw refusal(`hosts of assertLaws() must be a list of ${names}, got ${show(hosts)}`);
  for (const host of hosts as readonly unknown[]) {
    if (allHosts.includes(host as Host)) continue;
    const near = typeof host === 'string' ? nearest(host, allHosts) : undefined;
    const hint = near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
    throw refusal(`hosts of assertLaws() must be of ${names}, got ${show(host)}${hint}`);
  }
  return hosts as readonly Host[];
}

function isArbitrary(given: unknown): given is Arbitrary<unknown> {
  return typeof given === 'object' && given !== null && 'generate' in given && 'shrink' in given;
}

function isTopology(target: object): target is TopologyLike {
  return 'inline' in target && 'describe' in target;
}

type Of = Pick<Trying, 'what' | 'apply' | 'topology'>;

function ofTopology(target: TopologyLike, like: unknown): Of {
  // What is wrong with the plan is thrown here.
  const outputs = outputsIn(target);
  const name = JSON.stringify(target.name);
  if (outputs === undefined)
    throw refusal(`assertLaws() draws an input, and the source ${name} has none: simulate() runs it`);
  if (like !== undefined && outputs.some((output) => output.name !== 'output'))
    throw refusal(`like of assertLaws() makes an operator, but topology ${name} has a record of outputs: leave it out`);
  return { what: `topology ${name}`, apply: inlineOf(target), topology: () => target };
}

function ofOperator(target: Maker): Of {
  const apply = made(target, 'the function given to assertLaws()');
  return { what: 'the operator', apply, topology: () => executed(target) };
}

function planned(trying: Trying): readonly Output[] {
  try {
    return outputsIn(trying.topology()) ?? [];
  } catch (reason) {
    if (!isMillraceError(reason)) throw reason;
    const how = "executors do not take the operator; `hosts: ['inline']` leaves them out";
    throw failure({ law: 'the same on every host', how, expected: 'a plan', got: reason.message }, trying, []);
  }
}

function made(maker: Maker, name: string): Apply {
  let operator: unknown;
  try {
    operator = maker();
  } catch (cause) {
    if (isMillraceError(cause)) throw cause;
    const message = `${name} must return an operator, such as () => map(f), but threw ${textOf(cause)}`;
    throw new MillraceError('ERR_OPTION', message, { cause });
  }
  if (typeof operator !== 'function') throw refusal(`${name} must return an operator, got ${show(operator)}`);
  return (source) => {
    const output: unknown = maker()(source as Observable<never>);
    if (!isObservable(output)) throw refusal(`an operator must return an Observable, got ${show(output)}`);
    return { output };
  };
}

/** One topology for all operators, for topologies are never forgotten: what it is made of is set before it runs. */
let executor: TopologyLike | undefined;
let inExecutor: Maker | undefined;

function executed(maker: Maker): TopologyLike {
  inExecutor = maker;
  executor ??= topology(
    import.meta.url,
    (input: Observable<never>) => input.pipe(gather(), (inExecutor as Maker)()),
    // Where this module is evaluated twice, both are in one registry.
    { name: `operator-${Math.random().toString(36).slice(2)}` },
  );
  return executor;
}

/** What breaks a law, on its way through fast-check. */
class Broken extends Error {
  readonly breach: Breach;

  constructor(breach: Breach) {
    super(breach.law);
    this.breach = breach;
  }
}

function broken(breach: Breach | undefined): void {
  if (breach !== undefined) throw new Broken(breach);
}

function scheduled(drawn: unknown): Schedule<unknown> {
  return scheduleOf(drawn as Input<unknown>, 'what input of assertLaws() draws');
}

/** What fast-check tells at the end. */
interface Details {
  readonly failed: boolean;
  readonly errorInstance: unknown;
  readonly counterexample: readonly unknown[] | null;
  readonly counterexamplePath: string | null;
  readonly numShrinks: number;
}

function judge(details: Details, trying: Trying): void {
  if (!details.failed) return;
  const { errorInstance: reason, counterexample, counterexamplePath, numShrinks } = details;
  if (!(reason instanceof Broken)) throw reason ?? new Error('fast-check drew no input');
  const path = `fast-check: seed ${trying.seed}, path ${JSON.stringify(counterexamplePath)}, ${numShrinks} shrinks`;
  throw failure(reason.breach, trying, [`input: ${textOf(counterexample?.[0])}`], path);
}

function failure(
  { law, how, expected, got, world }: Breach,
  trying: Trying,
  input: readonly string[],
  path?: string,
): Error {
  const { what, seed } = trying;
  const target = what === 'the operator' ? 'a topology of it' : 'target';
  const lines = [
    `law: ${law}`,
    `${what}: ${how}`,
    ...input,
    `expected:\n${indented(expected)}`,
    `got:\n${indented(got)}`,
    ...(world === undefined
      ? []
      : [`simulate(${target}, { input, seed: ${world} }).trace says what happened in that world`]),
    ...(path === undefined ? [] : [`again: assertLaws(target, { …, seed: ${seed} }); ${path}`]),
  ];
  return new AssertionError({ message: lines.join('\n'), expected, actual: got, operator: 'assertLaws' });
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}

function refusal(message: string): MillraceError {
  return new MillraceError('ERR_OPTION', message);
}
