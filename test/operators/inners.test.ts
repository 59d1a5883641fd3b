/** The laws of inners: what mergeMap and concatMap open, when, and in which order their outputs come, is as in RxJS. */

import fc from 'fast-check';
import * as rx from 'rxjs';
import { merge, type Observable, type ObservableInput, of, Subject, throwError } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { concatAll, concatMap, map, mergeAll, mergeMap, take } from '../../operators/index.js';
import { Bench, type Build, ofNumbers, Plain, seen } from './harness.js';

/** Inners by the value they were made of: open ones can be told what to do. */
class World {
  readonly opened: number[] = [];
  readonly #open = new Map<number, Subject<number>>();

  readonly inner = (n: number): ObservableInput<number> => {
    this.opened.push(n);
    if (n % 5 === 0) return [n, n + 0.5];
    if (n % 5 === 1) return of(n, n + 0.5);
    if (n % 35 === 2) return throwError(() => `inner ${n}`);
    const subject = new Subject<number>();
    this.#open.set(n, subject);
    return subject;
  };

  tell(which: number, kind: 'emit' | 'complete' | 'error'): void {
    const open = [...this.#open.keys()];
    const key = open[which % Math.max(1, open.length)];
    if (key === undefined) return;
    const subject = this.#open.get(key) as Subject<number>;
    if (kind !== 'emit') this.#open.delete(key);
    if (kind === 'emit') subject.next(key);
    else if (kind === 'complete') subject.complete();
    else subject.error(`told ${key}`);
  }
}

type Flatten = (s: Observable<number>, world: World) => Observable<unknown>;
type Act = { readonly kind: 'push' | 'emit' | 'complete' | 'error' | 'end'; readonly which: number };

const limit = fc.constantFrom(1, 2, 3, Number.POSITIVE_INFINITY);
const flatten: fc.Arbitrary<Flatten> = fc.oneof(
  limit.map(
    (n): Flatten =>
      (s, { inner }) =>
        s.pipe(mergeMap(inner, n)),
  ),
  limit.map(
    (n): Flatten =>
      (s, { inner }) =>
        s.pipe(map(inner), mergeAll(n)),
  ),
  fc.constant<Flatten>((s, { inner }) => s.pipe(concatMap(inner))),
  fc.constant<Flatten>((s, { inner }) => s.pipe(map(inner), concatAll())),
  limit.map(
    (n): Flatten =>
      (s, { inner }) =>
        s.pipe(
          mergeMap((v) => [v, v + 0.25]),
          mergeMap((v) => inner(Math.floor(v)), n),
        ),
  ),
  fc.tuple(limit, limit).map(
    ([n, m]): Flatten =>
      (s, { inner }) =>
        s.pipe(
          mergeMap(inner, n),
          mergeMap((v) => inner(Math.floor(v) + 100), m),
        ),
  ),
  limit.map(
    (n): Flatten =>
      (s, { inner }) =>
        s.pipe(
          mergeMap(inner, n),
          concatMap((v) => [v, -v]),
          take(9),
        ),
  ),
);
const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.oneof(
    { arbitrary: fc.constant('push' as const), weight: 6 },
    { arbitrary: fc.constant('emit' as const), weight: 6 },
    { arbitrary: fc.constant('complete' as const), weight: 4 },
    { arbitrary: fc.constantFrom('error' as const, 'end' as const), weight: 1 },
  ),
  which: fc.nat({ max: 9 }),
});

interface Run {
  readonly world: World;
  readonly driven: Pick<Bench | Plain, 'push' | 'complete' | 'log' | 'stop'>;
}

function play({ world, driven }: Run, acts: readonly Act[], after: () => void): void {
  let next = 0;
  for (const { kind, which } of acts) {
    if (kind === 'push') driven.push(next++);
    else if (kind === 'end') driven.complete();
    else world.tell(which, kind);
    after();
  }
}

function runOf(make: (build: Build) => Run['driven'], flattened: Flatten): Run {
  const world = new World();
  return { world, driven: make(ofNumbers((s) => flattened(s, world))) };
}

describe('in step with RxJS', () => {
  test('law: at every moment the same inners are open and the same outputs have come', () => {
    fc.assert(
      fc.property(flatten, fc.array(act, { maxLength: 40 }), (flattened, acts) => {
        const bench = runOf((build) => new Bench(build), flattened);
        const plain = runOf((build) => new Plain(build), flattened);
        const moments: unknown[] = [];
        play(plain, acts, () => moments.push([...plain.world.opened], [...seen(plain.driven.log)]));
        play(bench, acts, () => {
          expect([...bench.world.opened]).toEqual(moments.shift());
          expect(seen(bench.driven.log)).toEqual(moments.shift());
        });
      }),
      { numRuns: 200 },
    );
  });
});

