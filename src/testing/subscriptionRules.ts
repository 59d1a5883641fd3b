/**
 * The rules of Reactive Streams that the Subscription of a publisher keeps: §3.
 * Owns the checks. Reaches for the garbage collector of this process, for one of them.
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { show } from '../../runtime/option.js';
import type { Publisher } from '../edges/publisher.js';
import { Listener } from './listener.js';
import { type Exam, turn } from './rules.js';
import type { Checks, Subject } from './subject.js';

export const subscriptionChecks: Checks = [
  ['§3.2', requestedWithin],
  ['§3.3', shallow],
  ['§3.5', cancelled],
  ['§3.6', requestAfterCancel],
  ['§3.7', cancelAfterCancel],
  ['§3.8', added],
  ['§3.9', notPositive],
  ['§3.12', stopping],
  ['§3.13', letGo],
  ['§3.15', cancelReturns],
  ['§3.16', requestReturns],
  ['§3.17', endless],
];

async function requestedWithin(exam: Exam, { make }: Subject): Promise<void> {
  const elements = 2 + exam.random.below(10);
  const listener = Listener.to(exam, make(elements), {
    onSubscribe: (own) => own.request(1),
    onNext: (own) => own.request(1),
  });
  await exam.until(
    () => listener.ended,
    () => `no end of ${elements} values requested one by one: ${listener.heard}`,
  );
  exam.expect(listener.received === elements, () => `not all of ${elements} values: ${listener.heard}`);
}

async function shallow(exam: Exam, { make, maxElements }: Subject): Promise<void> {
  const listener = Listener.to(exam, make(maxElements), { onNext: (own) => own.request(1) });
  await exam.until(
    () => listener.subscribed,
    () => `no onSubscribe: ${listener.heard}`,
  );
  listener.request(1);
  await exam.until(
    () => listener.ended || listener.overlap !== undefined,
    () => `no end of ${maxElements} values requested one by one: ${listener.heard}`,
  );
  exam.expect(listener.overlap === undefined, () => `${listener.overlap}, by the request made there`);
  exam.expect(listener.received === maxElements, () => `not all of ${maxElements} values: ${listener.heard}`);
}

/** One that is subscribed and has received 2 of 10 values, all it has requested. */
async function begun(exam: Exam, { make }: Subject): Promise<Listener> {
  const listener = Listener.to(exam, make(10));
  await exam.until(
    () => listener.subscribed,
    () => `no onSubscribe: ${listener.heard}`,
  );
  listener.request(2);
  await exam.until(
    () => listener.received >= 2,
    () => `2 were requested of 10: ${listener.heard}`,
  );
  return listener;
}

async function silent(exam: Exam, listener: Listener, after: string): Promise<void> {
  await exam.quiet();
  exam.expect(
    listener.late.length === 0,
    () => `${after} was answered by ${listener.late.join(', ')}: ${listener.heard}`,
  );
}

async function cancelled(exam: Exam, subject: Subject): Promise<void> {
  const early = Listener.to(exam, subject.make(10), { onSubscribe: (own) => own.cancel() });
  await exam.until(
    () => early.subscribed,
    () => `no onSubscribe: ${early.heard}`,
  );
  early.cancel();
  await silent(exam, early, 'cancel() within onSubscribe');
  const listener = await begun(exam, subject);
  for (let times = 2 + exam.random.below(3); times > 0; times--) listener.cancel();
  await silent(exam, listener, 'cancel()');
}

async function requestAfterCancel(exam: Exam, subject: Subject): Promise<void> {
  const listener = await begun(exam, subject);
  listener.cancel();
  for (const n of [1 + exam.random.below(5), 0, 1]) listener.request(n);
  await silent(exam, listener, 'request() after cancel()');
}

async function cancelAfterCancel(exam: Exam, subject: Subject): Promise<void> {
  const listener = await begun(exam, subject);
  listener.cancel();
  await turn();
  listener.cancel();
  listener.cancel();
  await silent(exam, listener, 'cancel() after cancel()');
}

async function added(exam: Exam, { make }: Subject): Promise<void> {
  const [a, b] = [1 + exam.random.below(4), 1 + exam.random.below(4)];
  let first = true;
  const listener = Listener.to(exam, make(10), {
    onNext: (own) => {
      if (!first) return;
      first = false;
      own.request(a);
      own.request(b);
    },
  });
  await exam.until(
    () => listener.subscribed,
    () => `no onSubscribe: ${listener.heard}`,
  );
  listener.request(1);
  const wanted = 1 + a + b;
  await exam.until(
    () => listener.received >= wanted,
    () => `1 + ${a} + ${b} were requested: ${listener.heard}`,
  );
  await exam.quiet();
  exam.expect(listener.received === wanted, () => `1 + ${a} + ${b} were requested: ${listener.heard}`);
}

