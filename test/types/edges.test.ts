/** The types of edges to async iterables and streams. They are proved by tsc; what little runs here only shows that the calls exist. */

import { Readable, Writable } from 'node:stream';
import { type Observable, of } from 'rxjs';
import { describe, expectTypeOf, test } from 'vitest';
import {
  type EdgeOptions,
  into,
  type Overflow,
  type OverflowOptions,
  toAsyncBatches,
  toAsyncIterable,
  toReadable,
  toReadableStream,
} from '../../src/index.js';

describe('edges', () => {
  test('values keep their type', () => {
    expectTypeOf(toAsyncIterable(of('a'))).toEqualTypeOf<AsyncIterableIterator<string>>();
    expectTypeOf(toAsyncBatches(of('a'), { batch: 2 })).toEqualTypeOf<AsyncIterableIterator<readonly string[]>>();
    expectTypeOf(toReadable(of('a'), { highWaterMark: 2 })).toEqualTypeOf<Readable>();
    expectTypeOf(toReadableStream(of('a'), { highWaterMark: 2 })).toEqualTypeOf<ReadableStream<string>>();
    const sink = new Writable({ objectMode: true, write: (_, __, done) => done() });
    expectTypeOf(into(of('a'), sink)).toEqualTypeOf<Promise<void>>();
    expectTypeOf(into(of('a'), new WritableStream<string>())).toEqualTypeOf<Promise<void>>();
    expectTypeOf(into<string>)
      .parameter(1)
      .toEqualTypeOf<Writable | WritableStream<string>>();
  });

  test('options', () => {
    expectTypeOf<EdgeOptions['overflow']>().toEqualTypeOf<Overflow | OverflowOptions | undefined>();
    expectTypeOf<EdgeOptions['signal']>().toEqualTypeOf<AbortSignal | undefined>();
    // @ts-expect-error there is no buffer of its own
    expectTypeOf(toAsyncIterable<string>).toBeCallableWith(of('a'), { highWaterMark: 2 });
    // @ts-expect-error a Readable is no sink
    expectTypeOf(into<string>).toBeCallableWith(of('a') as Observable<string>, Readable.from([]));
  });
});
