import { EventEmitter, getEventListeners } from 'node:events';
import fc from 'fast-check';
import { config, from, fromEvent, Observable, Subject, type Subscriber, share } from 'rxjs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { DemandSubscription } from '../../runtime/demand.js';
import type { Overflow } from '../../runtime/overflow.js';
import { askable, checkEdge } from '../../src/edges/edge.js';
import { isHeld } from '../runtime/fixtures/collecting.js';
import { Listed, type Seen, type Step, seenBy } from './fixtures/asking.js';

const all: readonly Overflow[] = ['auto', 'block', 'dropOldest', 'dropNewest', 'latest', 'error', 'buffer'];

afterEach(() => {
  config.onUnhandledError = null;
});

const refused = (message: string) =>
  expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) });

/** Asks `values`, and says what was seen. */
function asking(values: unknown, options: object = {}): Seen & { readonly asked: DemandSubscription } {
  const { observer, ...seen } = seenBy();
  return { ...seen, asked: askable(values, checkEdge(options, 'toTest()'), 'toTest()')(observer) };
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>('emit') },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>('end', 'fail', 'leave', 'abort', Number.POSITIVE_INFINITY) },
);

const within: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: step },
  { weight: 1, arbitrary: fc.constantFrom<Step>('end', 'fail', 'leave', 'abort') },
);

