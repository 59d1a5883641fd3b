/**
 * The rules of Reactive Streams that a publisher keeps: §1, and §2.12, where it is the one who calls.
 * Owns the checks; those of its Subscriptions (§3) are subscriptionRules.ts.
 */

import { show } from '../../runtime/option.js';
import type { Publisher } from '../edges/publisher.js';
import { Listener } from './listener.js';
import { checkRules, type Exam, type Rule, type RuleOptions, refusal, ruleOf } from './rules.js';
import type { Checks, Subject } from './subject.js';
import { subscriptionChecks } from './subscriptionRules.js';

/** How the rules of a publisher are checked. */
export interface PublisherRuleOptions extends RuleOptions {
  /** Makes a publisher that fails before its first value, or at it; without, §1.4 is left out. */
  readonly failed?: () => Publisher<number>;
  /** As many values as one publisher is asked for at most; default 20,000. */
  readonly maxElements?: number;
}

/**
 * The rules a publisher keeps, §1 and §3, and §2.12, each with a check. `make(elements)` makes a new publisher of so many values, of whatever
 * kind; it may have one subscriber, and refuse further ones by `onError`. Each check makes its own.
 *
 * Checks wait for signals that must come, at most `timeoutMs` for each; for what must not come they wait some turns of the event loop. §3.3
 * requests as many values as `maxElements` says, one by one. Rules that no check can hold, such as those about threads, are left out.
 * `ERR_OPTION`: an option is wrong.
 *
 * ```ts
 * const make = (elements: number) => toPublisher(range(1, elements));
 * for (const { id, title, check } of publisherRules(make)) test(`${id} ${title}`, check);
 * ```
 */
export function publisherRules(
  make: (elements: number) => Publisher<number>,
  options: PublisherRuleOptions = {},
): readonly Rule[] {
  const who = 'publisherRules()';
  const settings = checkRules(make, options, who, ['failed', 'maxElements']);
  const { failed, maxElements = 20_000 } = options;
  if (failed !== undefined && typeof failed !== 'function')
    throw refusal(`failed of ${who} must be a function that makes a publisher, got ${show(failed)}`);
  if (!(Number.isInteger(maxElements) && maxElements >= 10))
    throw refusal(`maxElements of ${who} must be a whole number, at least 10, got ${show(maxElements)}`);
  const subject: Subject = { make, failed, maxElements };
  return [...checks, ...subscriptionChecks]
    .filter(([id]) => id !== '§1.4' || failed !== undefined)
    .map(([id, examine]) => ruleOf(id, settings, (exam) => examine(exam, subject)));
}

const checks: Checks = [
  ['§1.1', demanded],
  ['§1.2', shorter],
  ['§1.3', serial],
  ['§1.4', failing],
  ['§1.5', finite],
  ['§1.6', cancelledByEnd],
  ['§1.7', nothingAfterEnd],
  ['§1.8', stops],
  ['§1.9', subscribing],
  ['§1.10', oneByOne],
  ['§1.11', together],
  ['§2.12', once],
];

async function demanded(exam: Exam, { make }: Subject): Promise<void> {
  const { random } = exam;
  const idle = Listener.to(exam, make(10));
  await exam.until(
    () => idle.subscribed,
    () => `no onSubscribe: ${idle.heard}`,
  );
  await exam.quiet();
  exam.expect(idle.received === 0, () => `nothing was requested: ${idle.heard}`);
  idle.request(3);
  await exam.until(
    () => idle.received >= 3,
    () => `3 were requested of 10: ${idle.heard}`,
  );
  await exam.quiet();
  exam.expect(idle.received === 3, () => `3 were requested of 10: ${idle.heard}`);
  for (let round = 0; round < 8; round++) {
    const elements = 1 + random.below(30);
    const leavesAfter = random.chance(0.3) ? random.below(elements) : elements;
    const listener = Listener.to(exam, make(elements), {
      onSubscribe: (own) => random.chance(0.5) && own.request(1 + random.below(4)),
      onNext: (own) => {
        if (own.received > leavesAfter) own.cancel();
        else if (random.chance(0.3)) own.request(1 + random.below(4));
      },
    });
    await exam.until(
      () => listener.subscribed,
      () => `no onSubscribe: ${listener.heard}`,
    );
    while (listener.received <= leavesAfter && listener.received < elements) {
      listener.request(1 + random.below(5));
      await exam.until(
        () => listener.received > leavesAfter || listener.received >= Math.min(listener.requested, elements),
        () => `of ${elements}: ${listener.heard}`,
      );
    }
    listener.cancel();
    await exam.quiet();
    exam.expect(listener.surplus === undefined, () => `${listener.surplus}`);
  }
}

async function shorter(exam: Exam, { make }: Subject): Promise<void> {
  const elements = 1 + exam.random.below(5);
  const listener = Listener.to(exam, make(elements), { onSubscribe: (own) => own.request(10) });
  await exam.until(
    () => listener.ended,
    () => `10 were requested of ${elements}, and no end: ${listener.heard}`,
  );
  exam.expect(listener.signals.at(-1) === 'onComplete' && listener.received === elements, () => listener.heard);
}

async function serial(exam: Exam, { make }: Subject): Promise<void> {
  const { random } = exam;
  for (let round = 0; round < 4; round++) {
    const listener = Listener.to(exam, make(1 + random.below(30)), {
      onSubscribe: (own) => own.request(1 + random.below(3)),
      onNext: (own) => own.request(1 + random.below(3)),
    });
    await exam.until(
      () => listener.ended || listener.overlap !== undefined,
      () => `no end: ${listener.heard}`,
    );
    exam.expect(listener.overlap === undefined, () => `${listener.overlap}`);
  }
}

