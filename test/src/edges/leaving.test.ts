/**
 * Leaving at any moment, a thousand times for each way in and out by requests: the source is left once, nothing comes afterwards,
 * nothing is left behind.
 */

import fc from 'fast-check';
import {
  fromPublisher,
  fromRequest,
  type Publisher,
  pull,
  type Subscription,
  toProcessor,
  toPublisher,
} from 'millrace';
import { map, type Observable } from 'rxjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DemandSubscription } from '../../../runtime/demand.js';
import { askOf } from '../../../src/demand.js';

/** A step of a reader: a request, a turn of the event loop, or the moment at which it leaves. */
type Step = number | 'turn' | 'leave' | 'abort';

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }) },
    { weight: 3, arbitrary: fc.constant<Step>('turn') },
    { weight: 1, arbitrary: fc.constantFrom<Step>('leave', 'abort') },
  ),
  { maxLength: 8 },
);
/** Leaves inside the delivery of this value, if it comes. */
const within = fc.nat(12);

interface Well {
  readonly opened: number;
  readonly closed: number;
}

/** Ten values, at once or each in a turn of its own, and how often somebody began and let go. */
function wellOf(later: boolean): { readonly values: Observable<number>; readonly well: Well } {
  const well = { opened: 0, closed: 0 };
  function* soon(): Generator<number> {
    well.opened++;
    try {
      for (let n = 0; n < 10; n++) yield n;
    } finally {
      well.closed++;
    }
  }
  async function* late(): AsyncGenerator<number> {
    well.opened++;
    try {
      for (let n = 0; n < 10; n++) yield n;
    } finally {
      well.closed++;
    }
  }
  return { values: later ? pull(late) : pull(soon), well };
}

/** The same by requests: `cancel` is called once, and not after the end. */
function requested(well: { opened: number; closed: number }): Observable<number> {
  return fromRequest<number>((sink) => {
    well.opened++;
    let n = 0;
    let over = false;
    return {
      request(count) {
        for (let left = count; left > 0 && n < 10 && !over; left--) sink.next(n++);
        if (n === 10 && !over) {
          over = true;
          well.closed++;
          sink.complete();
        }
      },
      cancel() {
        expect(over).toBe(false);
        over = true;
        well.closed++;
      },
    };
  });
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Reads by the steps, and leaves at their end at the latest; the values that came after it had left. */
async function read(
  begin: (next: () => void) => Pick<DemandSubscription, 'request' | 'unsubscribe'>,
  plan: readonly Step[],
  leaveAt: number,
  abort: () => void,
): Promise<number> {
  let left = false;
  let late = 0;
  let got = 0;
  let reading: Pick<DemandSubscription, 'request' | 'unsubscribe'> | undefined;
  const leave = (): void => {
    left = true;
    reading?.unsubscribe();
  };
  reading = begin(() => {
    if (left) late++;
    if (++got === leaveAt) leave();
  });
  for (const step of plan) {
    if (left) break;
    if (step === 'turn') await turn();
    else if (step === 'leave') leave();
    else if (step === 'abort') abort();
    else reading.request(step);
  }
  leave();
  for (let i = 0; i < 4; i++) await turn();
  return late;
}

function subscribed(
  publisher: Publisher<number>,
  next: () => void,
): Pick<DemandSubscription, 'request' | 'unsubscribe'> {
  let subscription: Subscription | undefined;
  publisher.subscribe({
    onSubscribe: (given) => {
      subscription = given;
    },
    onNext: next,
    onError: () => {},
    onComplete: () => {},
  });
  return { request: (n) => subscription?.request(n), unsubscribe: () => subscription?.cancel() };
}

const asked = (values: Observable<number>, next: () => void): DemandSubscription =>
  askOf(values)!({ next, error: () => {}, complete: () => {} });

describe('leaving', () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  beforeAll(() => process.on('unhandledRejection', onUnhandled));
  afterAll(() => {
    process.off('unhandledRejection', onUnhandled);
    expect(unhandled).toEqual([]);
  });

  const law = (
    name: string,
    begin: (source: Observable<number>, signal: AbortSignal, next: () => void) => DemandSubscription,
  ): void =>
    test(`law: ${name} left at any moment lets go of its source, once`, async () => {
      await fc.assert(
        fc.asyncProperty(steps, within, fc.constantFrom('soon', 'late', 'requested'), async (plan, leaveAt, kind) => {
          const own = { opened: 0, closed: 0 };
          const { values, well } =
            kind === 'requested' ? { values: requested(own), well: own } : wellOf(kind === 'late');
          const controller = new AbortController();
          const late = await read(
            (next) => begin(values, controller.signal, next),
            plan,
            leaveAt,
            () => controller.abort(),
          );
          expect([late, well.closed]).toEqual([0, well.opened]);
          expect(well.opened).toBeLessThanOrEqual(1);
        }),
        { numRuns: 1_000 },
      );
    });

  law('toPublisher', (source, signal, next) => subscribed(toPublisher(source, { signal }), next));
  law('fromPublisher', (source, signal, next) => asked(fromPublisher(toPublisher(source, { signal })), next));
  law('fromRequest', (source, _, next) => {
    const through = fromRequest<number>((sink) => {
      const inner = askOf(source)!(sink);
      return { request: (n) => inner.request(n), cancel: () => inner.unsubscribe() };
    });
    return asked(through, next);
  });
  law('toProcessor', (source, signal, next) => {
    const processor = toProcessor<number, number>(map((n) => n));
    toPublisher(source, { signal }).subscribe(processor);
    return subscribed(processor, next);
  });
});
