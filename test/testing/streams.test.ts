/** Streams fed and read by hand, against Subject and toArray of RxJS. */
import fc from 'fast-check';
import * as rx from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import { captured } from '../../src/testing/captured.js';
import { feeder } from '../../src/testing/feeder.js';

type Call = readonly ['next', number] | readonly ['error', string] | readonly ['complete'] | readonly ['subscribe'];
const calls = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(fc.constant('next' as const), fc.nat()) },
    { weight: 2, arbitrary: fc.tuple(fc.constant('subscribe' as const)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('error' as const), fc.string()) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('complete' as const)) },
  ),
);

/** What each subscriber sees, by definition. */
function model(all: readonly Call[]): unknown[] {
  const seen: { values: number[]; end: unknown }[] = [];
  let end: unknown = 'open';
  for (const [what, given] of all) {
    if (what === 'subscribe') seen.push({ values: [], end });
    if (end !== 'open') continue;
    if (what === 'next') for (const one of seen) one.values.push(given as number);
    if (what === 'next' || what === 'subscribe') continue;
    end = what === 'error' ? { error: given } : 'complete';
    for (const one of seen) one.end = end;
  }
  return seen;
}

describe('feeder and captured', () => {
  test('law: every subscriber sees what was fed since, and the end, whenever it came', () => {
    fc.assert(
      fc.property(calls, (all) => {
        const { source, next, error, complete } = feeder<number>();
        const seen: unknown[] = [];
        for (const [what, given] of all) {
          if (what === 'next') next(given);
          else if (what === 'error') error(given);
          else if (what === 'complete') complete();
          else seen.push(captured(source));
        }
        expect(seen).toEqual(model(all));
      }),
    );
  });

  test('the source is no Subject, so nobody else feeds it', () => {
    expect(feeder().source).not.toHaveProperty('next');
  });

  test('values is one live list', () => {
    const { source, next } = feeder<string>();
    const { values } = captured(source);
    next('a');
    expect(values).toEqual(['a']);
  });

  test('an error is in end and nowhere else', async () => {
    const unheard = vi.fn();
    rx.config.onUnhandledError = unheard;
    const seen = captured(
      new rx.Observable(() => {
        throw new Error('at subscribe');
      }),
    );
    expect(seen.end).toEqual({ error: new Error('at subscribe') });
    expect(captured(rx.throwError(() => undefined)).end).toEqual({ error: undefined });
    await rx.firstValueFrom(rx.timer(2));
    rx.config.onUnhandledError = null;
    expect(unheard).not.toHaveBeenCalled();
  });

  test('what is no Observable is refused', () => {
    expect(() => captured([1] as never)).toThrow(
      'ERR_OPTION: captured() takes an Observable, got an array of 1; from() makes one',
    );
  });
});
