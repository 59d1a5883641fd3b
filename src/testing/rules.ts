/**
 * The rules of Reactive Streams (JVM specification 1.0.4) by number, in words of our own, and how one of them is checked.
 * Owns the titles, what JavaScript leaves untested and why, and the options of the kit. Waits for signals and turns of the event loop.
 */

import { AssertionError } from 'node:assert';
import { clock } from '../../runtime/clock.js';
import { MillraceError } from '../../runtime/errors.js';
import { checkKeys, isOptions, show } from '../../runtime/option.js';
import { Random } from '../../runtime/simulated/random.js';
import { textOf } from './contract.js';

/** One rule, and a way to find out whether it is kept. */
export interface Rule {
  /** Its number in the specification, such as `§1.1`. */
  readonly id: string;
  /** What it says, in words of our own. */
  readonly title: string;
  /** Rejects with an AssertionError that names the rule, what happened and the seed. */
  check(): Promise<void>;
}

/** How rules are checked. */
export interface RuleOptions {
  /** How long a check waits for a signal that must come, in ms of real time; default 5,000. */
  readonly timeoutMs?: number;
  /** Decides in which order is requested and cancelled; default: drawn anew. */
  readonly seed?: number;
}

export const titles = {
  '§1.1': 'no more values than were requested',
  '§1.2': 'fewer values than were requested may come, and then the end',
  '§1.3': 'no signal while another one is running',
  '§1.4': 'a failure is signalled by onError',
  '§1.5': 'the end of a finite stream is signalled by onComplete',
  '§1.6': 'after the end the Subscription counts as cancelled',
  '§1.7': 'nothing after the end',
  '§1.8': 'after cancel() the signals stop',
  '§1.9': 'onSubscribe comes first; subscribe() throws without a subscriber, and only then',
  '§1.10': 'subscribe() may be called again, with another subscriber',
  '§1.11': 'several subscribers at a time, each on its own terms, or refused by onError',
  '§2.1': 'values are requested, by whole numbers above 0',
  '§2.2': 'work that would hold up the publisher is done elsewhere',
  '§2.3': 'onComplete and onError call neither Subscription nor Publisher',
  '§2.4': 'after the end the Subscription counts as cancelled',
  '§2.5': 'a second Subscription is cancelled',
  '§2.6': 'a Subscription that is no longer needed is cancelled',
  '§2.7': 'calls to a Subscription never overlap',
  '§2.8': 'values may still come after cancel()',
  '§2.9': 'onComplete may come without a request',
  '§2.10': 'onError may come without a request',
  '§2.11': 'a signal is visible before it is processed',
  '§2.12': 'onSubscribe comes once',
  '§2.13': 'signals return normally, except that null and undefined are refused by throwing',
  '§3.1': 'request() and cancel() are called by their own subscriber only',
  '§3.2': 'request() may be called within onSubscribe and onNext',
  '§3.3': 'request() within onNext does not recurse',
  '§3.4': 'request() returns soon',
  '§3.5': 'cancel() may be called at any time, again and again',
  '§3.6': 'request() after cancel() does nothing',
  '§3.7': 'cancel() after cancel() does nothing',
  '§3.8': 'requests add up',
  '§3.9': 'a request that is not above 0 is answered by onError',
  '§3.10': 'request() may call onNext',
  '§3.11': 'request() may call onComplete and onError',
  '§3.12': 'cancel() makes the signals stop',
  '§3.13': 'cancel() lets go of the subscriber',
  '§3.14': 'cancel() may shut a publisher down',
  '§3.15': 'cancel() returns normally',
  '§3.16': 'request() returns normally',
  '§3.17': 'any number of requests, and a demand without end',
  '§4.1': 'a processor is a subscriber and a publisher: demand and leaving go up, values come down',
  '§4.2': 'an error is passed on, without demand',
} as const;

export type RuleId = keyof typeof titles;

/** Rules that have no check, and why. */
export const untested: Readonly<Partial<Record<RuleId, string>>> = {
  '§2.2': 'not tested: a recommendation; what holds up whom is for the application to measure',
  '§2.7': 'not applicable in JavaScript: both sides live on one event loop, so calls of several threads cannot meet',
  '§2.11': 'not applicable in JavaScript: both sides live on one event loop, which has no unpublished memory',
  '§3.1': 'not applicable in JavaScript: a function cannot see who calls it',
  '§3.4': 'not tested: a recommendation about time',
  '§3.10': 'not tested: a permission; §3.2 and §3.3 hold what follows from it',
  '§3.11': 'not tested: a permission; §1.3 and §1.5 hold what follows from it',
  '§3.14': 'not tested: a permission',
};

