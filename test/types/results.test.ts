/** The exported types of applications, and the option names the compiler refuses. Proved by tsc; little of it runs. */

import * as rx from 'rxjs';
import { from, type Observable, type OperatorFunction } from 'rxjs';
import { describe, expectTypeOf, test } from 'vitest';
import * as menu from '../../operators/index.js';
import {
  type Applied,
  type Codec,
  createRuntime,
  type ErrorCode,
  type ExchangeOptions,
  gather,
  keyBy,
  MillraceError,
  type Outputs,
  type PlanDescription,
  pull,
  type Results,
  type RunOptions,
  type Runtime,
  type ShuffleOptions,
  type Source,
  shuffle,
  source,
  spreadKey,
  type Topology,
  type TopologyOptions,
  topology,
} from '../../src/index.js';

const here = import.meta.url;
let made = 0;
const named = (): TopologyOptions => ({ name: `results-${made++}` });

interface Halves {
  readonly even: Observable<number>;
  readonly odd: Observable<string>;
}

describe('applications', () => {
  test('of one stream an operator, of a record a function of the input', () => {
    expectTypeOf<Applied<string, Observable<number>>>().toEqualTypeOf<OperatorFunction<string, number>>();
    expectTypeOf<Applied<string, Halves>>().toEqualTypeOf<(input: Observable<string>) => Results<Halves>>();
    expectTypeOf<Results<Observable<number>>>().toEqualTypeOf<Observable<number>>();
    expectTypeOf<Results<{ even: Observable<number>; odd: Observable<string> }>>().toEqualTypeOf<{
      readonly even: Observable<number>;
      readonly odd: Observable<string>;
    }>();
    expectTypeOf<Observable<Date>>().toExtend<Outputs>();
    expectTypeOf<{ a: Observable<Date>; b: Observable<1> }>().toExtend<Outputs>();
    expectTypeOf<number>().not.toExtend<Outputs>();
    expectTypeOf<{ a: 1 }>().not.toExtend<Outputs>();
    expectTypeOf<Promise<Observable<1>>>().not.toExtend<Outputs>();
  });

  test('the types of topologies and sources can be written down', () => {
    const counts: Topology<
      string,
      Observable<readonly [string, number]>,
      readonly [{ minLength?: number }?]
    > = topology(
      here,
      (words: Observable<string>, { minLength = 1 }: { minLength?: number } = {}) =>
        words.pipe(
          menu.filter((word) => word.length >= minLength),
          keyBy((word) => word),
          menu.countByKey(),
        ),
      named(),
    );
    expectTypeOf(counts()).toEqualTypeOf<OperatorFunction<string, readonly [string, number]>>();
    const ones: Source<Observable<number>> = source(here, () => pull(() => [1]), named());
    expectTypeOf(ones()).toEqualTypeOf<Observable<number>>();
    expectTypeOf(ones.describe()).toEqualTypeOf<PlanDescription>();
    expectTypeOf(ones.inline).toEqualTypeOf<() => Observable<number>>();
  });

  test('in the middle of a pipe, types flow on both sides', () => {
    const lengths = topology(here, (s: Observable<string>) => s.pipe(menu.map((word) => word.length)), named());
    const result = from(['a']).pipe(
      rx.map((a) => a.toUpperCase()),
      lengths({ batches: { default: 1 } }),
      rx.map((n) => n.toFixed()),
      lengths(),
    );
    expectTypeOf(result).toEqualTypeOf<Observable<number>>();
    expectTypeOf(lengths).parameter(0).toExtend<RunOptions<Observable<number>> | undefined>();
  });

  test('a record of outputs may be an interface', () => {
    const build = (s: Observable<number>): Halves => ({ even: s, odd: s.pipe(menu.map(String)) });
    const split = topology(here, build, named());
    expectTypeOf(split({ outputs: ['odd'] })).toEqualTypeOf<(input: Observable<number>) => Results<Halves>>();
    expectTypeOf(split()(from([1])).odd).toEqualTypeOf<Observable<string>>();
    expectTypeOf(split).toExtend<Topology<number, Halves>>();
    const halves = source(here, () => build(pull(() => [1])), named());
    expectTypeOf(halves()).toEqualTypeOf<Results<Halves>>();
    // @ts-expect-error with other things in it, it is none
    topology(here, (s: Observable<number>): Halves & { size: number } => ({ ...build(s), size: 1 }), named());
    // @ts-expect-error nor is a list
    topology(here, (s: Observable<number>) => [s, s], named());
    // @ts-expect-error nor nothing
    topology(here, (_: Observable<number>) => undefined, named());
  });

  test('what build may not take is refused', () => {
    // @ts-expect-error the input is a stream
    topology(here, (n: number) => from([n]), named());
    // @ts-expect-error there is one argument beside the input
    topology(here, (s: Observable<number>, _a: number, _b: number) => s, named());
    // @ts-expect-error a source has one argument
    source(here, (_a: number, _b: number) => pull(() => [1]), named());
    // @ts-expect-error a build is async in vain
    source(here, async () => pull(() => [1]), named());
  });
});

