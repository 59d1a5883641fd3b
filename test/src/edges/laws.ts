/** The laws of every adapter that hands values to a reader. */

import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { Observable, Subject } from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import { isMillraceError } from '../../../runtime/errors.js';
import type { Overflow } from '../../../runtime/overflow.js';
import type { EdgeOptions } from '../../../src/edges/edge.js';
import { counted } from '../fixtures/kinds.js';
import { broken, type Kind, kinds, Track } from './sources.js';

export interface Reader {
  /** One value (of toAsyncBatches: one batch), `undefined` at the end; rejects with an error. */
  take(): Promise<readonly unknown[] | undefined>;
  /** Ways to leave, by name. */
  readonly leave: Readonly<Record<string, () => unknown>>;
  /** Listeners that are left on a sink. */
  readonly listeners?: () => number;
}

export interface Adapter {
  readonly name: string;
  readonly open: (values: Observable<unknown>, options: EdgeOptions) => Reader;
  /** How many values it may have asked for beyond what was taken. */
  readonly ahead: number;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function rest(reader: Reader, taken: unknown[]): Promise<unknown> {
  try {
    for (;;) {
      const values = await reader.take();
      if (values === undefined) return 'complete';
      taken.push(...values);
    }
  } catch (reason) {
    return reason;
  }
}

async function closed(track: Track): Promise<void> {
  for (let n = 0; n < 50 && track.closed < track.opened; n++) await turn();
  expect(track.closed).toBe(track.opened);
}

const shape = fc.record({ length: fc.nat({ max: 30 }), fails: fc.boolean() });
const kind = fc.constantFrom(...(Object.values(kinds) as Kind[]));
const buffer = { overflow: 'buffer' } as const;

/** Counts of listeners of this process, by event. */
const listening = (): string =>
  JSON.stringify(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));

