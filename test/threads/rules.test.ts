import { createRuntime, fromPublisher, type Publisher, pull, toProcessor, toPublisher } from 'millrace';
import { processorRules, publisherRules, type Rule, testClock, testRuntime } from 'millrace/testing';
import { firstValueFrom, toArray } from 'rxjs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ordered, scattered } from './fixtures/rules.js';

const runtime = createRuntime({ threads: 2 });
const simulated = testRuntime();
afterEach(() => expect([runtime.runs.length, simulated.runs.length]).toEqual([0, 0]));
afterAll(() => runtime.close());

/** Name, what makes an operator, and whether its time is virtual. */
const cases = [
  ['a topology of one executor on threads', () => ordered({ runtime }), false],
  ['a topology of several on threads', () => scattered({ runtime }), false],
  ['a topology of several on the calling thread', () => scattered({ runtime, threads: 0 }), false],
  ['a topology of several on the simulated host, in virtual time', () => scattered({ runtime: simulated }), true],
] as const;

const upTo = (elements: number) =>
  pull(function* () {
    for (let n = 1; n <= elements; n++) yield n;
  });
const fails = () =>
  pull<number>(() => {
    throw new Error('no');
  });
const named = (rules: readonly Rule[], virtual: boolean) =>
  rules.map(({ id, title, check }) => [`${id} ${title}`, virtual ? () => inVirtualTime(check) : check] as const);

/** A millisecond a turn, as long as `check` takes. */
async function inVirtualTime(check: () => Promise<void>): Promise<void> {
  using clock = testClock();
  let over = false;
  const checked = check().finally(() => {
    over = true;
  });
  checked.catch(() => {});
  while (!over) {
    clock.advance(1);
    await new Promise(setImmediate);
  }
  await checked;
}

const options = { maxElements: 1_000, timeoutMs: 20_000 };

// C-081: §1.3 of these says that signals never overlap, from however many threads they come.
describe.each(cases)('toPublisher() of %s', (_name, operator, virtual) => {
  const make = (elements: number): Publisher<number> => toPublisher(upTo(elements).pipe(operator()));
  const failed = (): Publisher<number> => toPublisher(fails().pipe(operator()));
  test.each(named(publisherRules(make, { ...options, failed }), virtual))('%s', (_title, check) => check());
});

describe.each(cases)('toProcessor() of %s', (_name, operator, virtual) => {
  test.each(
    named(
      processorRules(() => toProcessor(operator()), options),
      virtual,
    ),
  )('%s', (_title, check) => check());
});

test('C-081: signals of four executors on two threads come one at a time, and as many as were requested', async () => {
  const publisher = toPublisher(upTo(5_000).pipe(scattered({ runtime })));
  let [running, deepest, received, requested] = [0, 0, 0, 0];
  let surplus = 0;
  await new Promise<void>((resolve, reject) => {
    const signal = (work: () => void): void => {
      deepest = Math.max(deepest, ++running);
      work();
      running--;
    };
    let request!: (n: number) => void;
    publisher.subscribe({
      onSubscribe: (subscription) =>
        signal(() => {
          request = (n) => {
            requested += n;
            subscription.request(n);
          };
          request(1);
        }),
      onNext: () =>
        signal(() => {
          received++;
          if (received > requested) surplus++;
          if (received === requested) request(1 + (received % 7));
        }),
      onError: (reason) => signal(() => reject(reason)),
      onComplete: () => signal(resolve),
    });
  });
  expect([deepest, received, surplus]).toEqual([1, 5_000, 0]);
});

test('through a processor and back: all values, and a publisher that is never asked for all', async () => {
  const asked: number[] = [];
  const processor = toProcessor(ordered({ runtime }));
  const numbers = toPublisher(upTo(3_000));
  numbers.subscribe({
    onSubscribe: (subscription) =>
      processor.onSubscribe({
        request: (n) => {
          asked.push(n);
          subscription.request(n);
        },
        cancel: () => subscription.cancel(),
      }),
    onNext: (value) => processor.onNext(value),
    onError: (reason) => processor.onError(reason),
    onComplete: () => processor.onComplete(),
  });
  const all = await firstValueFrom(fromPublisher(processor).pipe(toArray()));
  expect(all).toEqual(Array.from({ length: 3_000 }, (_, n) => n + 2));
  expect(Math.max(...asked)).toBeLessThan(3_000);
});