/** Flips the room of its bench after every output, as `bits` say. */
function flipping(bits: readonly boolean[]): (bench: Bench) => void {
  let turn = 0;
  return (bench) => {
    bench.room = bits[turn++ % bits.length] as boolean;
  };
}

const rooms = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });
/** What happens between two values: one comes in, one is emitted aside, there is room again. */
const happenings = fc.array(fc.constantFrom('push', 'aside', 'room'), { maxLength: 40 });

test('an inner is cleaned up before the next one opens, as in RxJS', () => {
  const told = (drive: (build: Build) => { push(...values: readonly number[]): unknown }): readonly string[] => {
    const log: string[] = [];
    const ends = Array.from({ length: 5 }, () => new Subject<never>());
    const inner = (n: number): Observable<never> =>
      rx.defer(() => {
        log.push(`open ${n}`);
        return (ends[n] as Subject<never>).pipe(rx.finalize(() => log.push(`closed ${n}`)));
      });
    drive(ofNumbers((s) => s.pipe(mergeMap(inner, 2)))).push(0, 1, 2, 3, 4);
    for (const n of [1, 0, 2]) ends[n]?.complete();
    return log;
  };
  const expected = ['open 0', 'open 1', 'closed 1', 'open 2', 'closed 0', 'open 3', 'closed 2', 'open 4'];
  expect(told((build) => new Plain(build))).toEqual(expected);
  expect(told((build) => new Bench(build))).toEqual(expected);
});

describe('when the executor stops', () => {
  test('law: what an opaque step emits leaves in the order in which it was emitted', () => {
    fc.assert(
      fc.property(rooms, happenings, (bits, happened) => {
        const aside = new Subject<number>();
        const emitted: number[] = [];
        const opaque = (s: Observable<number>): Observable<number> => {
          return merge(s, aside).pipe(rx.tap((n) => emitted.push(n)));
        };
        const bench = new Bench(
          ofNumbers((s) =>
            s.pipe(
              mergeMap((n) => [n, n + 0.5]),
              opaque,
              mergeMap((n) => [n, n]),
              map((n) => n),
            ),
          ),
          { onOutput: flipping(bits) },
        );
        let next = 0;
        for (const happening of happened) {
          if (happening === 'push') bench.push(next++);
          else if (happening === 'aside') aside.next(1000 + next++);
          else bench.grant();
        }
        while (!bench.room) bench.grant();
        expect(bench.values()).toEqual(emitted.flatMap((n) => [n, n]));
        expect(emitted.filter((n) => n >= 1000)).toHaveLength(happened.filter((one) => one === 'aside').length);
        expect(emitted.filter((n) => n < 1000)).toHaveLength(2 * happened.filter((one) => one === 'push').length);
      }),
      { numRuns: 200 },
    );
  });

  test('law: each inner keeps its order, and nothing is lost or repeated', () => {
    fc.assert(
      fc.property(rooms, fc.array(fc.nat({ max: 5 }), { maxLength: 40 }), (bits, told) => {
        const inners = Array.from({ length: 5 }, () => new Subject<readonly [number, number]>());
        const bench = new Bench(
          ofNumbers((s) =>
            s.pipe(
              mergeMap((n) => inners[n] as Subject<readonly [number, number]>),
              mergeMap((value) => new Set([value, [...value, 'again']])),
            ),
          ),
          { onOutput: flipping(bits) },
        ).push(0, 1, 2, 3, 4);
        told.forEach((which, n) => {
          inners[which]?.next([which, n]);
          if (which === 5) bench.grant();
        });
        for (const inner of inners) inner.complete();
        bench.complete();
        while (!bench.room) bench.grant();
        for (const which of [0, 1, 2, 3, 4]) {
          const expected = told.flatMap((one, n) =>
            one === which
              ? [
                  [one, n],
                  [one, n, 'again'],
                ]
              : [],
          );
          expect(bench.values().filter((value) => (value as readonly number[])[0] === which)).toEqual(expected);
        }
        expect(bench.end()).toBe('complete');
      }),
      { numRuns: 200 },
    );
  });
});
