/**
 * One run of `flat` in a process of its own: `node --expose-gc --import tsx flatRun.ts SOURCE WARM_UP_MS MEASURED_MS`. An endless
 * source feeds the topology, through the end of the measured time; one line of JSON says by how many bytes memory has grown since
 * the warm-up, and how many values came.
 */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pull } from 'millrace';
import { fromWebSocket, intoWebSocket } from 'millrace/ws';
import { Observable } from 'rxjs';
import { WebSocket, WebSocketServer } from 'ws';
import { type Row, slowest } from './flatTopology.js';

export interface Growth {
  readonly source: string;
  readonly values: number;
  /** Heap used after a forced collection, and shared memory with all other buffers. */
  readonly heapAndShared: number;
  readonly rss: number;
}

const [source = '', warmUpMs = '5000', measuredMs = '60000'] = process.argv.slice(2);
const text = 'x'.repeat(200);
const row = (id: number): Row => ({ id, text });

function* rows(): Generator<Row> {
  for (let id = 0; ; id++) yield row(id);
}

async function* rowsLater(): AsyncGenerator<Row> {
  for (let id = 0; ; id++) yield row(id);
}

const sources: Readonly<Record<string, () => Promise<Observable<Row | string | Uint8Array>>>> = {
  synchronous: async () =>
    new Observable((subscriber) => {
      for (let id = 0; !subscriber.closed; id++) subscriber.next(row(id));
    }),
  pull: async () => pull(rows),
  asyncGenerator: async () => pull(rowsLater),
  nodeStream: async () => {
    let id = 0;
    return pull(
      () =>
        new Readable({
          objectMode: true,
          read() {
            void this.push(row(id++));
          },
        }),
    );
  },
  webSocket: async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
    server.on('connection', (socket) => {
      const texts = pull(function* () {
        for (const each of rows()) yield JSON.stringify(each);
      });
      intoWebSocket(texts, socket).catch(() => {});
    });
    await once(server, 'listening');
    const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return fromWebSocket(socket);
  },
};

interface Reading {
  readonly heapAndShared: number;
  readonly rss: number;
}

function read(): Reading {
  (globalThis as unknown as { gc(): void }).gc();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return { heapAndShared: heapUsed + arrayBuffers, rss };
}

const make = sources[source];
if (make === undefined) throw new Error(`no source ${source}: there are ${Object.keys(sources).join(', ')}`);
/** Of the first value: a process that starts is not measured. */
let started: number | undefined;
let before: Reading | undefined;
let values = 0;
const input$ = await make();
input$.pipe(slowest()).subscribe({
  next: () => {
    started ??= performance.now();
    const nowMs = performance.now() - started;
    if (before === undefined) {
      if (nowMs >= Number(warmUpMs)) before = read();
      return;
    }
    values++;
    if (nowMs < Number(warmUpMs) + Number(measuredMs)) return;
    const after = read();
    const growth: Growth = {
      source,
      values,
      heapAndShared: after.heapAndShared - before.heapAndShared,
      rss: after.rss - before.rss,
    };
    console.log(JSON.stringify(growth));
    process.exit(0);
  },
  error: (reason: unknown) => {
    throw reason;
  },
});
