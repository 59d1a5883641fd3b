/** Both directions against models over lists; the test is the peer. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DemandObserver } from '../../runtime/demand.js';
import { Asked } from '../../src/demand.js';
import { Reading } from '../../src/ws/fromWebSocket.js';
import { intoWebSocket } from '../../src/ws/intoWebSocket.js';
import { seenBy } from '../src/fixtures/asking.js';
import { listenersOf, Played } from './fixtures/pair.js';

describe('fromWebSocket', () => {
  type Step =
    | { readonly read: number }
    | { readonly ask: number }
    | { readonly end: number }
    | 'fail'
    | 'leave'
    | 'subscribe';
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ read: fc.integer({ min: 1, max: 5 }) }) },
    { weight: 5, arbitrary: fc.record({ ask: fc.integer({ min: 1, max: 5 }) }) },
    { weight: 1, arbitrary: fc.record({ end: fc.constantFrom(1000, 1001, 1005, 1006, 1011, 4000) }) },
    { weight: 1, arbitrary: fc.constantFrom('fail', 'leave', 'subscribe') },
  );

  test('law: messages arrive in order, as many as were asked for, then the end; without demand the socket is paused', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.array(fc.nat(3)), fc.boolean(), (steps, within, early) => {
        const played = new Played();
        if (early) played.readyState = 0;
        const reading = new Reading(played.socket, 100);
        const seen = seenBy(() => {
          const more = within[seen.values.length - 1] ?? 0;
          if (more > 0) reading.request(more);
        });
        // The model: what has arrived, how much may leave, and how it ended.
        const arrived: string[] = [];
        let demand = 0;
        let left = false;
        let subscribed = false;
        let end: 'complete' | 'ERR_SOURCE' | undefined;
        let given = 0;
        const give = (): void => {
          while (subscribed && !left && given < Math.min(arrived.length, demand)) demand += within[given++] ?? 0;
        };
        let burst = 0;
        if (early) {
          played.readyState = 1;
          played.emit('open');
        }
        for (const what of steps) {
          if (what === 'subscribe') {
            if (!subscribed) reading.ask(seen.observer);
            subscribed = true;
          } else if (what === 'leave') {
            if (subscribed) reading.unsubscribe();
            left ||= subscribed && (end === undefined || given < arrived.length);
          } else if (what === 'fail') {
            if (played.listenerCount('error') > 0) played.emit('error', new Error('broken'));
            if (!left) end ??= 'ERR_SOURCE';
          } else if ('end' in what) {
            played.end(what.end);
            if (!left) end ??= what.end <= 1005 && what.end !== 1011 ? 'complete' : 'ERR_SOURCE';
          } else if ('ask' in what) {
            if (subscribed) {
              reading.request(what.ask);
              demand += what.ask;
            }
          } else if (!played.isPaused && played.readyState === 1) {
            // One read: what was parsed is delivered, even if the first message pauses the socket.
            burst = Math.max(burst, what.read);
            for (let i = 0; i < what.read; i++) {
              const text = `${arrived.length}`;
              if (end === undefined && !left) arrived.push(text);
              played.emit('message', Buffer.from(text), false);
            }
          }
          give();
          const ended = subscribed && !left && end !== undefined && given === arrived.length;
          expect(seen.values).toEqual(arrived.slice(0, given));
          expect(
            seen.ends.map((reason) => (reason === 'complete' ? reason : (reason as { code: string }).code)),
          ).toEqual(ended ? [end] : []);
          expect(reading.waiting).toBe(left ? 0 : arrived.length - given);
          expect(reading.waiting).toBeLessThanOrEqual(burst);
          if (end === undefined && !left && played.readyState === 1) expect(played.isPaused).toBe(demand <= given);
          if (played.readyState === 3) expect(listenersOf(played.socket)).toBe(0);
        }
        played.end(1006);
        expect(listenersOf(played.socket)).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});

describe('intoWebSocket', () => {
  type Step = 'give' | 'write' | 'end' | { readonly others: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 5, arbitrary: fc.constant<Step>('give') },
    { weight: 5, arbitrary: fc.constant<Step>('write') },
    { weight: 1, arbitrary: fc.constant<Step>('end') },
    { weight: 1, arbitrary: fc.record({ others: fc.integer({ min: 1, max: 30 }) }) },
  );

  test('law: one value is asked for at a time, and only while less than maxBufferedBytes waits; the end closes behind the last', async () => {
    const max = 10;
    const lengths = fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), lengths, fc.boolean(), async (steps, sizes, early) => {
        const played = new Played();
        if (early) played.readyState = 0;
        let asked = 0;
        let given: string[] = [];
        let observer: DemandObserver<string> | undefined;
        const source = new Asked<string>((to) => {
          observer = to;
          return {
            request(n) {
              expect([n, played.bufferedAmount < max, asked - given.length]).toEqual([1, true, 0]);
              asked += n;
            },
            unsubscribe: () => {},
          };
        });
        const sent = intoWebSocket(source, played.socket, { maxBufferedBytes: max });
        if (early) {
          expect(asked).toBe(0);
          played.readyState = 1;
          played.emit('open');
        }
        const theirs = new Set<() => void>();
        let ended = false;
        for (const what of steps) {
          if (what === 'give') {
            if (asked === given.length || ended) continue;
            const value = 'x'.repeat(sizes[given.length % sizes.length] as number);
            given = [...given, value];
            observer?.next(value);
          } else if (what === 'write') played.write();
          else if (what === 'end') {
            if (!ended) observer?.complete();
            ended = true;
          } else {
            played.send('y'.repeat(what.others), () => {});
            played.calls.pop();
            theirs.add(played.sent.at(-1)!);
          }
          if (played.sent.some((done) => !theirs.has(done))) expect(played.calls).not.toContain('close 1000');
          // With room, and nothing under way that would say so later, it has asked.
          if (!ended && played.bufferedAmount < max && played.sent.length === 0) expect(asked).toBe(given.length + 1);
        }
        if (!ended) observer?.complete();
        while (played.sent.length > 0) played.write();
        const calls = played.calls.filter((call) => call !== 'ping');
        expect(calls).toEqual([...given.map((value) => `send ${value}`), 'close 1000']);
        played.end(1000);
        await sent;
        expect(listenersOf(played.socket)).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});
