/** assertLaws inline: every law can be broken, and is named then. */
import fc from 'fast-check';
import * as rx from 'rxjs';
import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { arbitrary, assertLaws, type Laws } from '../../src/testing/index.js';

const input = arbitrary.input(fc.integer({ min: 0, max: 4 }));
const seed = 7;

type Operator = OperatorFunction<number, unknown>;
type Target = Parameters<typeof assertLaws>[0];

async function broken(target: Target, laws: Partial<Laws> = {}): Promise<string> {
  const held = assertLaws(target, { input, seed, runs: 30, hosts: ['inline'], ...laws });
  const reason = await held.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(reason).toMatchObject({ name: 'AssertionError', code: 'ERR_ASSERTION' });
  return (reason as Error).message;
}

/** An operator by hand: what it does at each notification, and nothing else. */
function byHand(observer: (to: Subscriber<unknown>) => Partial<rx.Observer<number>>): () => Operator {
  return () => (source) => new Observable((to) => source.subscribe({ ...passing(to), ...observer(to) }));
}

function passing(to: Subscriber<unknown>): rx.Observer<number> {
  return { next: (n) => to.next(n), error: (reason) => to.error(reason), complete: () => to.complete() };
}

/** A result that does not give its observer a subscriber of RxJS. */
class Bare extends Observable<unknown> {
  readonly #start: (to: rx.Observer<unknown>) => rx.Unsubscribable;

  constructor(start: (to: rx.Observer<unknown>) => rx.Unsubscribable) {
    super();
    this.#start = start;
  }

  override subscribe(to?: unknown): rx.Subscription {
    const end = this.#start(to as rx.Observer<unknown>);
    return new rx.Subscription(() => end.unsubscribe());
  }
}

function bare(start: (source: Observable<number>, to: rx.Observer<unknown>) => rx.Unsubscribable): () => Operator {
  return () => (source) => new Bare((to) => start(source, to));
}

let outside = 0;
const fail = (): never => {
  throw new Error('no');
};

