/**
 * The rules of Reactive Streams that a processor keeps: §4, and with it those of a publisher and of a subscriber.
 * Owns the publisher in front of the processor, and what is between its two sides.
 */

import type { Processor, Publisher, Subscriber } from '../edges/publisher.js';
import { Listener } from './listener.js';
import { publisherRules } from './publisherRules.js';
import { checkRules, type Exam, type Rule, type RuleOptions, ruleOf } from './rules.js';
import { type SubscriberProbe, subscriberRules } from './subscriberRules.js';

/** How the rules of a processor are checked. */
export interface ProcessorRuleOptions extends RuleOptions {
  /** As many values as one processor is asked for at most; default 20,000. */
  readonly maxElements?: number;
}

type Make = () => Processor<number, unknown>;

/**
 * The rules a processor keeps, each with a check: §4, those of publishers behind a publisher of whole numbers, and those of subscribers.
 * `make` makes a new processor that gives one result, other than null, for each value; it may have one subscriber.
 * `ERR_OPTION`: an option is wrong.
 *
 * ```ts
 * for (const { id, title, check } of processorRules(() => toProcessor(map((n: number) => n + 1)))) test(`${id} ${title}`, check);
 * ```
 */
export function processorRules(
  make: () => Processor<number, unknown>,
  options: ProcessorRuleOptions = {},
): readonly Rule[] {
  const who = 'processorRules()';
  const settings = checkRules(make, options, who, ['maxElements']);
  const { maxElements } = options;
  const behind = (publisher: Publisher<number>): Publisher<number> => {
    const processor = make();
    publisher.subscribe(processor);
    return processor as Publisher<number>;
  };
  return [
    ...publisherRules((elements) => behind(numbers(elements)), {
      ...settings,
      ...(maxElements === undefined ? {} : { maxElements }),
      failed: () => behind(failing),
    }),
    ...subscriberRules((probe) => probed(make(), probe), settings),
    ruleOf('§4.1', settings, (exam) => both(exam, make)),
    ruleOf('§4.2', settings, (exam) => passesError(exam, make)),
  ];
}

/** The processor as a subscriber: what its own subscriber takes and does is what the probe hears and steers. */
function probed(processor: Processor<number, unknown>, probe: SubscriberProbe<number>): Subscriber<number> {
  processor.subscribe({
    onSubscribe: (subscription) => probe.steer(subscription),
    onNext: (value) => probe.next(value as number),
    onError: (reason) => probe.error(reason),
    onComplete: () => probe.complete(),
  });
  return processor;
}

const failing: Publisher<number> = {
  subscribe(subscriber) {
    subscriber.onSubscribe({ request: () => {}, cancel: () => {} });
    subscriber.onError(new Error('the publisher fails'));
  },
};

/** What was asked of a publisher, and whether it says that it has ended. */
interface Log {
  readonly ends: boolean;
  requested: number;
  cancelled: boolean;
  changed(): void;
}

/** 0, 1, 2, …, as many as `elements` says, synchronously and as requested. */
function numbers(elements: number, log: Log = logFor()): Publisher<number> {
  return {
    subscribe(subscriber) {
      let [next, left, giving, over] = [0, 0, false, false];
      const give = (): void => {
        if (giving) return;
        giving = true;
        for (; left > 0 && next < elements && !over; left--) subscriber.onNext(next++);
        giving = false;
        if (next < elements || over || !log.ends) return;
        over = true;
        subscriber.onComplete();
      };
      giving = true;
      subscriber.onSubscribe({
        request: (n) => {
          log.requested += n;
          left += n;
          give();
        },
        cancel: () => {
          log.cancelled = true;
          over = true;
          log.changed();
        },
      });
      giving = false;
      give();
    },
  };
}

function logFor(exam?: Exam, ends = true): Log {
  return { ends, requested: 0, cancelled: false, changed: () => exam?.signalled() };
}

async function both(exam: Exam, make: Make): Promise<void> {
  const { random } = exam;
  for (let round = 0; round < 3; round++) {
    const elements = 1 + random.below(20);
    const log = logFor(exam);
    const processor = make();
    const before = random.chance(0.5);
    if (before) numbers(elements, log).subscribe(processor);
    const listener = Listener.to(exam, processor);
    if (!before) numbers(elements, log).subscribe(processor);
    await exam.until(
      () => listener.subscribed,
      () => `no onSubscribe: ${listener.heard}`,
    );
    while (listener.received < elements) {
      listener.request(1 + random.below(4));
      await exam.until(
        () => listener.received >= Math.min(listener.requested, elements),
        () => `of ${elements} values, of which ${log.requested} were requested: ${listener.heard}`,
      );
    }
    listener.request(1);
    await exam.until(
      () => listener.ended,
      () => `no end: ${listener.heard}`,
    );
    exam.expect(listener.surplus === undefined && listener.received === elements, () => listener.heard);
  }
  // One that stays open: a processor may have taken in all its values.
  const log = logFor(exam, false);
  const processor = make();
  numbers(1_000, log).subscribe(processor);
  const leaver = Listener.to(exam, processor, { onSubscribe: (own) => own.request(1) });
  await exam.until(
    () => leaver.received > 0,
    () => `1 was requested: ${leaver.heard}`,
  );
  leaver.cancel();
  await exam.until(
    () => log.cancelled,
    () => 'its subscriber has left, and it did not cancel',
  );
}

async function passesError(exam: Exam, make: Make): Promise<void> {
  for (const first of ['publisher', 'subscriber'] as const) {
    const processor = make();
    if (first === 'publisher') failing.subscribe(processor);
    const listener = Listener.to(exam, processor);
    if (first === 'subscriber') failing.subscribe(processor);
    const when = `the ${first} came first`;
    await exam.until(
      () => listener.ended,
      () => `onError without demand did not come through, when ${when}: ${listener.heard}`,
    );
    exam.expect(listener.signals.join() === 'onSubscribe,onError', () => `${listener.heard}, when ${when}`);
  }
}