export function lawsOf(adapters: readonly Adapter[], exits = 1_000): void {
  describe.each(adapters)('$name', ({ open, ahead }) => {
    test.each(Object.keys(kinds))(
      'law: nothing lost, repeated or reordered, never more than requested, closed at the end: %s',
      async (name) => {
        const { make, ahead: early } = kinds[name] as Kind;
        await fc.assert(
          fc.asyncProperty(shape, fc.array(fc.boolean(), { maxLength: 12 }), async (drawn, pauses) => {
            const track = new Track();
            const reader = open(make(track, drawn) as Observable<unknown>, buffer);
            const taken: unknown[] = [];
            for (const pause of pauses) {
              if (pause) await turn();
              if (taken.length === drawn.length) break;
              const values = await reader.take().catch((reason) => {
                // A Node stream and a Web stream give up what was not read when they fail.
                expect([reason, drawn.fails]).toEqual([broken, true]);
              });
              if (values === undefined) break;
              taken.push(...values);
              expect(track.given).toBeLessThanOrEqual(taken.length + ahead + early);
            }
            const end = await rest(reader, taken);
            expect(taken).toEqual(counted(taken.length));
            if (!drawn.fails) expect([taken.length, end]).toEqual([drawn.length, 'complete']);
            await closed(track);
          }),
          { numRuns: 40 },
        );
      },
    );

    test(`law: ${exits} early exits at random points close the source, and leave no listener and no rejection behind`, async () => {
      const rejections: unknown[] = [];
      const onRejection = (reason: unknown): void => void rejections.push(reason);
      process.on('unhandledRejection', onRejection);
      const before = listening();
      const shared = new AbortController();
      const exit = fc.record({
        count: fc.nat({ max: 8 }),
        waiting: fc.boolean(),
        turns: fc.nat({ max: 1 }),
        way: fc.nat(),
      });
      try {
        await fc.assert(
          fc.asyncProperty(kind, exit, async ({ make }, { count, waiting, turns, way }) => {
            const track = new Track();
            const own = way % 3 === 0 ? new AbortController() : shared;
            const values = make(track, { length: 12, fails: way % 2 === 0 }) as Observable<unknown>;
            const reader = open(values, { ...buffer, signal: own.signal });
            const taken: unknown[] = [];
            for (let n = 0; n < count; n++) {
              const more = await reader.take().catch(() => undefined);
              if (more === undefined) break;
              taken.push(...more);
            }
            const pending = waiting ? reader.take().catch(() => undefined) : undefined;
            for (let n = 0; n < turns; n++) await turn();
            const ways = Object.values(reader.leave);
            if (own === shared) await ways[way % ways.length]?.();
            else own.abort(new Error('enough'));
            await pending;
            // A sink is over when what it has been given is.
            await rest(reader, []);
            await closed(track);
            expect(taken).toEqual(counted(taken.length));
            expect(getEventListeners(own.signal, 'abort')).toEqual([]);
            for (let n = 0; n < 50 && (reader.listeners?.() ?? 0) > 0; n++) await turn();
            expect(reader.listeners?.() ?? 0).toBe(0);
          }),
          { numRuns: exits },
        );
        await turn();
        expect([rejections, listening()]).toEqual([[], before]);
      } finally {
        process.off('unhandledRejection', onRejection);
      }
    });

    test('aborted before, it rejects with the reason and does not open the source', async () => {
      for (const { make } of Object.values(kinds)) {
        const track = new Track();
        const signal = AbortSignal.abort('enough');
        const reader = open(make(track, { length: 3, fails: false }) as Observable<unknown>, { signal });
        expect(await rest(reader, [])).toBe('enough');
        expect([track.opened, getEventListeners(signal, 'abort')]).toEqual([0, []]);
      }
    });

    test('left while it subscribes, it leaves what it has just subscribed', async () => {
      const left = vi.fn();
      let reader: Reader | undefined;
      const opened = new Promise<void>((resolve) => {
        const values = new Observable(() => {
          queueMicrotask(resolve);
          Object.values(reader?.leave ?? {})[0]?.();
          return left;
        });
        reader = open(values, {});
        reader.take().catch(() => undefined);
      });
      await opened;
      if (Object.keys(reader?.leave ?? {})[0] !== undefined && left.mock.calls.length === 0)
        // One that subscribes while it is opened has nobody yet who could leave it.
        await Object.values((reader as unknown as Reader).leave)[0]?.();
      await vi.waitFor(() => expect(left).toHaveBeenCalledTimes(1));
    });

    test('law: of a source that cannot be asked, what is taken and what is dropped make up what it emitted', async () => {
      const strategy = fc.constantFrom<Overflow>(
        'auto',
        'block',
        'dropOldest',
        'dropNewest',
        'latest',
        'error',
        'buffer',
      );
      await fc.assert(
        fc.asyncProperty(
          strategy,
          fc.integer({ min: 1, max: 5 }),
          fc.nat({ max: 20 }),
          async (how, capacity, length) => {
            const subject = new Subject<number>();
            const dropped: unknown[] = [];
            const onDrop = (value: unknown): void => void dropped.push(value);
            const reader = open(subject, { overflow: { strategy: how, capacity, onDrop } });
            const taken: unknown[] = [];
            const reading = rest(reader, taken);
            await turn();
            expect(subject.observed).toBe(true);
            for (let n = 0; n < length; n++) subject.next(n);
            subject.complete();
            const end = await reading;
            const order = (a: unknown, b: unknown): number => (a as number) - (b as number);
            expect(taken).toEqual([...taken].sort(order));
            if (end === 'complete') expect([...taken, ...dropped].sort(order)).toEqual(counted(length));
            else {
              expect(isMillraceError(end) && end.code).toBe(how === 'block' ? 'ERR_HELD' : 'ERR_OVERFLOW');
              expect(taken).toEqual(counted(taken.length));
            }
            if (how === 'buffer') expect(taken).toEqual(counted(length));
            expect(subject.observed).toBe(false);
          },
        ),
        { numRuns: 100 },
      );
    });
  });

  test('wrong options are told at once', () => {
    const [{ open }] = adapters as [Adapter];
    const wrong = (options: object) => () => open(new Subject(), options);
    for (const options of [{ signla: 1 }, { signal: 1 }, { overflow: 'dropOdlest' }, { overflow: { capacity: 0 } }])
      expect(wrong(options)).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
    expect(() => open({} as Observable<unknown>, {})).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
  });
}
