/** The public types of millrace/ws. */

import { type Observable, of } from 'rxjs';
import { describe, expectTypeOf, test } from 'vitest';
import type { WebSocket } from 'ws';
import type { Overflow, OverflowOptions } from '../../src/index.js';
import {
  type FromWebSocketOptions,
  fromWebSocket,
  type IntoWebSocketOptions,
  intoWebSocket,
} from '../../src/ws/index.js';

describe('sockets', () => {
  test('messages are strings and bytes, both ways', () => {
    expectTypeOf(fromWebSocket).parameter(0).toEqualTypeOf<WebSocket>();
    expectTypeOf(fromWebSocket).returns.toEqualTypeOf<Observable<string | Uint8Array>>();
    expectTypeOf(intoWebSocket).parameter(0).toEqualTypeOf<Observable<string | Uint8Array>>();
    expectTypeOf(intoWebSocket).returns.toEqualTypeOf<Promise<void>>();
    expectTypeOf(of(Buffer.from('a'))).toExtend<Parameters<typeof intoWebSocket>[0]>();
    expectTypeOf(of(1)).not.toExtend<Parameters<typeof intoWebSocket>[0]>();
  });

  test('options', () => {
    expectTypeOf<FromWebSocketOptions>().toEqualTypeOf<{ readonly maxPayload?: number }>();
    expectTypeOf<IntoWebSocketOptions['maxBufferedBytes']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<IntoWebSocketOptions['signal']>().toEqualTypeOf<AbortSignal | undefined>();
    expectTypeOf<IntoWebSocketOptions['overflow']>().toEqualTypeOf<Overflow | OverflowOptions | undefined>();
  });
});
