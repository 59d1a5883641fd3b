/** The types of Reactive Streams. They are proved by tsc; what little runs here only shows that the calls exist. */

import { map, type Observable, of } from 'rxjs';
import { describe, expectTypeOf, test } from 'vitest';
import {
  fromPublisher,
  fromRequest,
  type Processor,
  type Publisher,
  type RequestSink,
  type Subscriber,
  toProcessor,
  toPublisher,
} from '../../src/index.js';
import { publisherRules, type Rule, type subscriberRules } from '../../src/testing/index.js';

describe('Reactive Streams', () => {
  test('values keep their type on either way', () => {
    const publisher = toPublisher(of('a'));
    expectTypeOf(publisher).toEqualTypeOf<Publisher<string>>();
    expectTypeOf(fromPublisher(publisher)).toEqualTypeOf<Observable<string>>();
    expectTypeOf(toProcessor(map((word: string) => word.length))).toEqualTypeOf<Processor<string, number>>();
    expectTypeOf<Processor<string, number>>().toExtend<Subscriber<string>>();
    expectTypeOf<Processor<string, number>>().toExtend<Publisher<number>>();
    const ticks = fromRequest((sink: RequestSink<number>) => ({ request: () => sink.next(1), cancel: () => {} }));
    expectTypeOf(ticks).toEqualTypeOf<Observable<number>>();
  });

  test('rules are a list of checks', () => {
    expectTypeOf(publisherRules(() => toPublisher(of(1)))).toEqualTypeOf<readonly Rule[]>();
    expectTypeOf<Parameters<Parameters<typeof subscriberRules>[0]>[0]['steer']>().toBeFunction();
  });
});