const breaches: readonly (readonly [law: string, what: string, target: () => Operator, laws?: Partial<Laws>])[] = [
  ['a fresh instance does the same again', 'state outside', () => rx.map((n) => n + outside++)],
  [
    'errors take the error channel',
    'subscribe() throws',
    () => (source) =>
      Object.assign(new Observable(), {
        source,
        operator: {
          call: fail,
        },
      }),
  ],
  ['errors take the error channel', 'pipe() throws', () => fail],
  [
    'errors take the error channel',
    'a handler throws past it',
    byHand((to) => ({
      next: (n) => {
        if (n === 3) throw new Error('three');
        to.next(n);
      },
    })),
  ],
  ['errors take the error channel', 'no handler', () => (s) => new Observable((to) => s.subscribe((n) => to.next(n)))],
  [
    'errors take the error channel',
    'a timer throws',
    byHand((to) => ({
      next: (n) => {
        rx.asyncScheduler.schedule(() => {
          throw new Error('late');
        }, 5);
        to.next(n);
      },
    })),
  ],
  ['errors take the error channel', 'an error is swallowed', byHand(() => ({ error: () => {} }))],
  ['errors take the error channel', 'an error becomes the end', byHand((to) => ({ error: () => to.complete() }))],
  [
    'errors take the error channel',
    'an error that the reference passes on',
    () => rx.catchError(() => rx.of(1)),
    { like: () => rx.map((n: number) => n) },
  ],
  [
    'errors take the error channel',
    'what the subscriber throws comes back as an error',
    bare((source, to) =>
      source.subscribe({
        ...to,
        next: (n) => {
          try {
            to.next(n);
          } catch (reason) {
            to.error(reason);
          }
        },
      }),
    ),
  ],
  [
    'errors take the error channel',
    'what the subscriber throws comes out of subscribe()',
    bare((source, to) => {
      const got: number[] = [];
      const subscription = source.subscribe({ ...to, next: (n) => got.push(n), complete: () => {} });
      for (const n of got) to.next(n);
      to.complete();
      return subscription;
    }),
  ],
  [
    'nothing after the end',
    'a value after complete',
    byHand((to) => ({
      complete: () => {
        to.complete();
        to.next('late');
      },
    })),
  ],
  [
    'nothing after the end',
    'a value after error',
    byHand((to) => ({
      error: (reason) => {
        to.error(reason);
        to.next('late');
      },
    })),
  ],
  [
    'one end',
    'complete twice',
    byHand((to) => ({
      complete: () => {
        to.complete();
        to.complete();
      },
    })),
  ],
  [
    'one end',
    'complete and error',
    byHand((to) => ({
      complete: () => {
        to.complete();
        to.error(new Error('late'));
      },
    })),
  ],
  [
    'nothing after unsubscribe',
    'it goes on',
    bare((source, to) => {
      source.subscribe(to);
      return { unsubscribe: () => {} };
    }),
  ],
  [
    'nothing after unsubscribe',
    'it says good-bye',
    bare((source, to) => {
      const subscription = source.subscribe(to);
      return {
        unsubscribe: () => {
          subscription.unsubscribe();
          to.complete();
        },
      };
    }),
  ],
  [
    'the source is let go of',
    'no teardown',
    () => (source) =>
      new Observable((to) => {
        source.subscribe(passing(to));
      }),
  ],
  [
    'the source is let go of',
    'a teardown later',
    () => (source) =>
      new Observable((to) => {
        const subscription = source.subscribe(passing(to));
        return () => {
          rx.asyncScheduler.schedule(() => subscription.unsubscribe(), 1);
        };
      }),
  ],
  [
    'the source is let go of',
    'no teardown at its own end',
    () => (source) =>
      new Observable((to) => {
        source.subscribe({
          ...passing(to),
          next: (n) => {
            if (to.closed) return;
            to.next(n);
            to.complete();
          },
          complete: () => to.closed || to.complete(),
          error: (reason) => to.closed || to.error(reason),
        });
      }),
  ],
  [
    'a value fed from inside next is as any other',
    'dropped while busy',
    byHand((to) => {
      let busy = false;
      return {
        next: (n) => {
          if (busy) return;
          busy = true;
          to.next(n);
          busy = false;
        },
      };
    }),
  ],
  [
    'a value fed from inside next is as any other',
    'torn by a buffer that is shared',
    byHand((to) => {
      const pair: number[] = [];
      return {
        next: (n) => {
          pair.push(n);
          for (const one of [...pair]) to.next([one, pair.length]);
          pair.length = 0;
        },
      };
    }),
  ],
  [
    'a value fed from inside next is as any other',
    'a throw',
    () => (source) =>
      new Observable((to) => {
        let inside = false;
        const next = (n: number): void => {
          if (inside) throw new Error('again');
          inside = true;
          to.next(n);
          inside = false;
        };
        return source.subscribe(Object.assign(new rx.Subscriber<number>(passing(to)), { next }));
      }),
  ],
  [
    'a value fed from inside next is as any other',
    'delivered later than the reference does',
    byHand((to) => {
      const queue: number[] = [];
      return {
        next: (n) => {
          if (queue.push(n) > 1) return;
          for (const first of queue) for (const each of [first, first]) to.next(each);
          queue.length = 0;
        },
      };
    }),
    { like: () => rx.mergeMap((n: number) => [n, n]) },
  ],
  ['the same values as like', 'other values', () => rx.map((n) => n + 1), { like: () => rx.map((n: number) => n + 2) }],
  [
    'the same values as like',
    'another order',
    () => rx.mergeMap((n) => [n, 9]),
    { like: () => rx.mergeMap((n: number) => [9, n]) },
  ],
  ['the same times as like', 'later', () => rx.delay(1), { like: () => rx.map((n: number) => n) }],
  [
    'the same times as like',
    'of the end alone',
    () => (source) => rx.concat(source, rx.timer(1).pipe(rx.ignoreElements())),
    { like: () => rx.map((n: number) => n) },
  ],
  [
    'the same end as like',
    'none',
    () => (source) => rx.merge(source, rx.NEVER),
    { like: () => rx.map((n: number) => n) },
  ],
  [
    'the same end as like',
    'an error of another text',
    () => rx.catchError(() => rx.throwError(() => new Error('other'))),
    { like: () => rx.map((n: number) => n) },
  ],
];

describe('law: a broken law is named, with the input, and the seed shows it again', () => {
  test.each(breaches.map(([law, what, target, laws]) => [law, what, { target, laws }] as const))(
    '%s: %s',
    async (law, _, { target, laws }) => {
      const message = await broken(target, laws);
      expect(message.split('\n')[0]).toBe(`law: ${law}`);
      expect(message).toMatch(
        /\ninput: .*[\s\S]*\nexpected:\n {2}[\s\S]*\ngot:\n {2}[\s\S]*seed: 7 }\); fast-check: seed 7, path "[\d:]+", \d+ shrinks$/,
      );
    },
  );

  test('the input is the smallest that breaks it', async () => {
    const message = await broken(() => rx.filter((n) => n !== 3), { like: () => rx.map((n: number) => n) });
    expect(message).toContain('\ninput: [ 3 ]\nexpected:\n  0 ms  3\n  0 ms  complete\ngot:\n  0 ms  complete\n');
  });

  test('without a seed, the one that is printed shows the same', async () => {
    const [target, like] = [() => rx.filter((n: number) => n !== 3), { like: () => rx.map((n: number) => n) }] as const;
    const reason = (await assertLaws(target, { input, hosts: ['inline'], ...like }).catch((e: unknown) => e)) as Error;
    const drawn = /seed: (\d+) }/.exec(reason.message)?.[1];
    expect(await broken(target, { ...like, seed: Number(drawn) })).toBe(reason.message);
  });

  test('expected and got are those of the error', async () => {
    const held = assertLaws(() => rx.delay(1), {
      input,
      seed,
      hosts: ['inline'],
      like: () => rx.map((n: number) => n),
    });
    await expect(held).rejects.toMatchObject({
      expected: '0 ms  0\n0 ms  complete',
      actual: '1 ms  0\n1 ms  complete',
    });
  });
});
