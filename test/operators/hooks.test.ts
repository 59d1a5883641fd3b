/** The hooks of tap come in the order in which RxJS calls them, however the stream ends. */

import fc from 'fast-check';
import type { MonoTypeOperatorFunction, OperatorFunction } from 'rxjs';
import * as rx from 'rxjs';
import { expect, test } from 'vitest';
import * as menuModule from '../../operators/index.js';
import { Bench, type Build, ofNumbers, Plain } from './harness.js';

const menu = menuModule as unknown as typeof rx;

type Watched = (name: string) => MonoTypeOperatorFunction<number>;
const watched =
  (log: string[], o: typeof rx): Watched =>
  (name) =>
    o.tap({
      subscribe: () => log.push(`${name} subscribe`),
      next: (n) => log.push(`${name} ${n}`),
      error: () => log.push(`${name} error`),
      complete: () => log.push(`${name} complete`),
      unsubscribe: () => log.push(`${name} unsubscribe`),
      finalize: () => log.push(`${name} finalize`),
    });
const between: fc.Arbitrary<(o: typeof rx) => OperatorFunction<number, number>> = fc.constantFrom(
  (o) => o.map((n) => n + 1),
  (o) => o.mergeMap((n) => [n, n]),
  (o) => o.take(2),
  (o) => o.takeWhile((n) => n < 4, true),
  (o) => o.reduce((a, b) => a + b),
  (o) => o.scan((a, b) => a + b, 0),
  (o) =>
    o.map((n) => {
      if (n === 3) throw 'thrown';
      return n;
    }),
  (o) => o.distinctUntilChanged(),
  (o) => o.catchError(() => [9]),
  (o) => o.finalize(() => {}),
);
const end = fc.constantFrom('complete', 'error', 'stop', 'open');

test('law: subscribe, next, error, complete, unsubscribe and finalize come in the order of RxJS', () => {
  fc.assert(
    fc.property(
      fc.array(between, { maxLength: 4 }),
      fc.array(fc.nat({ max: 5 }), { maxLength: 4 }),
      end,
      (steps, inputs, how) => {
        const logs = [rx, menu].map((o) => {
          const log: string[] = [];
          const watch = watched(log, o);
          const build: Build = ofNumbers((s) =>
            steps.reduce((stream, step, i) => stream.pipe(step(o), watch(`${i}`)), s.pipe(watch('first'))),
          );
          const driven = o === rx ? new Plain(build) : new Bench(build);
          driven.push(...inputs);
          if (how === 'complete') driven.complete();
          else if (how === 'error') driven.error('lost');
          else if (how === 'stop') driven.stop();
          return log;
        });
        expect(logs[1]).toEqual(logs[0]);
      },
    ),
    { numRuns: 200 },
  );
});