async function notPositive(exam: Exam, { make }: Subject): Promise<void> {
  for (const n of [0, -1, -1 - exam.random.below(1_000), Number.NEGATIVE_INFINITY, Number.NaN]) {
    const listener = Listener.to(exam, make(10));
    await exam.until(
      () => listener.subscribed,
      () => `no onSubscribe: ${listener.heard}`,
    );
    listener.request(n);
    await exam.until(
      () => listener.ended,
      () => `request(${n}) was not answered by onError: ${listener.heard}`,
    );
    exam.expect(listener.error instanceof Error, () => `request(${n}) was not answered by an Error: ${listener.heard}`);
    listener.request(5);
    await exam.quiet();
    exam.expect(listener.signals.length === 2, () => `request(${n}) did not end the Subscription: ${listener.heard}`);
  }
}

async function stopping(exam: Exam, { make, maxElements }: Subject): Promise<void> {
  const elements = Math.min(maxElements, 1_000);
  const leavesAfter = exam.random.below(5);
  const listener = Listener.to(exam, make(elements));
  await exam.until(
    () => listener.subscribed,
    () => `no onSubscribe: ${listener.heard}`,
  );
  listener.request(5);
  await exam.until(
    () => listener.received >= leavesAfter,
    () => listener.heard,
  );
  listener.cancel();
  listener.request(elements);
  await listener.stopped(elements);
}

async function letGo(exam: Exam, { make }: Subject): Promise<void> {
  const publisher = make(10);
  const leaver = leaving(exam, publisher);
  await exam.until(
    () => leaver.left !== undefined,
    () => 'no value, though 1 was requested of 10',
  );
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let times = 0; times < 10 && leaver.left?.deref() !== undefined; times++) {
    // A WeakRef that was looked at holds until the end of the turn.
    await turn();
    collect();
  }
  exam.expect(
    leaver.left?.deref() === undefined,
    () => `the subscriber cannot be collected, while its publisher is held, ${show(publisher)}`,
  );
}

interface Leaver {
  left: WeakRef<Listener> | undefined;
}

/** Nothing that outlives the call holds the subscriber but what it subscribes. */
function leaving(exam: Exam, publisher: Publisher<unknown>): Leaver {
  const leaver: Leaver = { left: undefined };
  const listener = new Listener(exam, {
    onSubscribe: (own) => own.request(1),
    onNext: (own) => {
      own.cancel();
      leaver.left ??= new WeakRef(own);
    },
  });
  exam.returns('subscribe()', () => publisher.subscribe(listener));
  return leaver;
}

async function cancelReturns(exam: Exam, { make }: Subject): Promise<void> {
  const listener = Listener.to(exam, make(3), {
    onSubscribe: (own) => own.request(2),
    onNext: (own) => own.received === 1 + exam.random.below(2) && own.cancel(),
  });
  await exam.until(
    () => listener.received > 0,
    () => `2 were requested of 3: ${listener.heard}`,
  );
  listener.cancel();
  const ended = Listener.to(exam, make(1), { onSubscribe: (own) => own.request(2) });
  await exam.until(
    () => ended.ended,
    () => `no end: ${ended.heard}`,
  );
  ended.cancel();
}

async function requestReturns(exam: Exam, { make }: Subject): Promise<void> {
  const listener = Listener.to(exam, make(3));
  await exam.until(
    () => listener.subscribed,
    () => `no onSubscribe: ${listener.heard}`,
  );
  for (const n of [1, 2 + exam.random.below(5), 1]) listener.request(n);
  await exam.until(
    () => listener.ended,
    () => `no end: ${listener.heard}`,
  );
  for (const n of [1, 0, -1, Number.NaN]) listener.request(n);
  const wrong = Listener.to(exam, make(3));
  await exam.until(
    () => wrong.subscribed,
    () => `no onSubscribe: ${wrong.heard}`,
  );
  for (const n of [-1, 0, 1]) wrong.request(n);
}

async function endless(exam: Exam, { make }: Subject): Promise<void> {
  const elements = 2 + exam.random.below(5);
  const listener = Listener.to(exam, make(elements), {
    onSubscribe: (own) => own.request(1),
    onNext: (own) => {
      for (let times = 0; times < 3; times++) own.request(Number.MAX_SAFE_INTEGER);
    },
  });
  await exam.until(
    () => listener.ended,
    () => `no end of ${elements} values: ${listener.heard}`,
  );
  exam.expect(
    listener.signals.at(-1) === 'onComplete' && listener.received === elements,
    () => `requests that add up to more than a number counts: ${listener.heard}`,
  );
}
