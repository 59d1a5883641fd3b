/** Early exits of either side, at random: nothing is left of them. */
import fc from 'fast-check';
import { concatMap, type Observable, Subject, take, throwError } from 'rxjs';
import { expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import type { DemandSubscription } from '../../runtime/demand.js';
import { askOf } from '../../src/demand.js';
import { pull } from '../../src/pull.js';
import { fromWebSocket } from '../../src/ws/fromWebSocket.js';
import { intoWebSocket } from '../../src/ws/intoWebSocket.js';
import { seenBy } from '../src/fixtures/asking.js';
import { type House, house, listenersOf } from './fixtures/pair.js';

const exits = fc.record({
  /** The server sends so many values and ends, or fails, or goes on for ever. */
  values: fc.nat(30),
  ending: fc.constantFrom('end', 'end', 'end', 'fail', 'fail', 'wrong', 'wrong', 'forever'),
  size: fc.constantFrom(1, 200, 3_000),
  reader: fc.constantFrom('take', 'all', 'unsubscribe', 'asked', 'unasked', 'small'),
  taken: fc.integer({ min: 1, max: 20 }),
  stroke: fc.constantFrom('none', 'abort', 'client close', 'client terminate', 'server close', 'server terminate'),
  /** Turns of the event loop before the stroke. */
  turns: fc.nat(4),
  connecting: fc.boolean(),
});

type Exit = typeof exits extends fc.Arbitrary<infer T> ? T : never;

function valuesOf({ values, ending, size }: Exit): Observable<string> {
  return pull(function* () {
    for (let i = 0; i < values; i++) yield 'x'.repeat(size);
    if (ending === 'fail') throw new Error('broken');
    if (ending === 'wrong') yield 1 as unknown as string;
    // Short ones would be a million until a peer that does not read holds them up.
    while (ending === 'forever') yield 'x'.repeat(10_000);
  });
}

/** Begins to read as the exit says; the client's own listeners are those of the adapter. */
function read(client: WebSocket, { reader, taken }: Exit): () => void {
  const values = fromWebSocket(client, reader === 'small' ? { maxPayload: 100 } : {});
  if (reader === 'asked' || reader === 'unasked') {
    const asked = askOf(values)?.(seenBy().observer) as DemandSubscription;
    if (reader === 'asked') asked.request(taken);
    return () => asked.unsubscribe();
  }
  const wanted = reader === 'take' ? values.pipe(take(taken)) : values;
  const subscription = wanted.subscribe({ error: () => {} });
  if (reader === 'unsubscribe') setImmediate(() => subscription.unsubscribe());
  return () => subscription.unsubscribe();
}

const isClosed = (socket: WebSocket): Promise<undefined> =>
  socket.readyState === socket.CLOSED
    ? Promise.resolve(undefined)
    : new Promise((resolve) => socket.once('close', () => resolve(undefined)));

async function leave(at: House, exit: Exit): Promise<readonly string[]> {
  const opening = exit.connecting ? at.begin() : undefined;
  const pair = opening ?? (await at.pair());
  const { client } = pair;
  const done = read(client, exit);
  // It may be left before the server has seen it.
  const server = await Promise.race([pair.server, isClosed(client)]);
  const leaving = new AbortController();
  const sent =
    server === undefined
      ? undefined
      : intoWebSocket(valuesOf(exit), server, { signal: leaving.signal }).catch(() => {});
  for (let turn = 0; turn < exit.turns; turn++) await new Promise(setImmediate);
  if (exit.stroke === 'abort') leaving.abort();
  if (exit.stroke === 'client close') client.close(4000);
  if (exit.stroke === 'client terminate') client.terminate();
  if (exit.stroke === 'server close') server?.close();
  if (exit.stroke === 'server terminate') server?.terminate();
  for (let turn = 0; turn < exit.turns; turn++) await new Promise(setImmediate);
  done();
  await Promise.all([sent, isClosed(client), server && isClosed(server)]);
  return [client, ...(server === undefined ? [] : [server])].flatMap((socket) => socket.eventNames().map(String));
}

test('law: 1,000 early exits leave no socket, no listener, no rejection and no handle', async () => {
  const unhandled: unknown[] = [];
  const hear = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', hear);
  const handles = (): number => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
  const before = handles();
  {
    await using at = await house();
    const own = listenersOf(at.sockets as unknown as WebSocket);
    const all = fc.sample(exits, 1_000);
    const left: (readonly string[])[] = [];
    const worker = async (): Promise<void> => {
      for (let exit = all.pop(); exit !== undefined; exit = all.pop()) left.push(await leave(at, exit));
    };
    await Promise.all(Array.from({ length: 20 }, worker));
    expect(left.length).toBe(1_000);
    expect(left.flat()).toEqual([]);
    await Promise.all(at.servers.map(isClosed));
    expect(at.servers.length).toBeGreaterThan(800);
    expect(at.servers.flatMap((socket) => socket.eventNames())).toEqual([]);
    expect(listenersOf(at.sockets as unknown as WebSocket)).toBe(own);
  }
  // A connection that was given up before it stood is gone a little later than its socket says.
  await vi.waitFor(() => expect(handles()).toBe(before));
  process.off('unhandledRejection', hear);
  expect(unhandled).toEqual([]);
});

test('reading and writing one socket: who stops reading does not cut off what is still sent', async () => {
  await using at = await house();
  const { client, server } = await at.pair();
  const replies = new Subject<string>();
  const sent = intoWebSocket(replies, server);
  const texts: string[] = [];
  const first = new Promise<void>((resolve) => {
    fromWebSocket(server)
      .pipe(take(1))
      .subscribe((text) => {
        replies.next(`${text}!`);
        resolve();
      });
  });
  const received = new Promise<number>((resolve) => client.once('close', resolve));
  client.on('message', (data) => texts.push(String(data)));
  client.send('a');
  await first;
  // What is sent to who no longer reads is thrown away.
  client.send('b');
  replies.next('c');
  replies.complete();
  await sent;
  expect(texts).toEqual(['a!', 'c']);
  expect(await received).toBe(1000);
  expect(listenersOf(server)).toBe(0);
});

test('reading and writing one socket: the peer hears of an error by 1011, though reading stops before', async () => {
  await using at = await house();
  const { client, server } = await at.pair();
  const failing = fromWebSocket(server).pipe(concatMap(() => throwError(() => new Error('broken'))));
  const closed = new Promise<number>((resolve) => client.once('close', resolve));
  const sent = intoWebSocket(failing, server);
  client.send('a');
  await expect(sent).rejects.toThrow('broken');
  expect(await closed).toBe(1011);
});