describe('unknown names are refused', () => {
  const same = topology(here, (s: Observable<number>) => s, named());
  const split = topology(here, (s: Observable<number>) => ({ a: s, b: s.pipe(menu.map(String)) }), named());
  const by = (n: number): number => n;

  test('in the options of a run', () => {
    type Given = NonNullable<Parameters<typeof same>[0]>;
    expectTypeOf<{ threads: 0; strict: true; batches: { output: 1 } }>().toExtend<Given>();
    const wrong = (): void => {
      // @ts-expect-error no such option
      same({ thread: 1 });
      // @ts-expect-error of a later stage
      same({ ack: true });
      // @ts-expect-error of a later stage
      same({ tracked: true });
      // @ts-expect-error of a later stage
      same.describe({ maxPending: 1 });
      // @ts-expect-error an option of another type
      same({ threads: '2' });
      // @ts-expect-error batches by name, not a batch
      same({ batches: 100 });
      // @ts-expect-error no such size
      same({ batches: { default: 'automatic' } });
      // @ts-expect-error outputs is a list
      split({ outputs: 'a' });
      // @ts-expect-error of other names
      split({ outputs: ['a', 'c'] });
      // @ts-expect-error a single output has no choice
      same({ outputs: ['output'] });
    };
    expectTypeOf(wrong).returns.toBeVoid();
    expectTypeOf(split({ outputs: ['a'] })).toEqualTypeOf<
      (input: Observable<number>) => { readonly a: Observable<number>; readonly b: Observable<string> }
    >();
  });

  test('in the options of a cut', () => {
    const wrong = (): void => {
      // @ts-expect-error no such option
      shuffle({ paralelism: 2 });
      // @ts-expect-error local is of shuffle
      from([1]).pipe(keyBy(by, { local: true }));
      // @ts-expect-error gather opens one executor
      gather({ parallelism: 2 });
      // @ts-expect-error not known yet
      spreadKey(by, { codec: 'int32' });
      // @ts-expect-error no such size
      shuffle({ batch: { size: 'automatic' } });
      // @ts-expect-error a codec has both directions
      shuffle({ codec: { name: 'half', encode: by } });
      // @ts-expect-error a selector is a function
      keyBy('word');
    };
    expectTypeOf(wrong).returns.toBeVoid();
    expectTypeOf<ShuffleOptions<number>>().toExtend<ExchangeOptions<number>>();
    expectTypeOf<'auto' | 'clone'>().toExtend<Codec>();
  });

  test('in the options of topology and createRuntime', () => {
    const wrong = (): void => {
      // @ts-expect-error no such option
      topology(here, (s: Observable<number>) => s, { nmae: 'a' });
      // @ts-expect-error no such option
      createRuntime({ thread: 1 });
      // @ts-expect-error entry is a URL
      createRuntime({ entry: './worker.js' });
    };
    expectTypeOf(wrong).returns.toBeVoid();
    expectTypeOf(createRuntime()).toEqualTypeOf<Runtime>();
  });
});

describe('options that mention values do not steal the inference', () => {
  test('a codec of the values', () => {
    const codec = { name: 'date', encode: (d: Date) => d.getTime(), decode: (n: unknown) => new Date(n as number) };
    expectTypeOf(from([new Date()]).pipe(shuffle({ codec }))).toEqualTypeOf<Observable<Date>>();
    expectTypeOf(
      from([new Date()]).pipe(
        keyBy((d) => d.getFullYear(), { codec }),
        menu.countByKey(),
      ),
    ).toEqualTypeOf<Observable<readonly [key: number, count: number]>>();
    // @ts-expect-error the codec is of dates
    from([1]).pipe(shuffle({ codec }));
  });

  test('keys of any type', () => {
    const rows = from([{ user: 'a', at: 1n }]);
    expectTypeOf(
      rows.pipe(
        keyBy(({ user, at }) => [user, at] as const),
        menu.countByKey(),
      ),
    ).toEqualTypeOf<Observable<readonly [key: readonly [string, bigint], count: number]>>();
    expectTypeOf(rows.pipe(menu.countByKey())).toEqualTypeOf<Observable<readonly [key: unknown, count: number]>>();
  });
});

describe('errors', () => {
  test('codes are a closed set', () => {
    expectTypeOf<MillraceError['code']>().toEqualTypeOf<ErrorCode>();
    expectTypeOf<'ERR_SCOPE'>().toExtend<ErrorCode>();
    expectTypeOf<'ERR_ELSE'>().not.toExtend<ErrorCode>();
    expectTypeOf(MillraceError).instance.toExtend<Error>();
  });
});
