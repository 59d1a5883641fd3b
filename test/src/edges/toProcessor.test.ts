import { delay, EMPTY, filter, map, mergeMap, NEVER, of, retry, take, throwError } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { Asked, askOf } from '../../../src/demand.js';
import type { Subscriber, Subscription } from '../../../src/edges/publisher.js';
import { toProcessor } from '../../../src/edges/toProcessor.js';

/** Both sides by hand: what is said to the publisher and to the subscriber, in order. */
function around<In, Out>(processor: ReturnType<typeof toProcessor<In, Out>>) {
  const up: string[] = [];
  const down: string[] = [];
  const reasons: unknown[] = [];
  let own!: Subscription;
  const subscriber: Subscriber<Out> = {
    onSubscribe: (subscription) => {
      down.push('subscribe');
      own = subscription;
    },
    onNext: (value) => down.push(`next ${value}`),
    onError: (reason) => {
      down.push('error');
      reasons.push(reason);
    },
    onComplete: () => down.push('complete'),
  };
  return {
    up,
    down,
    reasons,
    begin: () => processor.onSubscribe({ request: (n) => up.push(`request ${n}`), cancel: () => up.push('cancel') }),
    take: () => processor.subscribe(subscriber),
    request: (n: number) => own.request(n),
    cancel: () => own.cancel(),
  };
}

describe('toProcessor() of an RxJS operator', () => {
  test('the publisher is requested one by one, as long as results fall short of demand', () => {
    const processor = toProcessor<number, number>((values) => values.pipe(filter((n) => n % 2 === 0)));
    const { up, down, begin, take: subscribe, request } = around(processor);
    begin();
    subscribe();
    expect([up, down]).toEqual([[], ['subscribe']]);
    request(2);
    expect(up).toEqual(['request 1']);
    for (let n = 1; n <= 4; n++) processor.onNext(n);
    expect([up, down]).toEqual([Array(4).fill('request 1'), ['subscribe', 'next 2', 'next 4']]);
    request(1);
    processor.onComplete();
    expect([up.length, down.at(-1)]).toEqual([5, 'complete']);
  });

  test('results beyond the demand wait, and while they do, nothing is requested', () => {
    const processor = toProcessor(mergeMap((n: number) => Array<number>(2_000).fill(n)));
    const { up, down, begin, take: subscribe, request } = around(processor);
    begin();
    subscribe();
    request(1);
    processor.onNext(7);
    expect([up, down]).toEqual([['request 1'], ['subscribe', 'next 7']]);
    request(1_999);
    expect([up.length, down.length]).toEqual([1, 2_001]);
    request(1);
    expect(up.length).toBe(2);
  });

  test('one that gives nothing for long takes in 16 values a turn', async () => {
    const processor = toProcessor(delay<number>(1_000_000));
    const { take: subscribe, request, cancel } = around(processor);
    let taken = 0;
    processor.onSubscribe({
      request: () => {
        taken++;
        processor.onNext(taken);
      },
      cancel: () => {},
    });
    subscribe();
    request(1);
    expect(taken).toBe(16);
    while (taken < 64) await new Promise(setImmediate);
    cancel();
    const before = taken;
    expect(before % 16).toBe(0);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(taken).toBe(before);
  });

  test('an early end cancels the publisher', () => {
    const processor = toProcessor(take<number>(2));
    const { up, down, begin, take: subscribe, request } = around(processor);
    begin();
    subscribe();
    request(5);
    processor.onNext(1);
    processor.onNext(2);
    expect([up, down]).toEqual([
      ['request 1', 'request 1', 'cancel'],
      ['subscribe', 'next 1', 'next 2', 'complete'],
    ]);
  });

  test('§4.2: an error comes without demand, behind results that wait', () => {
    const reason = new Error('end');
    const processor = toProcessor(mergeMap((n: number) => [n, n]));
    const { down, reasons, begin, take: subscribe, request } = around(processor);
    begin();
    subscribe();
    request(1);
    processor.onNext(1);
    processor.onError(reason);
    expect(down).toEqual(['subscribe', 'next 1']);
    request(1);
    expect([down, reasons]).toEqual([['subscribe', 'next 1', 'next 1', 'error'], [reason]]);
    const idle = around(toProcessor(map((n: number) => n)));
    idle.take();
    idle.begin();
    expect(idle.down).toEqual(['subscribe']);
  });

  test('one that subscribes its input twice ends with ERR_NOT_REPEATABLE', () => {
    const processor = toProcessor<number, number>((values) =>
      values.pipe(
        mergeMap(() => throwError(() => new Error('again'))),
        retry(1),
      ),
    );
    const { down, reasons, begin, take: subscribe, request } = around(processor);
    begin();
    subscribe();
    request(1);
    processor.onNext(1);
    expect(down).toEqual(['subscribe', 'error']);
    expect(reasons).toEqual([expect.objectContaining({ code: 'ERR_NOT_REPEATABLE' })]);
  });
});

