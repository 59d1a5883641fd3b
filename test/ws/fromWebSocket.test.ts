import { once } from 'node:events';
import { lastValueFrom, type Observable, take, toArray } from 'rxjs';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { DemandSubscription } from '../../runtime/demand.js';
import { askOf } from '../../src/demand.js';
import { fromWebSocket, Reading } from '../../src/ws/fromWebSocket.js';
import { type Seen, seenBy } from '../src/fixtures/asking.js';
import { closeOf, type House, house, listenersOf } from './fixtures/pair.js';

let at: House;

beforeAll(async () => {
  at = await house();
});

afterAll(() => at[Symbol.asyncDispose]());

afterEach(() => {
  vi.useRealTimers();
});

const sourceError = (message: string) =>
  expect.objectContaining({ code: 'ERR_SOURCE', message: expect.stringContaining(message) });

/** Asks for so many, and says what was seen. */
function asking(values: Observable<unknown>, n: number): Seen & { readonly asked: DemandSubscription } {
  const { observer, ...seen } = seenBy();
  const asked = askOf(values)?.(observer) as DemandSubscription;
  if (n > 0) asked.request(n);
  return { ...seen, asked };
}

const all = (values: Observable<string | Uint8Array>) => lastValueFrom(values.pipe(toArray()), { defaultValue: [] });

describe('messages', () => {
  test('text is a string, binary is bytes of its own, and empty ones are messages too', async () => {
    const { client, server } = await at.pair();
    const received = all(fromWebSocket(client));
    for (const each of ['', 'ä', Buffer.from([1, 2]), new Uint8Array(0), 'end']) server.send(each);
    server.close(1000);
    const values = await received;
    expect(values).toEqual(['', 'ä', new Uint8Array([1, 2]), new Uint8Array(0), 'end']);
    const bytes = values[2] as Uint8Array;
    expect([bytes.constructor, bytes.buffer.byteLength]).toEqual([Uint8Array, 2]);
  });

  test.each(['nodebuffer', 'arraybuffer', 'fragments'] as const)('whatever the binaryType: %s', async (binaryType) => {
    const { client, server } = await at.pair();
    client.binaryType = binaryType;
    const received = all(fromWebSocket(client));
    server.send(new Uint8Array([1, 2, 3]), { fin: false });
    server.send(new Uint8Array([4]));
    server.send('text');
    server.close(1000);
    expect(await received).toEqual([new Uint8Array([1, 2, 3, 4]), 'text']);
  });

  test('those sent at once, before an await of open resumes, are there', async () => {
    const greet = (socket: WebSocket): void => ['hello', 'again'].forEach((text) => void socket.send(text));
    at.sockets.once('connection', greet);
    const client = new WebSocket(at.url);
    const received = fromWebSocket(client);
    await once(client, 'open');
    await new Promise(setImmediate);
    expect(await lastValueFrom(received.pipe(take(2), toArray()))).toEqual(['hello', 'again']);
  });

  test('law: without demand nothing arrives; with some, so many', async () => {
    const { client, server } = await at.pair();
    const { values, asked } = asking(fromWebSocket(client), 0);
    expect(client.isPaused).toBe(true);
    for (let i = 0; i < 5; i++) server.send(`${i}`);
    expect(values).toEqual([]);
    asked.request(2);
    await vi.waitFor(() => expect(values).toEqual(['0', '1']));
    expect(client.isPaused).toBe(true);
    asked.request(3);
    await vi.waitFor(() => expect(values).toEqual(['0', '1', '2', '3', '4']));
    asked.unsubscribe();
    expect(await closeOf(server)).toBe(1000);
  });

  test('50,000 requests of one within next', async () => {
    const { client, server } = await at.pair();
    const reading = new Reading(client, 100);
    const count = 50_000;
    const seen = seenBy(() => reading.request(1));
    reading.ask(seen.observer).request(1);
    for (let i = 0; i < count; i++) server.send('x');
    server.close();
    await vi.waitFor(() => expect(seen.ends).toEqual(['complete']), 5_000);
    expect(seen.values.length).toBe(count);
  });
});

