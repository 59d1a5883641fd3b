/** What a plan refuses, or a run that met it: code, the user's line and the cure. */

import * as rx from 'rxjs';
import { firstValueFrom, from, Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';
import {
  combineLatestWith,
  concatWith,
  map,
  mergeWith,
  pipe,
  takeUntil,
  withLatestFrom,
  zipWith,
} from '../../operators/index.js';
import type { MillraceError } from '../../runtime/errors.js';
import { broadcast, gather, keyBy, pull, route, shuffle, spreadKey, union } from '../../src/index.js';
import { refusal } from './harness.js';
import { lineOf, made, refused } from './planned.js';

type Numbers = Observable<number>;
type Build = (s$: Numbers) => unknown;

const same = (s$: Numbers): Numbers => s$;
const key = (n: number): number => n % 2;
const handWritten = (s$: Numbers): Numbers => new Observable((subscriber) => s$.subscribe(subscriber));
const twice = map((n: number) => n * 2);

/** A stream that a build has left behind. */
function streamOfAnotherBuild(): Numbers {
  let kept: Numbers | undefined;
  made((s$) => {
    kept = s$.pipe(map((n) => n));
    return kept;
  })();
  return kept as Numbers;
}

describe('ERR_FLOW_SUBSCRIBED while planning', () => {
  const swallowed = (s$: Numbers): void => {
    firstValueFrom(s$).catch(() => {});
  };
  const inTry = (s$: Numbers): void => {
    try {
      s$.subscribe();
    } catch {}
  };
  const cases: readonly (readonly [string, Build, string])[] = [
    ['subscribe', (s$) => s$.subscribe(), 's$.subscribe()'],
    ['subscribe of a branch', (s$) => s$.pipe(twice).subscribe(), '.subscribe()'],
    ['subscribe, the error caught', (s$) => [inTry(s$), s$][1], 's$.subscribe()'],
    ['firstValueFrom, the error swallowed', (s$) => [swallowed(s$), s$][1], 'firstValueFrom(s$)'],
    ['forEach, the error swallowed', (s$) => [s$.forEach(() => {}).catch(() => {}), s$][1], 's$.forEach'],
    ['toPromise, the error swallowed', (s$) => [s$.toPromise().catch(() => {}), s$][1], 's$.toPromise()'],
    ['connectable', (s$) => [rx.connectable(s$).connect(), s$][1], 'rx.connectable(s$)'],
  ];
  test.each(cases)('%s', (_, build, line) => {
    const error = refused(build);
    expect(error.code).toBe('ERR_FLOW_SUBSCRIBED');
    expect(lineOf(error)).toContain(line);
    expect(error.topology).toBeDefined();
    expect(error.message).toContain('Return the streams you want as outputs and subscribe outside the topology');
  });

  test('in an async build, whose rejection does not end the process', () => {
    const error = refused(async (s$) => s$.pipe(map(await firstValueFrom(s$).then(() => key))));
    expect(error.code).toBe('ERR_FLOW_SUBSCRIBED');
  });
});

describe('ERR_FLOW_SUBSCRIBED: a stream of another segment', () => {
  const other = (s$: Numbers): Numbers => s$.pipe(shuffle({ name: 'far' }), twice);
  const cure = 'Use union(), the only fan-in across segments, or keep both in one segment';

  test.each<[string, Build, string]>([
    ['mergeWith', (s$) => [other(s$)].map((far$) => union(far$, s$.pipe(twice, mergeWith(far$))))[0], 'mergeWith(…)'],
    ['takeUntil of a stream that leads nowhere else', (s$) => s$.pipe(twice, takeUntil(other(s$))), 'takeUntil(…)'],
  ])('an argument: %s', (_, build, label) => {
    const error = refused(build);
    expect(error).toMatchObject({ code: 'ERR_FLOW_SUBSCRIBED', segment: 'input', operator: label.slice(0, -3) });
    expect(error.message).toMatch(
      /in segment "input" uses a stream of (segment "far"|a segment that reaches no output)/,
    );
    expect(error.message).toContain(cure);
    expect(lineOf(error)).toContain(`${label.slice(0, -3)}(`);
  });

  const captured: readonly (readonly [string, Build])[] = [
    ['switchMap of rxjs', (s$) => captureBy(s$, (far$) => rx.switchMap(() => far$))],
    ['mergeMap of the menu', (s$) => captureBy(s$, (far$) => rx.mergeMap(() => far$.pipe(map((n) => n))))],
    ['mergeWith of rxjs', (s$) => captureBy(s$, (far$) => rx.mergeWith(far$))],
    ['a hand-written operator', (s$) => captureBy(s$, (far$) => () => rx.merge(far$, far$))],
  ];
  test.each(captured)('captured at run time: %s', async (_, build) => {
    const t = made(build);
    const error = await rx
      .lastValueFrom((t({ threads: 0 }) as rx.OperatorFunction<number, unknown>)(from([1, 2])))
      .then(
        () => undefined,
        (reason: MillraceError) => reason,
      );
    expect(error?.code).toBe('ERR_FLOW_SUBSCRIBED');
    expect(error?.message).toContain('a step of segment "near" subscribed a stream of segment "far"');
    expect(error?.message).toContain(
      'Use union(), the only fan-in across segments, or keep both streams in one segment',
    );
    expect(lineOf(error as MillraceError)).toMatch(/pipe\(/);
  });

  function captureBy(s$: Numbers, operator: (far$: Numbers) => rx.OperatorFunction<number, unknown>): unknown {
    const far$ = other(s$);
    return union(far$, s$.pipe(shuffle({ name: 'near' }), operator(far$)));
  }
});

describe('ERR_FLOW_LOST: an output', () => {
  const branches = (s$: Numbers): readonly [Numbers, Numbers] => [s$.pipe(twice), s$.pipe(map((n) => -n))];
  const outputs: readonly (readonly [string, Build, RegExp])[] = [
    [
      'rx.merge of two branches',
      (s$) => rx.merge(...branches(s$)),
      /"output" is no stream of this build.*use union\(\)/,
    ],
    [
      'rx.concat in a record',
      (s$) => ({ all: rx.concat(...branches(s$)) }),
      /"all" is no stream of this build.*use union\(\)/,
    ],
    [
      'a foreign Observable',
      () => from([1, 2]),
      /"output" is no stream of this build.*the input of build or at pull\(\)/,
    ],
    ['of another build', () => streamOfAnotherBuild(), /"output" is a stream of another build.*the input of build/],
    ['a topology applied by hand', (s$) => made(same)()(s$), /"output" is no stream of this build/],
    ['an array', (s$) => branches(s$), /"output" is no stream of this build/],
    ['nothing', () => undefined, /build returned nothing: return the stream, or a record of streams/],
    ['a record without outputs', () => ({}), /a record without outputs: return a stream/],
    ['async build', async (s$) => s$, /build must not be async.*pass data in args/],
    ['async build that fails', async () => Promise.reject(new Error('its own')), /build must not be async/],
  ];
  test.each(outputs)('%s', (_, build, message) => {
    const error = refused(build);
    expect(error.code).toBe('ERR_FLOW_LOST');
    expect(error.message).toMatch(message);
    expect(error.topology).toBeDefined();
    expect(error.at).toMatch(/\.ts:\d+:\d+$/);
  });

  test('of another build: the line is that of the stream', () => {
    expect(lineOf(refused(() => streamOfAnotherBuild()))).toContain('kept = s$.pipe');
  });
});

describe('ERR_FLOW_LOST: a cut or union', () => {
  const cures =
    /pass operators to \.pipe\(\) one by one, use pipe\(\) of millrace\/operators, start from pull\(\), or fan in with union\(\)/;
  const lost: readonly (readonly [string, Build, string])[] = [
    [
      'behind a hand-written operator in a free pipe of RxJS',
      (s$) => s$.pipe(rx.pipe(handWritten, shuffle())),
      'shuffle()',
    ],
    ['behind endWith of RxJS in a free pipe', (s$) => s$.pipe(rx.pipe(rx.endWith(1), keyBy(key))), 'keyBy()'],
    [
      'behind publish and refCount in a free pipe',
      (s$) => s$.pipe(rx.pipe(rx.publish(), rx.refCount(), shuffle())),
      'shuffle()',
    ],
    ['behind rx.merge', (s$) => rx.merge(s$, s$).pipe(gather()), 'gather()'],
    ['on an Observable of one’s own', () => from([1]).pipe(broadcast()), 'broadcast()'],
    ['union with an Observable of one’s own', (s$) => union(s$, from([1])), 'union()'],
    ['the error caught', (s$) => [catching(() => from([1]).pipe(route(key))), s$][1], 'route()'],
  ];
  test.each(lost)('%s', (_, build, operator) => {
    const error = refused(build);
    expect(error).toMatchObject({ code: 'ERR_FLOW_LOST', operator });
    expect(error.message).toMatch(
      /was given a plain Observable, so what comes before it would not be part of the plan/,
    );
    expect(error.message).toMatch(cures);
    expect(lineOf(error)).toContain(operator.slice(0, -1));
  });

  test.each<[string, Build]>([
    ['union', (s$) => union(s$, streamOfAnotherBuild())],
    ['spreadKey', () => streamOfAnotherBuild().pipe(spreadKey(key))],
  ])('%s on a stream of another build', (operator, build) => {
    const error = refused(build);
    expect(error).toMatchObject({ code: 'ERR_FLOW_LOST', operator: `${operator}()` });
    expect(error.message).toMatch(
      /was given a stream of another build. Start from the input of this build, or from pull\(\)/,
    );
    expect(lineOf(error)).toContain(`${operator}(`);
  });

  test.each<[string, Build]>([
    ['.pipe() one by one', (s$) => s$.pipe(handWritten, rx.endWith(1), shuffle())],
    ['pipe of millrace/operators', (s$) => s$.pipe(pipe(handWritten, rx.endWith(1), shuffle()))],
    ['a free pipe of operators that lift', (s$) => s$.pipe(rx.pipe(rx.map(key), rx.startWith(1), shuffle()))],
    ['union', (s$) => union(s$.pipe(twice), s$).pipe(shuffle())],
    [
      'pull',
      (s$) =>
        union(
          s$,
          pull(() => [1]),
        ),
    ],
  ])('the cure: %s', (_, build) => {
    expect(made(build).describe({ threads: 0 }).outputs).toEqual(['output']);
  });

  function catching(run: () => unknown): void {
    try {
      run();
    } catch {}
  }
});

describe('ERR_ORDERED_FAN_IN', () => {
  const other = (s$: Numbers): Numbers => s$.pipe(keyBy(key, { name: 'far' }), twice);
  const operators = { zipWith, concatWith, combineLatestWith, withLatestFrom } as unknown as Readonly<
    Record<string, (other$: Numbers) => rx.OperatorFunction<number, unknown>>
  >;
  test.each(Object.entries(operators))('%s with a stream of another segment', (name, operator) => {
    for (const leads of [false, true]) {
      const error = refused((s$) => {
        const far$ = other(s$);
        const near$ = s$.pipe(shuffle({ name: 'near' }), operator(far$));
        return leads ? { near$, far$ } : near$;
      });
      expect(error).toMatchObject({ code: 'ERR_ORDERED_FAN_IN', operator: name, segment: 'near' });
      expect(error.message).toContain('in segment "near" would join a stream of ');
      expect(error.message).toContain(leads ? 'segment "far"' : 'a segment that reaches no output');
      expect(error.message).toMatch(/Use union\(\) and tell the streams apart by a tag, or keep both in one segment/);
      expect(lineOf(error)).toContain('operator(far$)');
    }
  });

  test.each(Object.entries(operators))('%s with the input, which the caller routes', (_, operator) => {
    const error = refused((s$) => {
      const plus = operator(s$);
      return s$.pipe(shuffle(), plus);
    });
    expect(error.code).toBe('ERR_ORDERED_FAN_IN');
    expect(error.message).toContain("a stream of the caller's thread");
  });
});

describe('ERR_NAME', () => {
  const cases: readonly (readonly [string, Build, RegExp])[] = [
    [
      'two exchanges',
      (s$) => s$.pipe(shuffle({ name: 'a' }), keyBy(key, { name: 'a' })),
      /"a" \(.*\.ts:\d+, .*\.ts:\d+\): give each its own name/,
    ],
    [
      'an exchange and an output',
      (s$) => ({ a: s$.pipe(shuffle({ name: 'a' })) }),
      /named "a".*give each its own name/,
    ],
    ['an exchange and the only output', (s$) => s$.pipe(shuffle({ name: 'output' })), /named "output"/],
    [
      'an exchange and a made name',
      (s$) => s$.pipe(gather({ name: 'shuffle-2' }), shuffle(), twice),
      /named "shuffle-2"/,
    ],
    [
      'an exchange and a pull',
      (s$) =>
        union(
          s$.pipe(shuffle({ name: 'pull-1' })),
          pull(() => [1]),
        ),
      /named "pull-1"/,
    ],
    ['an exchange and the input', (s$) => s$.pipe(twice, shuffle({ name: 'input' })), /named "input"/],
    [
      'a record’s key and its gather',
      (s$) => ({ a: s$.pipe(gather({ name: 'b' })) }),
      /output "a" is named "b" by the gather\(\).*leave that name out/,
    ],
    [
      'an exchange: @',
      (s$) => s$.pipe(shuffle({ name: '@ack' })),
      /shuffle\(\): "@ack" starts with @, which is for the system. Choose another/,
    ],
    ['an output: @', (s$) => ({ '@ack': s$ }), /output: "@ack" starts with @, which is for the system. Choose another/],
    [
      'an exchange: empty',
      (s$) => s$.pipe(gather({ name: '' })),
      /gather\(\) must be a text that is not empty, got ""/,
    ],
    [
      'an exchange: no text',
      (s$) => s$.pipe(gather({ name: 7 as never })),
      /gather\(\) must be a text that is not empty, got 7/,
    ],
    ['an output: empty', (s$) => ({ '': s$ }), /name of an output must be a text that is not empty, got ""/],
    [
      'an exchange: default',
      (s$) => s$.pipe(shuffle({ name: 'default' })),
      /"default" means all streams without a batch of their own. Choose another/,
    ],
    ['an output: caller', (s$) => ({ caller: s$ }), /"caller" is the thread that subscribes. Choose another/],
  ];
  test.each(cases)('%s', (_, build, message) => {
    const error = refused(build);
    expect(error.code).toBe('ERR_NAME');
    expect(error.message).toMatch(message);
    expect(lineOf(error)).toMatch(/pipe\(|pull\(|t\(/);
  });

  test('gather() may name the only output, and repeat the key of a record', () => {
    expect(made((s$) => s$.pipe(gather({ name: 'words' }))).describe({ threads: 0 }).outputs).toEqual(['words']);
    expect(made((s$) => ({ a: s$.pipe(gather({ name: 'a' })) })).describe({ threads: 0 }).outputs).toEqual(['a']);
  });

  test('made names of exchanges that own names collide with are told by both lines', () => {
    const error = refusal(() => made((s$) => ({ a: s$, b: s$.pipe(shuffle({ name: 'a' })) }))());
    expect(error.message.match(/refusals\.test\.ts:\d+/g)).toHaveLength(2);
  });
});
