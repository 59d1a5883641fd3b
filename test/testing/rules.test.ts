import { map, mergeMap, type Observable, type OperatorFunction, range, throwError } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { askOf } from '../../src/demand.js';
import { fromPublisher } from '../../src/edges/fromPublisher.js';
import type { Publisher, Subscriber } from '../../src/edges/publisher.js';
import { toProcessor } from '../../src/edges/toProcessor.js';
import { toPublisher } from '../../src/edges/toPublisher.js';
import { pull } from '../../src/pull.js';
import { processorRules } from '../../src/testing/processorRules.js';
import { publisherRules } from '../../src/testing/publisherRules.js';
import { type Rule, type RuleId, titles, untested } from '../../src/testing/rules.js';
import { type SubscriberProbe, subscriberRules } from '../../src/testing/subscriberRules.js';
import { brokenProcessors } from './fixtures/brokenProcessors.js';
import { brokenPublishers, lawful as lawfulPublisher } from './fixtures/brokenPublishers.js';
import { brokenSubscribers, lawful as lawfulSubscriber } from './fixtures/brokenSubscribers.js';

const named = (rules: readonly Rule[]) => rules.map((rule) => [`${rule.id} ${rule.title}`, rule] as const);
const upTo = (elements: number) =>
  pull(function* () {
    for (let n = 1; n <= elements; n++) yield n;
  });
const fails = () => toPublisher(throwError(() => new Error('no')) as Observable<number>);

/** What `fromPublisher` subscribes, steered by asking its Observable. */
function ours(probe: SubscriberProbe<number>): Subscriber<number> {
  let subscribed: Subscriber<number> | undefined;
  const values = fromPublisher<number>({
    subscribe: (subscriber) => {
      subscribed = subscriber;
    },
  });
  const asked = askOf(values)!(probe);
  probe.steer({ request: (n) => asked.request(n), cancel: () => asked.unsubscribe() });
  return subscribed!;
}

describe.each([
  ['an Observable that is pulled', upTo],
  ['a plain Observable', (elements: number) => range(1, elements)],
] as const)('toPublisher() of %s', (_name, values) => {
  // The queue of a plain one is bounded: values that nobody has requested wait.
  const make = (elements: number) => toPublisher(values(elements), { overflow: 'buffer' });
  test.each(named(publisherRules(make, { failed: fails })))('%s', (_title, rule) => rule.check());
});

describe('the subscriber of fromPublisher()', () => {
  test.each(named(subscriberRules(ours)))('%s', (_title, rule) => rule.check());
});

const operators: readonly (readonly [string, () => OperatorFunction<number, number>])[] = [
  ['an RxJS operator', () => map((n) => n + 1)],
  ['an asynchronous RxJS operator', () => mergeMap(async (n) => n + 1, 1)],
  ['an operator that asks', () => (values) => fromPublisher(toPublisher(values))],
];
describe.each(operators)('toProcessor() of %s', (_name, operator) => {
  const rules = processorRules(() => toProcessor(operator()), { maxElements: 2_000 });
  test.each(named(rules))('%s', (_title, rule) => rule.check());
});

