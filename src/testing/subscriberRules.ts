/**
 * The rules of Reactive Streams that a subscriber keeps: §2.
 * Owns the checks and the publisher's side of them. §2.12 is about who calls it: publisherRules.ts.
 */

import type { DemandObserver } from '../../runtime/demand.js';
import type { Subscriber, Subscription } from '../edges/publisher.js';
import { checkRules, type Exam, type Rule, type RuleId, type RuleOptions, ruleOf } from './rules.js';

/** How a check hears what the subscriber has taken, and makes it ask and leave. */
export interface SubscriberProbe<T> extends DemandObserver<T> {
  /** Gives the check what makes the subscriber request `n` values, and cancel. Called once, before `make` returns. */
  steer(puppet: { request(n: number): void; cancel(): void }): void;
}

/**
 * The rules a subscriber keeps, §2, each with a check. `make(probe)` makes a new subscriber, tells the probe of all it takes, and gives
 * `probe.steer` the means to make it ask and leave. It may do so at once or later; checks wait for it, at most `timeoutMs`, and
 * for what must not come some turns of the event loop. `ERR_OPTION`: an option is wrong.
 *
 * ```ts
 * const make = (probe: SubscriberProbe<number>): Subscriber<number> => {
 *   let subscription: Subscription | undefined;
 *   probe.steer({ request: (n) => subscription?.request(n), cancel: () => subscription?.cancel() });
 *   return new MySubscriber({ onSubscribe: (given) => { subscription = given; }, onValue: (value) => probe.next(value), … });
 * };
 * for (const { id, title, check } of subscriberRules(make)) test(`${id} ${title}`, check);
 * ```
 */
export function subscriberRules(
  make: (probe: SubscriberProbe<number>) => Subscriber<number>,
  options: RuleOptions = {},
): readonly Rule[] {
  const settings = checkRules(make, options, 'subscriberRules()');
  return checks.map(([id, examine]) => ruleOf(id, settings, (exam) => examine(exam, () => new Meeting(exam, make))));
}

type Checks = readonly (readonly [id: RuleId, examine: (exam: Exam, meet: () => Meeting) => Promise<void>])[];

const checks: Checks = [
  ['§2.1', requests],
  ['§2.3', quietAtEnd],
  ['§2.4', quietAfterEnd],
  ['§2.5', second],
  ['§2.6', leaves],
  ['§2.8', stillComing],
  ['§2.9', (exam, meet) => ends(exam, meet, 'complete')],
  ['§2.10', (exam, meet) => ends(exam, meet, 'error')],
  ['§2.13', returnsOrThrows],
];

/** A Subscription that writes down how it is called. */
class Wire implements Subscription {
  readonly #exam: Exam;
  requested = 0;
  cancels = 0;
  calls = 0;
  wrong: unknown;

  constructor(exam: Exam) {
    this.#exam = exam;
  }

  request(n: number): void {
    this.calls++;
    if (!(Number.isInteger(n) && n > 0) && n !== Number.POSITIVE_INFINITY) this.wrong ??= n;
    else this.requested += n;
    this.#exam.signalled();
  }

  cancel(): void {
    this.calls++;
    this.cancels++;
    this.#exam.signalled();
  }
}

/** One subscriber, and the kit as its publisher. */
class Meeting {
  readonly subscriber: Subscriber<number>;
  readonly wire: Wire;
  readonly #exam: Exam;
  readonly taken: number[] = [];
  /** What it was made to ask for. */
  wanted = 0;
  end: 'open' | 'complete' | 'error' = 'open';
  #puppet: { request(n: number): void; cancel(): void } | undefined;

  constructor(exam: Exam, make: (probe: SubscriberProbe<number>) => Subscriber<number>) {
    this.#exam = exam;
    this.wire = new Wire(exam);
    this.subscriber = make({
      steer: (puppet) => {
        this.#puppet = puppet;
      },
      next: (value) => this.#told(() => this.taken.push(value)),
      error: () => this.#told(() => this.#ended('error')),
      complete: () => this.#told(() => this.#ended('complete')),
    });
    exam.afterwards(() => this.leave());
    exam.expect(this.#puppet !== undefined, 'make(probe) must call probe.steer(), or nothing makes the subscriber ask');
  }

  begin(): void {
    this.#exam.returns('onSubscribe()', () => this.subscriber.onSubscribe(this.wire));
  }

  ask(n: number): void {
    this.wanted += n;
    this.#puppet?.request(n);
  }

  leave(): void {
    this.#puppet?.cancel();
  }

  /** Begun, and asked for at least one value. */
  async asked(): Promise<void> {
    this.begin();
    this.ask(1 + this.#exam.random.below(3));
    await this.#exam.until(
      () => this.wire.requested > 0,
      () => 'it was made to ask, and requested nothing',
    );
  }

  next(value: number): void {
    this.#exam.returns('onNext()', () => this.subscriber.onNext(value));
  }

  over(how: 'complete' | 'error'): void {
    if (how === 'complete') this.#exam.returns('onComplete()', () => this.subscriber.onComplete());
    else this.#exam.returns('onError()', () => this.subscriber.onError(new Error('the publisher fails')));
  }

  #told(what: () => void): void {
    what();
    this.#exam.signalled();
  }

