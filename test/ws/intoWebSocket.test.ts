import { getEventListeners, once } from 'node:events';
import { concat, from, NEVER, Observable, of, Subject, throwError } from 'rxjs';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { pull } from '../../src/pull.js';
import { fromWebSocket } from '../../src/ws/fromWebSocket.js';
import { intoWebSocket } from '../../src/ws/intoWebSocket.js';
import { closeOf, type House, house, listenersOf, Played } from './fixtures/pair.js';

let at: House;

beforeAll(async () => {
  at = await house();
});

afterAll(() => at[Symbol.asyncDispose]());

afterEach(() => {
  vi.useRealTimers();
});

const error = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

/** What a socket receives, from now on. */
function received(socket: WebSocket): (string | Buffer)[] {
  const list: (string | Buffer)[] = [];
  socket.on('message', (data: Buffer, isBinary) => list.push(isBinary ? data : data.toString()));
  return list;
}

/** Values without end, and how many were asked for. */
function endless<T>(value: T): { readonly values: Observable<T>; readonly state: { asked: number; left: number } } {
  const state = { asked: 0, left: 0 };
  const values = pull(function* () {
    try {
      for (;;) {
        state.asked++;
        yield value;
      }
    } finally {
      state.left++;
    }
  });
  return { values, state };
}

describe('values', () => {
  test('strings are text, bytes are binary; the end closes with 1000 and resolves', async () => {
    const { client, server } = await at.pair();
    const list = received(server);
    const closed = closeOf(server);
    await intoWebSocket(
      pull(() => ['', 'ä', new Uint8Array([1, 2]), Buffer.from([3])]),
      client,
    );
    expect(list).toEqual(['', 'ä', Buffer.from([1, 2]), Buffer.from([3])]);
    expect(await closed).toBe(1000);
    expect(client.readyState).toBe(client.CLOSED);
    expect(listenersOf(client)).toBe(0);
  });

  test('it waits until the socket is open, and keeps what a source without demand emits meanwhile', async () => {
    let list: unknown[] = [];
    at.sockets.once('connection', (socket: WebSocket) => {
      list = received(socket);
    });
    const client = new WebSocket(at.url);
    const values = new Subject<string>();
    const sent = intoWebSocket(values, client);
    values.next('a');
    values.next('b');
    values.complete();
    await sent;
    expect(list).toEqual(['a', 'b']);
  });

  test('no values at all', async () => {
    const client = new WebSocket(at.url);
    await intoWebSocket(of(), client);
    expect(listenersOf(client)).toBe(0);
  });

  test('overflow is that of any edge', async () => {
    const client = new WebSocket(at.url);
    const many = Array.from({ length: 2_000 }, () => 'x');
    await expect(intoWebSocket(from(many), client)).rejects.toMatchObject({ code: 'ERR_HELD' });
    const { client: other, server } = await at.pair();
    const list = received(server);
    await intoWebSocket(from(many), other, { overflow: 'buffer' });
    expect(list.length).toBe(2_000);
  });

  test('a peer that always has room does not keep this thread: the loop turns within 8,192 values', async () => {
    const played = new Played();
    played.send = (value, done) => {
      played.calls.push(`send ${value}`);
      done?.();
    };
    const { values, state } = endless('x');
    const sent = intoWebSocket(values, played.socket);
    sent.catch(() => {});
    expect(state.asked).toBeLessThanOrEqual(8_192);
    expect(state.asked).toBeGreaterThan(500);
    const before = state.asked;
    await vi.waitFor(() => expect(state.asked).toBeGreaterThan(before), { interval: 0 });
    played.end(1006);
    await expect(sent).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  });
});

