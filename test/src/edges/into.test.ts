import { execFile } from 'node:child_process';
import { EventEmitter, getEventListeners, once } from 'node:events';
import { Duplex, PassThrough, Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Subject, throwError } from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import { Asked } from '../../../src/demand.js';
import { into } from '../../../src/edges/into.js';
import { pull } from '../../../src/pull.js';
import { counted } from '../fixtures/kinds.js';
import { type Adapter, lawsOf, type Reader } from './laws.js';
import { broken, turn, watched } from './sources.js';

/** A sink that takes a value when a test takes it: `write` is the sink's, `take` the test's. */
class Gate {
  readonly #written: unknown[] = [];
  #open: (() => void) | undefined;
  #look: () => void = () => {};
  #end: { readonly reason: unknown } | 'complete' | undefined;

  write(value: unknown, open: () => void): void {
    this.#written.push(value);
    this.#open = open;
    this.#look();
  }

  over(end: { readonly reason: unknown } | 'complete'): void {
    this.#end = end;
    this.#look();
  }

  take(): Promise<readonly unknown[] | undefined> {
    return new Promise((resolve, reject) => {
      this.#look = () => {
        const open = this.#open;
        if (open !== undefined) {
          this.#open = undefined;
          this.#look = () => {};
          resolve([this.#written.shift()]);
          open();
        } else if (this.#end === 'complete') resolve(undefined);
        else if (this.#end !== undefined) reject(this.#end.reason);
      };
      this.#look();
    });
  }
}

const intoNode = (highWaterMark: number): Adapter => ({
  name: `into() a Writable with highWaterMark ${highWaterMark}`,
  ahead: highWaterMark + 1,
  open(values, options): Reader {
    const gate = new Gate();
    const sink = new Writable({ objectMode: true, highWaterMark, write: (value, _, done) => gate.write(value, done) });
    into(values, sink, options).then(
      () => gate.over('complete'),
      (reason) => gate.over({ reason }),
    );
    return {
      take: () => gate.take(),
      leave: {
        destroy: () => sink.destroy(),
        'destroy with an error': () => sink.destroy(broken),
        end: () => sink.end(),
      },
      listeners: () => sink.eventNames().reduce((sum, name) => sum + sink.listenerCount(name), 0),
    };
  },
});

const intoWeb = (highWaterMark: number): Adapter => ({
  name: `into() a WritableStream with highWaterMark ${highWaterMark}`,
  ahead: highWaterMark + 1,
  open(values, options): Reader {
    const gate = new Gate();
    let controller: WritableStreamDefaultController | undefined;
    const sink = new WritableStream<unknown>(
      {
        start(given) {
          controller = given;
        },
        write: (value) => new Promise<void>((resolve) => gate.write(value, resolve)),
      },
      { highWaterMark },
    );
    into(values, sink, options).then(
      () => gate.over('complete'),
      (reason) => gate.over({ reason }),
    );
    return {
      take: () => gate.take(),
      leave: {
        error: () => controller?.error(broken),
      },
      listeners: () => Number(sink.locked),
    };
  },
});
lawsOf([intoNode(1), intoNode(16), intoWeb(1), intoWeb(4)], 250);

const count = (sink: EventEmitter): number =>
  sink.eventNames().reduce((sum, name) => sum + sink.listenerCount(name), 0);

describe('into() a Node sink', () => {
  test('that always has room, from a source that always has a value: the event loop has its turns, and a signal is heard', async () => {
    const { values, closed } = watched(Number.POSITIVE_INFINITY);
    const sink = new Writable({ objectMode: true, highWaterMark: 1e9, write: (_value, _encoding, done) => done() });
    const timeout = AbortSignal.timeout(20);
    await expect(into(values, sink, { signal: timeout })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(closed()).toBe(1);
  });

  test('objects, bytes and text; it resolves when all is finished', async () => {
    const seen: unknown[] = [];
    const log: string[] = [];
    const objects = new Writable({
      objectMode: true,
      highWaterMark: 3,
      write(value, _, done) {
        seen.push(value);
        setImmediate(done);
      },
      final(done) {
        log.push('final');
        setImmediate(done);
      },
    });
    objects.on('finish', () => log.push('finish'));
    await into(
      pull(() => [...counted(50), undefined]),
      objects,
    );
    expect([seen, log, objects.destroyed, count(objects)]).toEqual([
      [...counted(50), undefined],
      ['final', 'finish'],
      true,
      1,
    ]);
    const bytes = new PassThrough({ highWaterMark: 8 });
    const text = bytes.toArray();
    await Promise.all([
      into(
        pull(() => ['the mill ', Buffer.from('turns'), '\n'.repeat(20)]),
        bytes,
      ),
      text,
    ]);
    expect(Buffer.concat(await text).toString()).toBe(`the mill turns${'\n'.repeat(20)}`);
  });

  test('asks for one value when there is room, and waits for drain', async () => {
    const asks: number[] = [];
    let give: () => void = () => {};
    const written: (() => void)[] = [];
    const sink = new Writable({ objectMode: true, highWaterMark: 2, write: (_, __, done) => void written.push(done) });
    sink.write('of somebody else');
    sink.write('that fills it');
    expect(sink.writableNeedDrain).toBe(true);
    const values = new Asked<number>((observer) => {
      give = () => observer.next(7);
      return { request: (n) => void asks.push(n), unsubscribe: () => void asks.push(0) };
    });
    const poured = into(values, sink);
    poured.catch(() => {});
    expect(asks).toEqual([]);
    written.shift()?.();
    written.shift()?.();
    await turn();
    while (written.length > 0) written.shift()?.();
    await turn();
    expect(asks).toEqual([1]);
    give();
    expect(asks).toEqual([1, 1]);
    give();
    expect(asks).toEqual([1, 1]);
    sink.destroy();
    await expect(poured).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    expect([asks, count(sink)]).toEqual([[1, 1, 0], 0]);
  });

  test('a sink that fails in write, at once or later, or in final', async () => {
    for (const later of [false, true]) {
      const { values, closed } = watched();
      const fail = (done: (error: Error) => void): unknown => (later ? setImmediate(done, broken) : done(broken));
      const sink = new Writable({
        objectMode: true,
        write: (value, _, done) => void (value === 5 ? fail(done) : done()),
      });
      await expect(into(values, sink)).rejects.toBe(broken);
      await turn();
      expect([closed(), sink.destroyed, count(sink)]).toEqual([1, true, 0]);
    }
    const { values, closed } = watched();
    const sink = new Writable({ objectMode: true, write: (_, __, done) => done(), final: (done) => done(broken) });
    await expect(into(values, sink)).rejects.toBe(broken);
    expect([closed(), count(sink)]).toEqual([1, 0]);
  });

  test('what write() itself refuses closes both', async () => {
    const { values, closed } = watched();
    const sink = new PassThrough();
    await expect(into(values, sink as Writable)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    await turn();
    expect([closed(), sink.destroyed]).toEqual([1, true]);
    const objects = new PassThrough({ objectMode: true });
    await expect(
      into(
        pull(() => [1, null]),
        objects,
      ),
    ).rejects.toMatchObject({ code: 'ERR_VALUE' });
    expect(objects.destroyed).toBe(true);
  });

  test('a sink that is over already: the source is not opened', async () => {
    const make = vi.fn(() => [1]);
    const destroyed = new PassThrough().destroy();
    await expect(into(pull(make), destroyed)).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    const ended = new PassThrough();
    ended.end();
    await expect(into(pull(make), ended)).rejects.toMatchObject({ code: 'ERR_CLOSED' });
    const failed = new PassThrough();
    failed.on('error', () => {});
    failed.destroy(broken);
    await expect(into(pull(make), failed)).rejects.toBe(broken);
    expect(make).not.toHaveBeenCalled();
  });

  test('ended by somebody else', async () => {
    const subject = new Subject<string>();
    const sink = new Writable({ write: (_, __, done) => done() });
    const poured = into(subject, sink);
    sink.end();
    await expect(poured).rejects.toMatchObject({ code: 'ERR_CLOSED' });
    expect([subject.observed, count(sink)]).toEqual([false, 0]);
  });

  test('an error of the source, or an abort, destroys the sink with it', async () => {
    for (const reason of [broken, 'broken', undefined]) {
      const sink = new Writable({ objectMode: true, write: (_, __, done) => done() });
      await expect(
        into(
          throwError(() => reason),
          sink,
        ),
      ).rejects.toBe(reason);
      await turn();
      expect([sink.destroyed, sink.errored ?? undefined, count(sink)]).toEqual([true, reason, 0]);
    }
  });

  test('an abort is heard while the sink finishes', async () => {
    const kinds = [
      (ending: () => void) => new Writable({ objectMode: true, write: (_, __, done) => done(), final: () => ending() }),
      (ending: () => void) =>
        new WritableStream({
          close() {
            ending();
            return new Promise<void>(() => {});
          },
        }),
    ];
    for (const make of kinds) {
      const controller = new AbortController();
      let poured: Promise<void> = Promise.resolve();
      await new Promise<void>((resolve) => {
        poured = into(
          pull(() => [1]),
          make(resolve),
          { signal: controller.signal },
        );
      });
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
      controller.abort(broken);
      await expect(poured).rejects.toBe(broken);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    }
  });

  test('one side of a Duplex', async () => {
    const seen: unknown[] = [];
    const duplex = new Duplex({
      objectMode: true,
      read() {},
      write(value, _, done) {
        seen.push(value);
        done();
      },
    });
    await into(
      pull(() => counted(3)),
      duplex,
    );
    expect([seen, duplex.destroyed]).toEqual([[0, 1, 2], false]);
    duplex.destroy();
  });

  test('process.stdout: all is written, and it stays open', { timeout: 20_000 }, async () => {
    const index = fileURLToPath(new URL('../../../src/index.ts', import.meta.url));
    const script = `
      import { into, pull } from ${JSON.stringify(index)};
      const lines = Array.from({ length: 20000 }, (_, n) => n + '\\n');
      await into(pull(() => lines), process.stdout);
      await into(pull(function* () { yield 'more\\n'; throw new Error('broken'); }), process.stdout).catch(() => {});
      const left = ['drain', 'error', 'finish', 'close'].map((name) => process.stdout.listenerCount(name));
      console.log(process.stdout.writable, new Set(left).size < 3);`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', script],
      { maxBuffer: 1e7 },
    );
    expect(stdout).toBe(`${counted(20_000).join('\n')}\nmore\ntrue true\n`);
  });
});

test('what is no sink, or locked, is told at once', () => {
  const locked = new WritableStream<number>();
  locked.getWriter();
  for (const sink of [locked, undefined, null, {}, Readable.from([]), new EventEmitter(), new ReadableStream()])
    expect(() => into(new Subject<number>(), sink as Writable)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION' }),
    );
  const free = new WritableStream<number>();
  expect(() => into(new Subject<number>(), free, { signla: 1 } as object)).toThrow();
  expect(free.locked).toBe(false);
});

test('a sink without `drain` trouble has no listener of ours afterwards', async () => {
  const sink = new Writable({ objectMode: true, write: (_, __, done) => done() });
  const finished = once(sink, 'close');
  await into(
    pull(() => counted(5)),
    sink,
  );
  await finished;
  expect(count(sink)).toBe(0);
});
