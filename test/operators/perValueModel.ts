/**
 * What perValue is compared with: a list model with times, and drivers that feed it on a plain Observable and in an executor.
 * Owns the arbitraries.
 */

import fc from 'fast-check';
import type { Observable } from 'rxjs';
import * as rx from 'rxjs';
import { perValue } from '../../operators/index.js';
import { testClock } from '../../src/testing/testClock.js';
import { type Chain, chained, type Opened, parts, type Work } from '../threads/fixtures/perValue.js';
import { Bench, ofNumbers, said } from './harness.js';

export type Timed = readonly [atMs: number, value: number];
/** Timed outputs, and the time and the kind of the end. */
export interface Course {
  readonly outputs: readonly Timed[];
  readonly endMs: number;
  /** The text of the error, or 'complete'. */
  readonly end: string;
}

export const inTime = <T>(run: (clock: ReturnType<typeof testClock>) => T): T => {
  const clock = testClock();
  try {
    return run(clock);
  } finally {
    clock[Symbol.dispose]();
  }
};
export const enoughMs = 2_000;
export const nothing = (): Opened => ({ opened: 0, closed: 0, most: 0 });

/** What comes of `stream$`, when; `drive` is called once it is subscribed. */
export function course(
  stream$: () => Observable<number>,
  drive: (clock: ReturnType<typeof testClock>) => void = () => {},
): Course {
  return inTime((clock) => {
    const outputs: Timed[] = [];
    let [endMs, end] = [-1, 'none'];
    stream$().subscribe({
      next: (value) => outputs.push([clock.nowMs, value]),
      error: (reason: unknown) => {
        [endMs, end] = [clock.nowMs, String(said(reason))];
      },
      complete: () => {
        [endMs, end] = [clock.nowMs, 'complete'];
      },
    });
    drive(clock);
    clock.advance(enoughMs);
    return { outputs, endMs, end };
  });
}

/**
 * The model, in order: a value opens when it has come and the one `concurrency` places before it is through; its outputs come when
 * they are made, but not before the value before it is through; the first failed one, in order, ends it all.
 */
export function expected(arrivals: readonly number[], endMs: number, { chain, concurrency }: Work): Course {
  const outputs: Timed[] = [];
  const through: number[] = [];
  for (const [value, atMs] of arrivals.entries()) {
    const alone = course(() => rx.of(value).pipe(chained(chain)));
    const openMs = Math.max(atMs, through[value - concurrency] ?? 0);
    const turnMs = through[value - 1] ?? 0;
    for (const [ms, output] of alone.outputs) outputs.push([Math.max(turnMs, openMs + ms), output]);
    through.push(Math.max(turnMs, openMs + alone.endMs));
    if (alone.end !== 'complete') return { outputs, endMs: through.at(-1) as number, end: alone.end };
  }
  return { outputs, endMs: Math.max(endMs, through.at(-1) ?? 0), end: 'complete' };
}

const names = Object.keys(parts) as (keyof typeof parts)[];
export const chain: fc.Arbitrary<Chain> = fc.array(
  fc.tuple(fc.constantFrom('wait' as const, 'several' as const, ...names), fc.nat({ max: 11 })),
  { maxLength: 4 },
);
export const harmless: fc.Arbitrary<Chain> = chain.map((all) => all.filter(([part]) => part !== 'fail'));
export const concurrency: fc.Arbitrary<number> = fc.constantFrom(1, 2, 3, 16);
export const work: fc.Arbitrary<Work> = fc.record({ chain, concurrency, ordered: fc.constant(true) });
/** Times of values at whole milliseconds, and the time of the end. */
export interface Arrivals {
  readonly times: readonly number[];
  readonly endMs: number;
}
export const arrivals: fc.Arbitrary<Arrivals> = fc
  .tuple(fc.array(fc.nat(5), { maxLength: 14 }), fc.nat(9))
  .map(([gaps, restMs]) => {
    const times = gaps.map((_, i) => gaps.slice(0, i + 1).reduce((sum, gap) => sum + gap, 0));
    return { times, endMs: (times.at(-1) ?? 0) + restMs };
  });
export const rooms: fc.Arbitrary<boolean[]> = fc.array(fc.boolean(), { minLength: 1, maxLength: 9 });

/** Feeds values, each its own index, at their times. */
export function feed(
  input: { next(value: number): void; complete(): void },
  { times, endMs }: Arrivals,
): (clock: ReturnType<typeof testClock>) => void {
  return (clock) => {
    for (const [value, atMs] of times.entries()) {
      clock.advance(atMs - clock.nowMs);
      input.next(value);
    }
    clock.advance(endMs - clock.nowMs);
    input.complete();
  };
}

/** The same in an executor: `rooms` say after which outputs there is room; then there is again a millisecond later. */
export function executed(given: Work, when: Arrivals, bits: readonly boolean[], seen: Opened): Course {
  let turn = 0;
  const { chain, ...options } = given;
  return inTime((clock) => {
    const bench = new Bench(
      ofNumbers((s) => s.pipe(perValue(chained(chain, seen), options))),
      {
        now: () => clock.nowMs,
        onOutput: (host) => {
          host.room = bits[turn++ % bits.length] as boolean;
        },
      },
    );
    feed({ next: (value) => bench.push(value), complete: () => bench.complete() }, when)(clock);
    while (bench.end() === undefined && clock.nowMs < enoughMs) {
      clock.advance(1);
      bench.grant();
    }
    const outputs = bench.log.flatMap((left): Timed[] => ('next' in left ? [[left.at, left.next as number]] : []));
    return { outputs, endMs: bench.log.at(-1)?.at ?? -1, end: String(said(bench.end())) };
  });
}

export const withoutTimes = ({ outputs, end }: Course): unknown => [outputs.map(([, value]) => value), end];