describe('room', () => {
  test('law: a peer that reads nothing stops the source: what waits is less than maxBufferedBytes and one value', async () => {
    const { client, server } = await at.pair();
    fromWebSocket(server);
    const max = 262_144;
    const value = new Uint8Array(65_536);
    let most = 0;
    const values = pull(function* () {
      for (;;) {
        most = Math.max(most, client.bufferedAmount);
        yield value;
      }
    });
    const leaving = new AbortController();
    const sent = intoWebSocket(values, client, { maxBufferedBytes: max, signal: leaving.signal });
    await vi.waitFor(() => expect(client.bufferedAmount).toBeGreaterThanOrEqual(max));
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(most).toBeLessThan(max);
    // A frame's header is at most 14 bytes.
    expect(client.bufferedAmount).toBeLessThan(max + value.length + 14);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    leaving.abort('enough');
    // It reads no close frame either.
    vi.advanceTimersByTime(5_000);
    await expect(sent).rejects.toBe('enough');
    server.terminate();
  });

  test('what others send counts, and it learns when that is gone', async () => {
    const played = new Played();
    played.bufferedAmount = 100;
    const sent = intoWebSocket(
      pull(() => ['a']),
      played.socket,
      { maxBufferedBytes: 100 },
    );
    expect(played.calls).toEqual(['ping']);
    played.bufferedAmount = 99;
    played.write();
    played.write();
    expect(played.calls).toEqual(['ping', 'send a', 'ping']);
    played.write();
    expect(played.calls).toEqual(['ping', 'send a', 'ping', 'close 1000']);
    played.end(1000);
    await sent;
  });

  test('others that ignore bufferedAmount, above the cap: 1013', async () => {
    const { client, server } = await at.pair();
    server.pause();
    const values = new Subject<string>();
    const sent = intoWebSocket(values, client);
    while (client.bufferedAmount <= 4_194_304) client.send(Buffer.alloc(65_536));
    values.next('late');
    expect(values.observed).toBe(false);
    const closed = closeOf(server);
    server.resume();
    await expect(sent).rejects.toEqual(error('ERR_OVERFLOW', 'more than 4194304: the peer does not read'));
    expect(await closed).toBe(1013);
  });

  test('one value may be larger than the cap', async () => {
    const { client, server } = await at.pair();
    const list = received(server);
    await intoWebSocket(of(Buffer.alloc(6_000_000), 'next'), client);
    expect(list.map((each) => each.length)).toEqual([6_000_000, 4]);
  });
});