async function failing(exam: Exam, { failed }: Subject): Promise<void> {
  if (failed === undefined) return;
  const listener = Listener.to(exam, failed(), { onSubscribe: (own) => own.request(2) });
  await exam.until(
    () => listener.ended,
    () => `no onError of a publisher that failed: ${listener.heard}`,
  );
  exam.expect(listener.signals.at(-1) === 'onError', () => `no onError of a publisher that failed: ${listener.heard}`);
}

async function finite(exam: Exam, { make }: Subject): Promise<void> {
  for (const elements of [0, 1, 2 + exam.random.below(20)]) {
    // One more than there are: some see their end only when they are asked.
    const listener = Listener.to(exam, make(elements), { onSubscribe: (own) => own.request(elements + 1) });
    await exam.until(
      () => listener.ended,
      () => `no onComplete after ${elements} values: ${listener.heard}`,
    );
    exam.expect(
      listener.signals.at(-1) === 'onComplete' && listener.received === elements,
      () => `not ${elements} values and onComplete: ${listener.heard}`,
    );
  }
}

/** To its end, and what it had heard by then. */
async function toEnd(exam: Exam, { make }: Subject): Promise<readonly [listener: Listener, heard: number]> {
  const elements = exam.random.below(5);
  const listener = Listener.to(exam, make(elements), { onSubscribe: (own) => own.request(elements + 5) });
  await exam.until(
    () => listener.ended,
    () => `no end: ${listener.heard}`,
  );
  const end = listener.signals.findIndex((signal) => signal === 'onComplete' || signal === 'onError');
  return [listener, end + 1];
}

async function cancelledByEnd(exam: Exam, subject: Subject): Promise<void> {
  const [listener, heard] = await toEnd(exam, subject);
  listener.request(1 + exam.random.below(5));
  listener.request(0);
  listener.cancel();
  listener.request(1);
  await exam.quiet();
  exam.expect(
    listener.signals.length === heard,
    () => `request() and cancel() after the end were heard: ${listener.heard}`,
  );
}

async function nothingAfterEnd(exam: Exam, subject: Subject): Promise<void> {
  const [listener, heard] = await toEnd(exam, subject);
  await exam.quiet();
  exam.expect(listener.signals.length === heard, () => `after the end: ${listener.heard}`);
}

async function stops(exam: Exam, { make, maxElements }: Subject): Promise<void> {
  const elements = Math.min(maxElements, 1_000);
  const leavesAfter = 1 + exam.random.below(5);
  const listener = Listener.to(exam, make(elements), {
    onSubscribe: (own) => own.request(elements + 1),
    onNext: (own) => own.received === leavesAfter && own.cancel(),
  });
  await exam.until(
    () => listener.received >= leavesAfter,
    () => listener.heard,
  );
  await listener.stopped(elements);
}

async function subscribing(exam: Exam, { make, failed }: Subject): Promise<void> {
  exam.throws('subscribe(null)', () => make(1).subscribe(null as never));
  exam.throws('subscribe(undefined)', () => make(1).subscribe(undefined as never));
  for (const publisher of [make(0), make(3), ...(failed === undefined ? [] : [failed()])]) {
    const listener = Listener.to(exam, publisher, { onSubscribe: (own) => own.request(10) });
    await exam.until(
      () => listener.ended,
      () => `no end: ${listener.heard}`,
    );
    exam.expect(listener.signals[0] === 'onSubscribe', () => `not onSubscribe first: ${listener.heard}`);
  }
}

async function oneByOne(exam: Exam, { make }: Subject): Promise<void> {
  const elements = 1 + exam.random.below(5);
  const publisher = make(elements);
  for (let round = 0; round < 3; round++) {
    const listener = Listener.to(exam, publisher, { onSubscribe: (own) => own.request(elements + 1) });
    await exam.until(
      () => listener.ended,
      () => `no end for subscriber number ${round + 1}: ${listener.heard}`,
    );
    exam.expect(listener.signals[0] === 'onSubscribe', () => `subscriber number ${round + 1}: ${listener.heard}`);
  }
}

async function together(exam: Exam, { make }: Subject): Promise<void> {
  const elements = 10;
  const publisher = make(elements);
  const listeners = [Listener.to(exam, publisher), Listener.to(exam, publisher), Listener.to(exam, publisher)];
  const [leaver] = listeners;
  for (const listener of listeners)
    await exam.until(
      () => listener.subscribed,
      () => `no onSubscribe: ${listener.heard}`,
    );
  for (let round = 0; round < 4; round++) {
    for (const listener of listeners) if (exam.random.chance(0.7)) listener.request(1 + exam.random.below(3));
    await exam.quiet();
  }
  leaver?.cancel();
  for (const listener of listeners) {
    exam.expect(listener.surplus === undefined, () => `${listener.surplus}, of several subscribers`);
    if (listener === leaver) continue;
    listener.request(elements);
    await exam.until(
      () => listener.ended,
      () => `no end after another subscriber had left: ${listener.heard}`,
    );
  }
}

async function once(exam: Exam, { make }: Subject): Promise<void> {
  const listener = Listener.to(exam, make(3), {
    onSubscribe: (own) => own.request(2),
    onNext: (own) => own.request(1),
  });
  await exam.until(
    () => listener.ended,
    () => `no end: ${listener.heard}`,
  );
  await exam.quiet();
  const times = listener.signals.filter((signal) => signal === 'onSubscribe').length;
  exam.expect(times === 1, () => `onSubscribe came ${times} times: ${listener.heard}`);
}
