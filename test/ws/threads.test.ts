/** Messages from a socket through threads and back. */
import { pull } from 'millrace';
import { fromWebSocket, intoWebSocket } from 'millrace/ws';
import { lastValueFrom, take, toArray } from 'rxjs';
import { expect, test } from 'vitest';
import { marked } from './fixtures/marked.js';
import { house, listenersOf } from './fixtures/pair.js';

const count = 10_000;

/** Texts and bytes, empty, short and long. */
function messageOf(i: number): string | Uint8Array {
  const length = i % 1_000 === 0 ? 40_000 : (i * 7) % 100;
  return i % 3 === 0 ? Uint8Array.from({ length }, (_, at) => i + at) : `${i}`.padEnd(length, 'ä').slice(0, length);
}

test('law: 10,000 messages of mixed kinds go through threads and come back, in order', async () => {
  await using at = await house();
  const { client, server } = await at.pair();
  const serving = intoWebSocket(fromWebSocket(server).pipe(marked()), server, { maxBufferedBytes: 65_536 });
  const refused = expect(serving).rejects.toMatchObject({
    code: 'ERR_CLOSED',
    message: expect.stringContaining('1000'),
  });
  const replies = lastValueFrom(fromWebSocket(client).pipe(take(count), toArray()));
  const asking = intoWebSocket(
    pull(async function* () {
      for (let i = 0; i < count; i++) yield messageOf(i);
      // A WebSocket has no half-close: who ends first hears no more.
      await replies;
    }),
    client,
  );
  const received = await replies;
  await asking;
  await refused;
  expect(received.length).toBe(count);
  const wrong = received.findIndex((reply, i) => {
    const message = messageOf(i);
    const expected = typeof message === 'string' ? `${message}!` : message.toReversed();
    return (
      typeof reply !== typeof expected ||
      Buffer.compare(Buffer.from(reply as string), Buffer.from(expected as string)) !== 0
    );
  });
  expect(wrong).toBe(-1);
  expect([listenersOf(client), listenersOf(server)]).toEqual([0, 0]);
});

test('a topology whose results go to a peer that does not read stops its source', async () => {
  await using at = await house();
  const { client, server } = await at.pair();
  fromWebSocket(server);
  let pulled = 0;
  const leaving = new AbortController();
  const values = pull(function* () {
    for (;;) {
      pulled++;
      yield 'x'.repeat(4_096);
    }
  });
  const sent = intoWebSocket(values.pipe(marked()), client, { maxBufferedBytes: 65_536, signal: leaving.signal });
  const settled = expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  // It has come to rest when no more was pulled in 200 turns.
  for (
    let still = 0, last = -1;
    still < 200;
    still = pulled === last && pulled > 0 && client.bufferedAmount > 0 ? still + 1 : 0
  ) {
    last = pulled;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(client.bufferedAmount).toBeLessThan(65_536 + 4_096 + 28);
  leaving.abort();
  client.terminate();
  await settled;
});