describe('early ends', () => {
  const refusal = new Error('broken');

  test.each([
    ['an error of the source', 1011, () => throwError(() => refusal)],
    [
      'an error after values',
      1011,
      () =>
        concat(
          of('a'),
          throwError(() => refusal),
        ),
    ],
    [
      'an error of a pull',
      1011,
      () =>
        pull<string>(() => {
          throw refusal;
        }),
    ],
  ])('%s: %i, and it rejects with it', async (_, code, make) => {
    const { client, server } = await at.pair();
    const closed = closeOf(server);
    await expect(intoWebSocket(make(), client)).rejects.toBe(refusal);
    expect(await closed).toBe(code);
    expect(listenersOf(client)).toBe(0);
  });

  test.each([[1], [null], [{ a: 1 }], [new Uint16Array(1)]])('%j is no message: ERR_VALUE, 1011', async (value) => {
    const { client, server } = await at.pair();
    const closed = closeOf(server);
    const values = new Subject<string>();
    const sent = intoWebSocket(values, client);
    values.next(value as never);
    expect(values.observed).toBe(false);
    await expect(sent).rejects.toEqual(error('ERR_VALUE', 'intoWebSocket() sends strings and Uint8Array, got'));
    expect(await closed).toBe(1011);
  });

  test.each(['before', 'while it connects', 'while it waits', 'while it closes'])(
    'abort %s: 1001, and the reason',
    async (when) => {
      const leaving = new AbortController();
      const { signal } = leaving;
      if (when === 'before') leaving.abort('enough');
      if (when === 'while it connects') {
        const client = new WebSocket(at.url);
        const sent = intoWebSocket(NEVER, client, { signal });
        leaving.abort('enough');
        await expect(sent).rejects.toBe('enough');
        expect([client.readyState, listenersOf(client)]).toEqual([client.CLOSED, 0]);
        return;
      }
      const { client, server } = await at.pair();
      const closed = closeOf(server);
      const { values, state } = endless('x');
      server.on('message', () => {});
      // It answers when it reads on.
      if (when === 'while it closes') server.pause();
      const sent = intoWebSocket(when === 'while it closes' ? of('x') : values, client, { signal });
      if (when === 'while it waits') await once(server, 'message');
      if (when === 'while it closes')
        await vi.waitFor(() => expect(client.readyState).toBe(client.CLOSING), { interval: 0 });
      leaving.abort('enough');
      server.resume();
      await expect(sent).rejects.toBe('enough');
      expect(await closed).toBe(when === 'while it closes' ? 1000 : 1001);
      expect(state.left).toBe(when === 'while it waits' ? 1 : 0);
      expect(getEventListeners(signal, 'abort').length).toBe(0);
      expect(listenersOf(client)).toBe(0);
    },
  );

  test.each([
    ['close(1000)', 'was closed with code 1000 before the values had ended'],
    ['close(4000, "busy")', 'was closed with code 4000 ("busy") before the values had ended'],
    ['terminate()', '1006'],
  ])('the peer says %s: the source is left, and it rejects', async (how, message) => {
    const { client, server } = await at.pair();
    const { values, state } = endless('x');
    const sent = intoWebSocket(values, client);
    await once(server, 'message');
    if (how === 'terminate()') server.terminate();
    else if (how === 'close(1000)') server.close(1000);
    else server.close(4000, 'busy');
    await expect(sent).rejects.toEqual(error('ERR_CLOSED', message));
    expect(state.left).toBe(1);
    expect(listenersOf(client)).toBe(0);
  });

  test('nobody there: it rejects with the cause, and the source is left', async () => {
    const client = new WebSocket('ws://127.0.0.1:1');
    const values = new Subject<string>();
    const sent = intoWebSocket(values, client);
    await expect(sent).rejects.toMatchObject({ code: 'ERR_CLOSED', cause: { code: 'ECONNREFUSED' } });
    expect(values.observed).toBe(false);
  });

  test.each(['close', 'terminate'] as const)(
    'closing and closed at the call: nothing is subscribed (%s)',
    async (how) => {
      const { client } = await at.pair();
      client[how]();
      const values = new Observable<string>(() => expect.unreachable());
      await expect(intoWebSocket(values, client)).rejects.toEqual(error('ERR_CLOSED', 'is closing or closed already'));
      await closeOf(client);
    },
  );

  test('a frozen peer, which never answers: within a bound', async () => {
    const { client, server } = await at.pair();
    server.pause();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const sent = intoWebSocket(
      throwError(() => refusal),
      client,
    );
    await vi.waitFor(() => expect(client.readyState).toBe(client.CLOSING), { interval: 0 });
    vi.advanceTimersByTime(5_000);
    await expect(sent).rejects.toBe(refusal);
    const other = await at.pair();
    other.server.pause();
    const ended = intoWebSocket(of('x'), other.client);
    await vi.waitFor(() => expect(other.client.readyState).toBe(client.CLOSING), { interval: 0 });
    // That of ws itself, for who waits for an answer.
    vi.advanceTimersByTime(30_000);
    await expect(ended).rejects.toEqual(error('ERR_CLOSED', '1006'));
    expect(vi.getTimerCount()).toBe(0);
    for (const socket of [server, other.server]) socket.terminate();
  });
});

describe('refusals', () => {
  test.each([
    [{ maxBufferedBytes: 0 }, 'maxBufferedBytes of intoWebSocket() must be a whole number of bytes, at least 1, got 0'],
    [{ maxBufferedByte: 1 }, 'did you mean maxBufferedBytes?'],
    [{ signal: 1 }, 'signal of intoWebSocket() must be an AbortSignal'],
  ])('options: %j', async (options, message) => {
    const { client } = await at.pair();
    expect(() => intoWebSocket(of('a'), client, options as never)).toThrow(error('ERR_OPTION', message));
    expect(() => intoWebSocket(1 as never, client)).toThrow(
      error('ERR_OPTION', 'intoWebSocket() takes an Observable, got 1'),
    );
    expect(() => intoWebSocket(of('a'), {} as never)).toThrow(error('ERR_OPTION', 'which lacks on(), off(), send()'));
    expect(listenersOf(client)).toBe(0);
  });

  test('a socket is given once', async () => {
    const { client } = await at.pair();
    const sent = intoWebSocket(of('a'), client);
    expect(() => intoWebSocket(of('a'), client)).toThrow(error('ERR_OPTION', 'was called with this socket before'));
    await sent;
  });
});