/** Checked, with defaults. */
export interface Settings {
  readonly timeoutMs: number;
  readonly seed: number;
}

/** Checks what the rules of `who` are given; throws ERR_OPTION. */
export function checkRules(make: unknown, options: unknown, who: string, more: readonly string[] = []): Settings {
  if (typeof make !== 'function')
    throw refusal(`${who} takes a function that makes what is checked, got ${show(make)}`);
  if (!isOptions(options)) throw refusal(`the options of ${who} must be an object, got ${show(options)}`);
  checkKeys(options, ['timeoutMs', 'seed', ...more], who);
  const { timeoutMs = 5_000, seed = Math.floor(Math.random() * 2 ** 32) } = options as RuleOptions;
  if (!(Number.isFinite(timeoutMs) && timeoutMs > 0))
    throw refusal(`timeoutMs of ${who} must be a number of ms above 0, got ${show(timeoutMs)}`);
  if (!(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32))
    throw refusal(`seed of ${who} must be a whole number from 0 to 2^32 - 1, got ${show(seed)}`);
  return { timeoutMs, seed };
}

export function refusal(message: string): MillraceError {
  return new MillraceError('ERR_OPTION', message);
}

export type Examine = (exam: Exam) => Promise<void>;

export function ruleOf(id: RuleId, settings: Settings, examine: Examine): Rule {
  const title = titles[id];
  const check = async (): Promise<void> => {
    const exam = new Exam(settings);
    try {
      await examine(exam);
      exam.expect(true, '');
    } catch (cause) {
      const happened = cause instanceof Breach ? cause.message : `something was thrown: ${textOf(cause)}`;
      const message = `Reactive Streams ${id}, ${title}, is broken: ${happened} (seed ${settings.seed})`;
      throw Object.assign(new AssertionError({ message, operator: id }), { cause });
    } finally {
      exam.leave();
    }
  };
  return { id, title, check };
}

/** What happened instead. */
class Breach extends Error {}

/** One check under way. */
export class Exam {
  readonly random: Random;
  readonly #timeoutMs: number;
  readonly #waiting = new Set<() => void>();
  readonly #leaving: (() => void)[] = [];
  /** Found where it could not be thrown: inside a signal. */
  #breach: Breach | undefined;

  constructor({ timeoutMs, seed }: Settings) {
    this.#timeoutMs = timeoutMs;
    this.random = new Random(seed);
  }

  expect(holds: boolean, otherwise: string | (() => string)): void {
    if (this.#breach !== undefined) throw this.#breach;
    if (!holds) throw new Breach(typeof otherwise === 'string' ? otherwise : otherwise());
  }

  /** `work` returns normally; else what comes next rejects. */
  returns(what: string, work: () => void): void {
    try {
      work();
    } catch (reason) {
      this.#breach ??= new Breach(`${what} threw ${textOf(reason)}`);
      this.signalled();
    }
  }

  throws(what: string, work: () => void): void {
    try {
      work();
    } catch {
      return;
    }
    throw new Breach(`${what} did not throw`);
  }

  /** Something has been signalled: who waits looks again. */
  signalled(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** Until `come`, which is looked at after each signal; `what` does not come in time is a breach. */
  until(come: () => boolean, what: () => string): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = clock.later(this.#timeoutMs, () => {
        this.#waiting.delete(look);
        reject(new Breach(`${what()} (waited ${this.#timeoutMs} ms)`));
      });
      const look = (): void => {
        if (this.#breach === undefined && !come()) return;
        this.#waiting.delete(look);
        cancel();
        if (this.#breach === undefined) resolve();
        else reject(this.#breach);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** What `leave` does when the verdict is in, so that a check leaves nothing under way. */
  afterwards(leave: () => void): void {
    this.#leaving.push(leave);
  }

  leave(): void {
    for (const leave of this.#leaving.splice(0)) this.returns('leaving', leave);
  }

  /** Time for what must not come to come: some turns of the event loop. */
  async quiet(): Promise<void> {
    for (let turns = 0; turns < 20; turns++) await turn();
  }
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve));
}