describe('the kit', () => {
  const quick = { timeoutMs: 50, seed: 1 };
  const publishers = (make: (elements: number) => Publisher<number>, failed?: () => Publisher<number>) =>
    publisherRules(make, { ...quick, maxElements: 200, ...(failed === undefined ? {} : { failed }) });
  const subscribers = (make: (probe: SubscriberProbe<number>) => Subscriber<number>) => subscriberRules(make, quick);

  const broken: readonly (readonly [id: RuleId, flaw: string, rules: readonly Rule[]])[] = [
    ...brokenPublishers.map(([id, flaw, make, failed]) => [id, flaw, publishers(make, failed)] as const),
    ...brokenSubscribers.map(([id, flaw, make]) => [id, flaw, subscribers(make)] as const),
    ...brokenProcessors.map(([id, flaw, make]) => [id, flaw, processorRules(make, quick)] as const),
  ];

  test.each(broken)('%s fails for one that %s', async (id, _flaw, rules) => {
    const rule = rules.find((other) => other.id === id)!;
    const failure = await rule.check().then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(failure).toMatchObject({ name: 'AssertionError' });
    expect(failure!.message).toContain(`Reactive Streams ${id}, ${titles[id]}, is broken: `);
    expect(failure!.message).toMatch(/\(seed \d+\)$/);
  });

  test.each(named([...publisherRules(lawfulPublisher), ...subscriberRules(lawfulSubscriber)]))(
    'passes one that keeps %s',
    (_title, rule) => rule.check(),
  );

  test('every rule can fail', () => {
    const failing = new Set(broken.map(([id]) => id));
    const all = [
      ...publishers(upTo2, fails),
      ...subscribers(ours),
      ...processorRules(() => toProcessor(map((n) => n))),
    ];
    expect([...new Set(all.map(({ id }) => id))].filter((id) => !failing.has(id as RuleId))).toEqual([]);
  });

  test('every rule of the specification is checked, or it is said why not', () => {
    const numbers = { 1: 11, 2: 13, 3: 17, 4: 2 };
    const ids = Object.entries(numbers).flatMap(([part, count]) =>
      Array.from({ length: count }, (_, index) => `§${part}.${index + 1}`),
    );
    expect(Object.keys(titles)).toEqual(ids);
    const checked = new Set(processorRules(() => toProcessor(map((n) => n))).map(({ id }) => id));
    expect(ids.filter((id) => checked.has(id) === (untested[id as RuleId] !== undefined))).toEqual([]);
  });

  test('what a check draws comes of its seed', async () => {
    const requests = async (seed: number): Promise<readonly number[]> => {
      const seen: number[] = [];
      const make = (elements: number): Publisher<number> => {
        const publisher = toPublisher(upTo(elements));
        return {
          subscribe: (subscriber) =>
            publisher.subscribe({
              onSubscribe: (subscription) =>
                subscriber.onSubscribe({
                  request: (n) => {
                    seen.push(n);
                    subscription.request(n);
                  },
                  cancel: () => subscription.cancel(),
                }),
              onNext: (value) => subscriber.onNext(value),
              onError: (reason) => subscriber.onError(reason),
              onComplete: () => subscriber.onComplete(),
            }),
        };
      };
      await publisherRules(make, { seed })[0]!.check();
      return seen;
    };
    const [one, again, other] = [await requests(1), await requests(1), await requests(2)];
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  });

  test('§1.4 is left out where nothing makes a publisher that fails', () => {
    expect(publisherRules(upTo2).map(({ id }) => id)).not.toContain('§1.4');
    expect(publisherRules(upTo2, { failed: fails }).map(({ id }) => id)).toContain('§1.4');
  });

  test.each([
    [() => publisherRules(3 as never), 'publisherRules() takes a function'],
    [() => publisherRules(upTo2, { maxElements: 3 }), 'maxElements of publisherRules()'],
    [() => publisherRules(upTo2, { failed: 1 as never }), 'failed of publisherRules()'],
    [() => subscriberRules(ours, { timeoutMs: 0 }), 'timeoutMs of subscriberRules()'],
    [() => subscriberRules(ours, { sed: 1 } as never), 'did you mean seed?'],
    [() => processorRules(() => toProcessor(map((n) => n)), { seed: -1 }), 'seed of processorRules()'],
    [() => processorRules((() => {}) as never, [] as never), 'the options of processorRules()'],
  ])('refuses wrong options %#', (call, message) => {
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) }));
  });

  test('a subscriber that cannot be steered is told so', async () => {
    const [rule] = subscriberRules(() =>
      ours({ steer: () => {}, next: () => {}, error: () => {}, complete: () => {} }),
    );
    await expect(rule!.check()).rejects.toThrow('probe.steer()');
  });
});

function upTo2(elements: number): Publisher<number> {
  return toPublisher(upTo(elements));
}