describe('random scripts', () => {
  test('law: what is delivered, thrown away, said at the end and left is as on a list, whatever happens within next', () => {
    const rule = fc.record({ strategy: fc.constantFrom(...all), capacity: fc.integer({ min: 1, max: 4 }) });
    const script = fc.record({
      atOnce: fc.array(fc.constantFrom<Step>('emit', 'emit', 'emit', 'emit', 'emit', 'emit', 'end', 'fail', 'abort'), {
        maxLength: 6,
      }),
      steps: fc.array(step, { maxLength: 30 }),
      within: fc.array(fc.array(within, { maxLength: 3 }), { maxLength: 12 }),
    });
    fc.assert(
      fc.property(rule, script, ({ strategy, capacity }, { atOnce, steps, within }) => {
        const model = new Listed(strategy, capacity, within);
        const controller = new AbortController();
        const log: unknown[] = [];
        const reactions = within.values();
        let emitted = 0;
        let left = 0;
        let target: Subscriber<number> | undefined;
        let asked: DemandSubscription | undefined;
        const act = (what: Step): void => {
          if (what === 'emit') target?.next(++emitted);
          else if (what === 'end') target?.complete();
          else if (what === 'fail') target?.error('failed');
          else if (what === 'leave') asked?.unsubscribe();
          else if (what === 'abort') controller.abort('aborted');
          else asked?.request(what);
        };
        const source = new Observable<number>((subscriber) => {
          target = subscriber;
          subscriber.add(() => left++);
          for (const what of atOnce) act(what);
        });
        const edge = checkEdge(
          {
            signal: controller.signal,
            overflow: { strategy, capacity, onDrop: (value: number) => log.push(`dropped ${value}`) },
          },
          'toTest()',
        );
        asked = askable<number>(
          source,
          edge,
          'toTest()',
        )({
          next(value) {
            log.push(`next ${value}`);
            for (const what of reactions.next().value ?? []) act(what);
            log.push(`after ${value}`);
          },
          error: (reason) => log.push((reason as { readonly code?: string }).code ?? reason),
          complete: () => log.push('complete'),
        });
        model.subscribe(atOnce);
        expect(log).toEqual(model.log);
        for (const what of steps) {
          act(what);
          model.do(what);
          expect(log).toEqual(model.log);
          expect(left).toBe(model.left ? 1 : 0);
          expect(getEventListeners(controller.signal, 'abort').length).toBe(model.over ? 0 : 1);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a push source that is too fast', () => {
  const stalled = (
    overflow: Overflow,
  ): Seen & { readonly asked: DemandSubscription; readonly source: Subject<number> } => {
    const source = new Subject<number>();
    const seen = asking(source, { overflow: { strategy: overflow, capacity: 4 } });
    for (let value = 1; value <= 6; value++) source.next(value);
    return { ...seen, source };
  };

  test.each<[Overflow, kept: number[], end: string | undefined]>([
    ['block', [1, 2, 3, 4], 'ERR_HELD'],
    ['auto', [1, 2, 3, 4], 'ERR_OVERFLOW'],
    ['error', [1, 2, 3, 4], 'ERR_OVERFLOW'],
    ['dropOldest', [3, 4, 5, 6], undefined],
    ['dropNewest', [1, 2, 3, 4], undefined],
    ['latest', [6], undefined],
    ['buffer', [1, 2, 3, 4, 5, 6], undefined],
  ])(
    'of 6 emitted while its reader stalls, %s with room for 4 hands over %j, then %s (C-088)',
    (overflow, kept, end) => {
      const { asked, values, ends, source } = stalled(overflow);
      expect([values, ends, source.observed]).toEqual([[], [], end === undefined]);
      asked.request(Number.POSITIVE_INFINITY);
      expect(values).toEqual(kept);
      expect(ends).toEqual(end === undefined ? [] : [expect.objectContaining({ code: end })]);
      source.complete();
      expect(ends.length).toBe(1);
    },
  );

  const endless = {
    'that looks whether it was left': (left: () => void) =>
      new Observable<number>((subscriber) => {
        for (let i = 0; !subscriber.closed; i++) subscriber.next(i);
        left();
      }),
    'from a generator': (left: () => void) =>
      from(
        (function* () {
          try {
            for (let i = 0; ; i++) yield i;
          } finally {
            left();
          }
        })(),
      ),
  };

  test.each(Object.entries(endless))(
    'an endless one %s is left at once: ERR_HELD after what has room',
    (_name, make) => {
      for (const overflow of ['auto', 'block', 'error'] as const) {
        const left = vi.fn();
        const { asked, values, ends } = asking(make(left), { overflow });
        expect(left).toHaveBeenCalledTimes(1);
        asked.request(1_024);
        expect(values).toEqual(Array.from({ length: 1_024 }, (_, i) => i));
        const code = overflow === 'error' ? 'ERR_OVERFLOW' : 'ERR_HELD';
        expect(ends).toEqual([expect.objectContaining({ code, message: expect.stringContaining('toTest()') })]);
      }
    },
  );

  test.each(Object.entries(endless))(
    'an endless one %s is left when its signal is aborted meanwhile',
    (_name, make) => {
      for (const overflow of all) {
        const controller = new AbortController();
        const left = vi.fn();
        const source = new Observable<number>((subscriber) => {
          controller.abort('enough');
          return make(left).subscribe(subscriber);
        });
        expect(asking(source, { overflow, signal: controller.signal }).ends).toEqual(['enough']);
        expect(left).toHaveBeenCalledTimes(1);
      }
    },
  );

  test.each(all)('events under %s: their listener goes when they are left, aborted or too many', (overflow) => {
    const emitter = new EventEmitter();
    const target = new EventTarget();
    const fire = { emitter: () => emitter.emit('tick', 1), target: () => target.dispatchEvent(new Event('tick')) };
    const count = (): number => emitter.listenerCount('tick') + getEventListeners(target, 'tick').length;
    const sources = [
      [fromEvent(emitter, 'tick'), fire.emitter],
      [fromEvent(target, 'tick'), fire.target],
    ] as const;
    for (const [source, tick] of sources) {
      const controller = new AbortController();
      const left = asking(source, { overflow });
      const aborted = asking(source, { overflow, signal: controller.signal });
      expect(count()).toBe(2);
      tick();
      left.asked.request(1);
      expect(left.values.length).toBe(1);
      left.asked.unsubscribe();
      controller.abort('enough');
      expect([count(), aborted.values, aborted.ends]).toEqual([0, [], ['enough']]);
      const full = asking(source, { overflow: { strategy: overflow, capacity: 1 } });
      tick();
      tick();
      expect(count()).toBe(['auto', 'block', 'error'].includes(overflow) ? 0 : 1);
      full.asked.unsubscribe();
      expect(count()).toBe(0);
    }
  });

  test('of two readers of one shared source the slow one loses by its own strategy alone (C-089)', () => {
    for (const overflow of all) {
      const source = new Subject<number>();
      const shared = source.pipe(share());
      const fast = asking(shared, { overflow: 'error' });
      const slow = asking(shared, { overflow: { strategy: overflow, capacity: 4 } });
      fast.asked.request(Number.POSITIVE_INFINITY);
      for (let value = 1; value <= 6; value++) source.next(value);
      expect([fast.values, slow.values]).toEqual([[1, 2, 3, 4, 5, 6], []]);
      slow.asked.request(Number.POSITIVE_INFINITY);
      if (overflow === 'buffer') expect(slow.values).toEqual(fast.values);
      source.complete();
      expect([fast.ends, slow.ends.length]).toEqual([['complete'], 1]);
    }
  });
});

describe('what waits', () => {
  test('is let go of when it is left, though the subscription is still held (C-080)', async () => {
    const source = new Subject<object>();
    const { asked, values } = asking(source);
    const waits = (() => {
      const value = {};
      source.next(value);
      return new WeakRef(value);
    })();
    expect(await isHeld(waits)).toBe(true);
    asked.unsubscribe();
    expect(await isHeld(waits)).toBe(false);
    asked.request(1);
    expect(values).toEqual([]);
  });
});

describe('what users throw', () => {
  test('an onDrop that throws is reported as RxJS reports it; the values are as they would be', async () => {
    const reported = new Promise((resolve) => {
      config.onUnhandledError = resolve;
    });
    const source = new Subject<number>();
    const onDrop = (value: unknown): never => {
      throw new RangeError(`no ${value}`);
    };
    const { asked, values, ends } = asking(source, { overflow: { strategy: 'dropOldest', capacity: 1, onDrop } });
    source.next(1);
    source.next(2);
    asked.request(2);
    source.next(3);
    expect([values, ends, source.observed]).toEqual([[2, 3], [], true]);
    expect(await reported).toEqual(new RangeError('no 1'));
  });

  test('an onDrop may ask, emit and leave', () => {
    const steps: ((source: Subject<number>, asked: DemandSubscription) => void)[] = [
      (_source, asked) => asked.request(1),
      (source) => source.next(10),
      (_source, asked) => asked.unsubscribe(),
    ];
    const seen = steps.map((step) => {
      const source = new Subject<number>();
      const dropped: unknown[] = [];
      const onDrop = (value: unknown): void => {
        if (dropped.push(value) === 1) step(source, asked);
      };
      const { asked, values } = asking(source, { overflow: { strategy: 'dropOldest', capacity: 2, onDrop } });
      for (const value of [1, 2, 3]) source.next(value);
      asked.request(5);
      return [values, dropped, source.observed];
    });
    expect(seen).toEqual([
      [[2, 3], [1], true],
      [[3, 10], [1, 2], true],
      [[], [1], false],
    ]);
  });

  test('a clean-up that throws is a warning, whoever leaves', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const source = new Observable<number>(() => () => {
      throw new RangeError('broken');
    });
    const controller = new AbortController();
    asking(source).asked.unsubscribe();
    const { ends } = asking(source, { signal: controller.signal });
    controller.abort('enough');
    expect(ends).toEqual(['enough']);
    expect(warned.mock.calls.map(([message]) => message)).toEqual(
      Array.from({ length: 2 }, () => expect.stringMatching(/the source of toTest\(\) failed.*RangeError: broken/)),
    );
    warned.mockRestore();
  });
});

describe('signal', () => {
  test('one that was aborted before: the source is never subscribed', () => {
    const subscribed = vi.fn();
    const { asked, ends } = asking(new Observable(subscribed), { signal: AbortSignal.abort('enough') });
    expect(ends).toEqual(['enough']);
    asked.request(1);
    asked.unsubscribe();
    expect([subscribed.mock.calls.length, ends.length]).toEqual([0, 1]);
  });

  test('its listener never accumulates, whichever way it ends', () => {
    const { signal } = new AbortController();
    for (let i = 0; i < 50; i++) {
      const source = new Subject<number>();
      const { asked } = asking(source, { signal });
      if (i % 3 === 0) asked.unsubscribe();
      else if (i % 3 === 1) source.complete();
      else source.error('failed');
      expect(getEventListeners(signal, 'abort').length).toBe(0);
    }
  });
});

describe('options', () => {
  test.each([
    [null, 'the options of toTest() must be an object, got null'],
    [[], 'the options of toTest() must be an object, got an array of 0'],
    [{ signl: 1 }, 'toTest() has no option "signl": did you mean signal?'],
    [{ hihgWaterMark: 1 }, 'toTest() has no option "hihgWaterMark": did you mean highWaterMark?'],
    [{ signal: new AbortController() }, 'signal of toTest() must be an AbortSignal, got an object of AbortController'],
    [{ signal: null }, 'signal of toTest() must be an AbortSignal, got null'],
    [{ overflow: 'newest' }, 'overflow got the strategy "newest"'],
    [{ overflow: { capacity: 0 } }, 'overflow.capacity must be'],
  ])('%j are refused', (options, message) => {
    expect(() => checkEdge(options, 'toTest()', ['highWaterMark'])).toThrow(refused(message));
  });

  test('what is no Observable is refused when it is given, not when it is asked', () => {
    for (const values of [undefined, null, 1, [1], Promise.resolve(1), { subscribe() {} }])
      expect(() => askable(values, checkEdge({}, 'toTest()'), 'toTest()')).toThrow(
        refused('toTest() takes an Observable, got'),
      );
  });
});