describe('toProcessor() of an operator that asks', () => {
  const doubling = () =>
    toProcessor<number, number>(
      (values) =>
        new Asked((observer) =>
          askOf(values)!({
            next: (n) => observer.next(n * 2),
            error: (reason) => observer.error(reason),
            complete: () => observer.complete(),
          }),
        ),
    );

  test('demand passes straight through', () => {
    const processor = doubling();
    const { up, down, begin, take: subscribe, request, cancel } = around(processor);
    subscribe();
    request(2);
    begin();
    request(3);
    processor.onNext(1);
    cancel();
    expect([up, down]).toEqual([
      ['request 2', 'request 3', 'cancel'],
      ['subscribe', 'next 2'],
    ]);
  });

  test('§4.2: an error comes without demand, past an operator that has not asked', () => {
    // As a topology does, it asks for its input when it is asked itself.
    const waiting = () =>
      toProcessor<number, number>(
        (values) =>
          new Asked((observer) => ({ request: (n) => askOf(values)!(observer).request(n), unsubscribe: () => {} })),
      );
    for (const first of ['begin', 'take'] as const) {
      const processor = waiting();
      const { down, reasons, ...side } = around(processor);
      const reason = new Error('end');
      if (first === 'take') side.take();
      side.begin();
      processor.onError(reason);
      if (first === 'begin') side.take();
      expect([down, reasons]).toEqual([['subscribe', 'error'], [reason]]);
      side.request(1);
      expect(down.length).toBe(2);
    }
  });
});

describe('toProcessor()', () => {
  const identity = () => toProcessor(map((n: number) => n));

  test('either side may come first', () => {
    for (const first of ['begin', 'take'] as const) {
      const processor = identity();
      const side = around(processor);
      side[first]();
      side[first === 'begin' ? 'take' : 'begin']();
      side.request(1);
      processor.onNext(1);
      expect([side.up, side.down]).toEqual([['request 1'], ['subscribe', 'next 1']]);
    }
  });

  test('an end that comes before the subscriber waits for it', () => {
    const [completed, failed, reason] = [identity(), identity(), new Error('end')];
    const [one, other] = [around(completed), around(failed)];
    one.begin();
    other.begin();
    completed.onComplete();
    failed.onError(reason);
    one.take();
    other.take();
    expect([one.down, other.down, other.reasons]).toEqual([
      ['subscribe', 'complete'],
      ['subscribe', 'error'],
      [reason],
    ]);
  });

  test('has one subscriber; a further one is told by onError, and disturbs nobody', () => {
    const processor = identity();
    const [one, other] = [around(processor), around(processor)];
    one.begin();
    one.take();
    other.take();
    one.request(1);
    processor.onNext(1);
    expect([one.down, other.down]).toEqual([
      ['subscribe', 'next 1'],
      ['subscribe', 'error'],
    ]);
    expect(other.reasons).toEqual([
      expect.objectContaining({ code: 'ERR_NOT_REPEATABLE', message: expect.stringContaining('a processor for each') }),
    ]);
    other.cancel();
    expect(one.up).not.toContain('cancel');
  });

  test('a subscriber that leaves cancels the publisher, whenever that subscribes', () => {
    const [early, late] = [around(identity()), around(identity())];
    early.begin();
    early.take();
    early.cancel();
    late.take();
    late.cancel();
    late.begin();
    expect([early.up, late.up]).toEqual([['cancel'], ['cancel']]);
    const processor = identity();
    const within = around(processor);
    within.begin();
    processor.subscribe({
      onSubscribe: (subscription) => subscription.cancel(),
      onNext: () => {},
      onError: () => {},
      onComplete: () => {},
    });
    expect(within.up).toEqual(['cancel']);
  });

  test('an operator that does not want its input cancels the publisher', () => {
    const { up, down, begin, take: subscribe } = around(toProcessor(() => EMPTY));
    begin();
    subscribe();
    expect([up, down]).toEqual([['cancel'], ['subscribe', 'complete']]);
  });

  test.each([
    [undefined, 'takes an operator'],
    [of(1), 'takes an operator'],
    [() => 3, 'an operator with one output'],
    [() => ({ a: NEVER, b: NEVER }), 'an operator with one output'],
  ])('refuses %o', (operator, message) => {
    expect(() => toProcessor(operator as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining(message) }),
    );
  });

  test('§1.9, §2.13: throws where it is given nobody or nothing', () => {
    expect(() => identity().subscribe(null as never)).toThrow('§1.9');
    for (const signal of ['onSubscribe', 'onNext', 'onError'] as const)
      expect(() => identity()[signal](undefined as never)).toThrow('§2.13');
  });
});