test('law: a sender that ignores bufferedAmount meets the pause: what waits here is one read, whatever it sends', async () => {
  const { client, server } = await at.pair();
  const reading = new Reading(client, 1_024);
  const count = 12_000;
  let waited = 0;
  const seen = seenBy(() => {
    waited = Math.max(waited, reading.waiting);
  });
  const asked = reading.ask(seen.observer);
  const text = (i: number): string => `${i} `.padEnd(1_024, '.');
  for (let i = 0; i < count; i++) server.send(text(i));
  asked.request(1);
  await vi.waitFor(() => expect(seen.values.length).toBe(1));
  // All that the kernel takes is a part: the rest waits at the sender.
  expect(server.bufferedAmount).toBeGreaterThan(1_048_576);
  // 64 KiB of frames of 1,028 bytes, and the one they complete.
  expect(reading.waiting).toBeLessThanOrEqual(64);
  for (let n = 1; n < count; n += Math.min(37, count - n)) {
    asked.request(Math.min(37, count - n));
    waited = Math.max(waited, reading.waiting);
    await vi.waitFor(() => expect(seen.values.length).toBe(Math.min(n + 37, count)), { interval: 0 });
  }
  expect(waited).toBeLessThanOrEqual(64);
  expect(seen.values.every((value, i) => value === text(i))).toBe(true);
  asked.unsubscribe();
  expect(await closeOf(server)).toBe(1000);
});

