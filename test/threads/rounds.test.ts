import { createHook } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { createRuntime, type MillraceError, pull, type Run } from 'millrace';
import { concat, NEVER, type Observable, of, range, Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { first, observe, until, valuesOf } from './fixtures/observe.js';
import { collected, heap, round } from './fixtures/rounds.js';

const long = process.env['MILLRACE_LONG'] === '1';

/** Timers, ports and threads that are alive, also those that do not keep the process alive. */
function living(): { readonly counts: () => Readonly<Record<string, number>>; stop(): void } {
  const kinds = new Map<number, string>();
  const hook = createHook({
    init: (id, kind) => void (['Timeout', 'MESSAGEPORT', 'WORKER'].includes(kind) && kinds.set(id, kind)),
    destroy: (id) => void kinds.delete(id),
  }).enable();
  const counts = (): Readonly<Record<string, number>> => {
    const found: Record<string, number> = {};
    for (const kind of kinds.values()) found[kind] = (found[kind] ?? 0) + 1;
    return found;
  };
  return { counts, stop: () => hook.disable() };
}

/** Threads that keep the process alive. */
function holding(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;
}

/** The ways in which a run ends, in turn; each is waited for. */
async function oneRound(kind: number, how: object, signal: AbortSignal): Promise<void> {
  let run: Run | undefined;
  const run$ = (input: Observable<number>): Observable<readonly [number, number]> =>
    input.pipe(round({ ...how, signal, onRun: (started) => (run = started) }));
  switch (kind) {
    case 0:
      expect(await valuesOf(run$(range(0, 6)))).toHaveLength(6);
      break;
    case 1: {
      const { subscription, values } = first(run$(concat(range(0, 6), NEVER)), 2);
      await values;
      subscription.unsubscribe();
      break;
    }
    case 2:
      expect(((await observe(run$(of(1, -1)))).end as MillraceError).code).toBe('ERR_OPERATOR');
      break;
    case 3: {
      const input = new Subject<number>();
      run$(input).subscribe().unsubscribe();
      expect(input.observed).toBe(false);
      break;
    }
    case 4:
      expect(await valuesOf(run$(pull(() => [1, 2, 3])))).toHaveLength(3);
      break;
  }
  expect(run?.metrics().out).toBeGreaterThanOrEqual(0);
}

test.each([
  ['on threads', 3, long ? 10_000 : 400],
  ['on the calling thread', 0, long ? 10_000 : 250],
] as const)(
  'law: rounds of subscribing and leaving leave nothing behind, %s',
  { timeout: long ? 600_000 : 60_000 },
  async (_, threads, rounds) => {
    const settled = long ? 200 : 50;
    const warnings: Error[] = [];
    const hear = (warning: Error): void =>
      void (/^(Millrace|MaxListeners)/.test(warning.name) && warnings.push(warning));
    process.on('warning', hear);
    const held = holding();
    const { counts, stop } = living();
    const runtime = createRuntime({ threads: 3 });
    const how = { runtime, ...(threads === 0 && { threads }) };
    // One signal for all: a listener that stays would be found on it.
    const { signal } = new AbortController();
    const heapOfThreads = async (): Promise<number> => {
      const sizes = await Promise.all([1, 2, 3].map((n) => valuesOf(of(n).pipe(heap({ runtime })))));
      return sizes.flat().reduce((sum, bytes) => sum + bytes, 0);
    };
    /** When all threads are back. */
    const quiet = (): Promise<void> => until(() => holding() === held);
    let bytes = 0;
    let there = 0;
    let alive: Readonly<Record<string, number>> = {};
    for (let i = 0; i < rounds; i += 5) {
      if (i === settled) {
        there = await heapOfThreads();
        await quiet();
        alive = counts();
        bytes = collected();
      }
      await Promise.all([0, 1, 2, 3, 4].map((kind) => oneRound(kind, how, signal)));
    }
    const thereNow = await heapOfThreads();
    await quiet();
    expect(alive['WORKER']).toBe(3);
    const { Timeout: timers = 0, ...portsAndThreads } = counts();
    const { Timeout: timersThen = 0, ...portsAndThreadsThen } = alive;
    expect(portsAndThreads).toEqual(portsAndThreadsThen);
    // The test runner has some of its own.
    expect(timers).toBeLessThan(timersThen + 5);
    // A run that stayed would be tens of kilobytes each; the bound is a kilobyte each, and what a heap wavers by.
    const bound = 2_000_000 + (rounds - settled) * 1000;
    expect(collected() - bytes).toBeLessThan(bound);
    expect(thereNow - there).toBeLessThan(3 * bound);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(runtime.runs).toEqual([]);
    await runtime.close();
    await until(() => counts()['WORKER'] === undefined);
    expect(warnings).toEqual([]);
    process.off('warning', hear);
    stop();
  },
);
