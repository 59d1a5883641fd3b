/**
 * webSocket: texts of 100 bytes from one end of a socket on the loopback to the other, both ends in this process, against `ws` by hand: a
 * sender that waits while more than 1 MiB is buffered, and a listener.
 */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pull } from 'millrace';
import { fromWebSocket, intoWebSocket } from 'millrace/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { type Bench, compare, type Side } from './kit.js';

const count = 50_000;
const text = 'x'.repeat(100);
const maxBufferedBytes = 2 ** 20;

async function* texts(): AsyncGenerator<string> {
  for (let n = 0; n < count; n++) yield text;
}

/** Values a second through a new pair of sockets; `run` resolves to the characters that came. */
function side(name: string, run: (from: WebSocket, to: WebSocket) => Promise<number>): Side {
  return {
    name,
    async measure() {
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
      await once(server, 'listening');
      const to = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const [[from]] = (await Promise.all([once(server, 'connection'), once(to, 'open')])) as [[WebSocket], unknown];
      const started = performance.now();
      const characters = await run(from, to);
      const seconds = (performance.now() - started) / 1000;
      if (characters !== count * text.length) throw new Error(`${name} brought ${characters} characters`);
      server.close();
      return count / seconds;
    },
  };
}

async function withDemand(from: WebSocket, to: WebSocket): Promise<number> {
  let characters = 0;
  const received = new Promise<void>((resolve, reject) => {
    fromWebSocket(to).subscribe({ next: (each) => (characters += each.length), error: reject, complete: resolve });
  });
  const values = pull(function* () {
    for (let n = 0; n < count; n++) yield text;
  });
  await Promise.all([intoWebSocket(values, from), received]);
  return characters;
}

async function byHand(from: WebSocket, to: WebSocket): Promise<number> {
  let characters = 0;
  to.on('message', (data) => (characters += String(data).length));
  const closed = once(to, 'close');
  for await (const each of texts()) {
    if (from.bufferedAmount < maxBufferedBytes) from.send(each);
    else await new Promise((resolve) => from.send(each, resolve));
  }
  from.close(1000);
  await closed;
  return characters;
}

export const webSocket: Bench = {
  name: 'webSocket',
  about: 'texts/s of 100 bytes from socket to socket, both in this process, against ws by hand',
  async run(report) {
    await compare(report, {
      name: 'into and from',
      unit: 'values/s',
      side: side('intoWebSocket', withDemand),
      against: side('send, on message', byHand),
      goal: { atLeast: 1 },
      threads: 1,
    });
  },
};