  #ended(how: 'complete' | 'error'): void {
    if (this.end === 'open') this.end = how;
  }
}

const bothEnds = ['complete', 'error'] as const;

async function requests(exam: Exam, meet: () => Meeting): Promise<void> {
  const meeting = meet();
  await meeting.asked();
  const { wire, taken } = meeting;
  let given = 0;
  while (taken.length < 10) {
    for (; given < Math.min(wire.requested, 100); given++) meeting.next(given);
    await exam.until(
      () => taken.length >= Math.min(given, meeting.wanted),
      () => `it was given ${given} values and made to ask for ${meeting.wanted}, and took ${taken.length}`,
    );
    meeting.ask(1 + exam.random.below(3));
    // What it holds it need not request again.
    await exam.until(
      () => wire.requested > given || taken.length < given || given >= 100,
      () => `it had taken all of ${given} values and was made to ask for more, and requested nothing`,
    );
  }
  exam.expect(wire.wrong === undefined, () => `it called request(${wire.wrong})`);
  meeting.leave();
}

async function quietAtEnd(exam: Exam, meet: () => Meeting): Promise<void> {
  for (const how of bothEnds) {
    const meeting = meet();
    await meeting.asked();
    if (exam.random.chance(0.5)) meeting.next(0);
    const before = meeting.wire.calls;
    meeting.over(how);
    exam.expect(meeting.wire.calls === before, `on${how === 'error' ? 'Error' : 'Complete'}() called the Subscription`);
  }
}

async function quietAfterEnd(exam: Exam, meet: () => Meeting): Promise<void> {
  for (const how of bothEnds) {
    const meeting = meet();
    await meeting.asked();
    const before = meeting.wire.calls;
    meeting.over(how);
    await exam.until(
      () => meeting.end !== 'open',
      () => `the ${how} did not arrive`,
    );
    meeting.ask(1 + exam.random.below(3));
    meeting.leave();
    await exam.quiet();
    exam.expect(meeting.wire.calls === before, `after the ${how}, the Subscription was called`);
  }
}

async function second(exam: Exam, meet: () => Meeting): Promise<void> {
  const meeting = meet();
  await meeting.asked();
  const other = new Wire(exam);
  exam.returns('a second onSubscribe()', () => meeting.subscriber.onSubscribe(other));
  await exam.until(
    () => other.cancels > 0,
    () => 'a second Subscription was not cancelled',
  );
  meeting.ask(1);
  await exam.quiet();
  exam.expect(other.requested === 0, 'a second Subscription was requested from');
  exam.expect(meeting.wire.cancels === 0, 'the first Subscription was cancelled, and not only the second');
  meeting.leave();
}

async function leaves(exam: Exam, meet: () => Meeting): Promise<void> {
  for (const asks of [false, true]) {
    const meeting = meet();
    if (asks) await meeting.asked();
    else meeting.begin();
    meeting.leave();
    await exam.until(
      () => meeting.wire.cancels > 0,
      () => 'it was made to leave, and did not cancel',
    );
  }
}

async function stillComing(exam: Exam, meet: () => Meeting): Promise<void> {
  const meeting = meet();
  await meeting.asked();
  meeting.leave();
  await exam.until(
    () => meeting.wire.cancels > 0,
    () => 'it was made to leave, and did not cancel',
  );
  for (let value = 0; value < meeting.wire.requested && value < 5; value++) meeting.next(value);
  meeting.over(exam.random.of(bothEnds as unknown as ['complete', 'error']));
}

async function ends(exam: Exam, meet: () => Meeting, how: 'complete' | 'error'): Promise<void> {
  for (const asks of [false, true]) {
    const meeting = meet();
    if (asks) await meeting.asked();
    else meeting.begin();
    meeting.over(how);
    const when = asks ? 'after a request' : 'without a request';
    await exam.quiet();
    // A processor may need to be asked for the end.
    meeting.ask(1);
    await exam.until(
      () => meeting.end !== 'open',
      () => `the ${how} ${when} did not arrive`,
    );
    exam.expect(meeting.end === how, `the ${how} ${when} arrived as ${meeting.end}`);
  }
}

async function returnsOrThrows(exam: Exam, meet: () => Meeting): Promise<void> {
  for (const nothing of [null, undefined] as unknown as readonly never[]) {
    exam.throws(`onSubscribe(${nothing})`, () => meet().subscriber.onSubscribe(nothing));
    for (const signal of ['onNext', 'onError'] as const) {
      const meeting = meet();
      await meeting.asked();
      exam.throws(`${signal}(${nothing})`, () => meeting.subscriber[signal](nothing));
    }
  }
  const meeting = meet();
  await meeting.asked();
  meeting.next(0);
  meeting.over('complete');
  meeting.over('error');
  meeting.next(1);
}
