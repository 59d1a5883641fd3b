/** The asynchronous context of a subscription: everything that is called for a subscriber is called in it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRuntime, type Run } from 'millrace';
import { from, Observable, of } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { decodes, heard, relay } from './fixtures/context.js';

const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());

const who = new AsyncLocalStorage<string>();

/** What was called, and for whom; resolved at the end of the run. */
function callsOf(
  name: string,
  make: (called: (what: string) => void) => Observable<unknown>,
): Promise<readonly string[]> {
  const calls: string[] = [];
  return new Promise((resolve) => {
    who.run(name, () => {
      const called = (what: string): void => void calls.push(`${what}: ${who.getStore() ?? 'nobody'}`);
      const end = (what: string): void => {
        called(what);
        resolve([...new Set(calls)]);
      };
      make(called).subscribe({
        next: () => called('next'),
        error: () => end('error'),
        complete: () => end('complete'),
      });
    });
  });
}

describe.each([
  ['on threads', {}],
  ['on the calling thread', { threads: 0 }],
] as const)('%s', (_way, way) => {
  const options = { runtime, ...way };

  test('next, error, complete, onRun and the source see the context of the subscriber', async () => {
    const run = (name: string, values: readonly number[]): Promise<readonly string[]> =>
      callsOf(name, (called) => {
        const input$ = new Observable<number>((subscriber) => {
          called('source');
          return from(values).subscribe(subscriber);
        });
        return input$.pipe(relay({ ...options, onRun: (_run: Run) => called('onRun') }));
      });
    const names = ['ann', 'ben', 'cem', 'dot'];
    const all = await Promise.all(names.map((name, i) => run(name, i % 2 === 0 ? [1, 2, 3] : [1, -1])));
    names.forEach((name, i) => {
      const end = i % 2 === 0 ? 'complete' : 'error';
      expect(all[i]).toEqual([`onRun: ${name}`, `source: ${name}`, `next: ${name}`, `${end}: ${name}`]);
    });
  });

  test('a codec that decodes for a subscriber does it in its context', async () => {
    const calls: (string | undefined)[] = [];
    heard.decoded = () => void calls.push(who.getStore());
    await callsOf('eve', () => of(1, 2).pipe(decodes(options)));
    expect(calls).toEqual(['eve', 'eve']);
  });

  test('steps on the calling thread run in the context of the subscriber; on a thread they have none of it', async () => {
    const calls: (string | undefined)[] = [];
    heard.stepped = () => void calls.push(who.getStore());
    await callsOf('gus', () => of(1, 2).pipe(decodes(options)));
    expect(calls).toEqual('threads' in way ? ['gus', 'gus'] : []);
  });

  test('an abort reaches the subscriber in its own context, not in that of whoever aborts', async () => {
    const stop = new AbortController();
    const calls = callsOf('fay', (called) => {
      const never$ = new Observable<number>((subscriber) => subscriber.next(1));
      return new Observable((subscriber) => {
        const inner = never$.pipe(relay({ ...options, signal: stop.signal }));
        return inner.subscribe({
          next: () => who.run('somebody else', () => stop.abort()),
          error: (reason: unknown) => {
            called('aborted');
            subscriber.error(reason);
          },
        });
      });
    });
    expect(await calls).toEqual(['aborted: fay', 'error: fay']);
  });
});