describe('the end', () => {
  test.each([1000, 1001, 1005])('code %i completes, behind what waits', async (code) => {
    const { client, server } = await at.pair();
    const { values, ends, asked } = asking(fromWebSocket(client), 1);
    for (const text of ['a', 'b', 'c']) server.send(text);
    if (code === 1005) server.close();
    else server.close(code);
    await vi.waitFor(() => expect(values).toEqual(['a']));
    expect(ends).toEqual([]);
    asked.request(2);
    await vi.waitFor(() => expect(ends).toEqual(['complete']));
    expect(values).toEqual(['a', 'b', 'c']);
    expect(listenersOf(client)).toBe(0);
  });

  test('any other code is an error with code and reason', async () => {
    const { client, server } = await at.pair();
    const received = all(fromWebSocket(client));
    server.close(4001, 'no such room');
    await expect(received).rejects.toEqual(sourceError('code 4001 ("no such room")'));
  });

  test('a lost connection is an error', async () => {
    const { client, server } = await at.pair();
    const received = all(fromWebSocket(client));
    server.terminate();
    await expect(received).rejects.toEqual(sourceError('lost without a close frame (1006)'));
  });

  test('nobody there: an error, with its cause', async () => {
    const client = new WebSocket('ws://127.0.0.1:1');
    await expect(all(fromWebSocket(client))).rejects.toMatchObject({
      code: 'ERR_SOURCE',
      cause: { code: 'ECONNREFUSED' },
    });
    expect(listenersOf(client)).toBe(0);
  });

  test.each(['close', 'terminate'] as const)('closing and closed at the call: an error (%s)', async (how) => {
    const { client } = await at.pair();
    client[how]();
    const values = fromWebSocket(client);
    await expect(all(values)).rejects.toEqual(sourceError('is closing or closed already'));
    await closeOf(client);
    expect(listenersOf(client)).toBe(0);
  });

  test('subscribed when it had ended: the end is heard', async () => {
    const { client, server } = await at.pair();
    const values = fromWebSocket(client);
    client.resume();
    server.send('last');
    server.close(1000);
    await closeOf(client);
    expect(await all(values)).toEqual(['last']);
  });

  test('a message above maxPayload: what came before it, an error, and 1009', async () => {
    const { client, server } = await at.pair();
    const { values, ends } = asking(fromWebSocket(client, { maxPayload: 10 }), Number.POSITIVE_INFINITY);
    for (const text of ['x'.repeat(10), 'x'.repeat(11), 'y']) server.send(text);
    expect(await closeOf(server)).toBe(1009);
    await vi.waitFor(() => expect(listenersOf(client)).toBe(0));
    expect(values).toEqual(['x'.repeat(10)]);
    expect(ends).toEqual([sourceError('a message of 11 bytes, more than maxPayload (10)')]);
  });

  test("a message above the socket's own maxPayload: the same, with its cause", async () => {
    const client = new WebSocket(at.url, { maxPayload: 10 });
    at.sockets.once('connection', (socket: WebSocket) => socket.send('x'.repeat(11)));
    const received = all(fromWebSocket(client));
    await expect(received).rejects.toEqual(sourceError("larger than the socket's own maxPayload"));
    await expect(received).rejects.toMatchObject({ cause: { code: 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' } });
  });
});

describe('leaving', () => {
  test('closes with 1000, and what is under way is let go', async () => {
    const { client, server } = await at.pair();
    for (let i = 0; i < 5_000; i++) server.send('x'.repeat(1_000));
    const { values, asked } = asking(fromWebSocket(client), 3);
    await vi.waitFor(() => expect(values.length).toBe(3));
    asked.unsubscribe();
    asked.unsubscribe();
    asked.request(5);
    await Promise.all([closeOf(server).then((code) => expect(code).toBe(1000)), closeOf(client)]);
    expect(values.length).toBe(3);
    expect(listenersOf(client)).toBe(0);
  });

  test('while it connects', async () => {
    const client = new WebSocket(at.url);
    fromWebSocket(client).subscribe().unsubscribe();
    await closeOf(client);
    expect(listenersOf(client)).toBe(0);
  });

  test('while somebody has begun to close it before it was open', async () => {
    const client = new WebSocket(at.url);
    const subscription = fromWebSocket(client).subscribe();
    client.close();
    subscription.unsubscribe();
    await closeOf(client);
    expect(listenersOf(client)).toBe(0);
  });

  test('a frozen peer, which never answers: within a bound', async () => {
    const { client, server } = await at.pair();
    server.pause();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    fromWebSocket(client).subscribe().unsubscribe();
    vi.advanceTimersByTime(4_999);
    expect(client.readyState).toBe(client.CLOSING);
    const closed = closeOf(client);
    vi.advanceTimersByTime(1);
    expect(await closed).toBe(1006);
    expect(listenersOf(client)).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    server.terminate();
  });
});

describe('refusals', () => {
  test('a second subscription is an error, and the first goes on', async () => {
    const { client, server } = await at.pair();
    const values = fromWebSocket(client);
    const first = all(values);
    await expect(all(values)).rejects.toMatchObject({ code: 'ERR_NOT_REPEATABLE' });
    server.send('a');
    server.close(1000);
    expect(await first).toEqual(['a']);
  });

  test('a socket is given once', async () => {
    const { client } = await at.pair();
    fromWebSocket(client);
    expect(() => fromWebSocket(client)).toThrow(/ERR_OPTION: fromWebSocket\(\) was called with this socket before/);
  });

  test.each([
    [undefined, 'got undefined, which lacks on()'],
    [
      { on() {}, off() {}, send() {}, ping() {}, close() {}, terminate() {}, readyState: 1, bufferedAmount: 0 },
      'got an object of Object, which lacks pause(), resume()',
    ],
    [
      {
        ...Object.fromEntries(
          ['on', 'off', 'send', 'ping', 'close', 'terminate', 'pause', 'resume'].map((name) => [name, () => {}]),
        ),
      },
      'lacks readyState, bufferedAmount',
    ],
  ])('what is no socket of ws: %#', (socket, message) => {
    expect(() => fromWebSocket(socket as unknown as WebSocket)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) }),
    );
  });

  test.each([
    [null, 'the options of fromWebSocket() must be an object, got null'],
    [{ maxpayload: 1 }, 'did you mean maxPayload?'],
    [{ maxPayload: 0 }, 'maxPayload of fromWebSocket() must be a whole number of bytes, at least 1, got 0'],
    [{ maxPayload: '1' }, 'got "1"'],
  ])('options: %j', async (options, message) => {
    const { client } = await at.pair();
    expect(() => fromWebSocket(client, options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) }),
    );
    Object.defineProperty(client, 'binaryType', { value: 'blob' });
    expect(() => fromWebSocket(client)).toThrow(/binaryType "nodebuffer", got "blob"/);
    expect(listenersOf(client)).toBe(0);
  });
});
