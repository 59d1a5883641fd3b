/** The public types. They are proved by tsc; what little runs here only shows that the calls exist. */

import * as rx from 'rxjs';
import { type MonoTypeOperatorFunction, type Observable, type OperatorFunction, of, partition } from 'rxjs';
import { describe, expectTypeOf, test } from 'vitest';
import * as menu from '../../operators/index.js';
import {
  type Batch,
  broadcast,
  createRuntime,
  gather,
  type Keyed,
  type KeyOf,
  keyBy,
  type MillraceError,
  type PlanDescription,
  pull,
  type Run,
  type RunOptions,
  route,
  shuffle,
  source,
  spreadKey,
  type Topology,
  topology,
  union,
} from '../../src/index.js';

const { countByKey, distinctByKey, filter, map, mergeMap, perExecutor, perValue, pipe, reduceByKey, scanByKey } = menu;
const here = import.meta.url;
let made = 0;
/** Topologies of one module need names where they are made in functions. */
const named = (): { readonly name: string } => ({ name: `types-${made++}` });

interface Person {
  readonly name: string;
  readonly age: number;
}

describe('topology', () => {
  test('In and Out are those of build', () => {
    const lengths = topology(here, (words: Observable<string>) => words.pipe(map((word) => word.length)), named());
    expectTypeOf(lengths()).toEqualTypeOf<OperatorFunction<string, number>>();
    expectTypeOf(lengths({ threads: 0 })).toEqualTypeOf<OperatorFunction<string, number>>();
    expectTypeOf(of('a').pipe(lengths())).toEqualTypeOf<Observable<number>>();
    expectTypeOf(
      of('a').pipe(
        map((a) => `${a}!`),
        lengths(),
        map((n) => n > 1),
      ),
    ).toEqualTypeOf<Observable<boolean>>();
    expectTypeOf(lengths).toExtend<Topology<string, Observable<number>>>();
    expectTypeOf(lengths.name).toEqualTypeOf<string>();
    expectTypeOf(lengths.describe()).toEqualTypeOf<PlanDescription>();
    expectTypeOf(lengths.inline(of('a'))).toEqualTypeOf<Observable<number>>();
  });

  test('unions go through', () => {
    const either = topology(here, (s: Observable<string | number>) => s.pipe(filter((v) => v !== '')), named());
    expectTypeOf(either()).toEqualTypeOf<OperatorFunction<string | number, string | number>>();
  });

  test('a wrong input is refused', () => {
    const lengths = topology(here, (words: Observable<string>) => words.pipe(map((word) => word.length)), named());
    // @ts-expect-error numbers are no strings
    of(1).pipe(lengths());
    // @ts-expect-error nor are they inline
    lengths.inline(of(1));
  });

  test('args: optional', () => {
    const words = topology(
      here,
      (lines: Observable<string>, { minLength = 1 }: { minLength?: number } = {}) =>
        lines.pipe(filter((line) => line.length >= minLength)),
      named(),
    );
    expectTypeOf(words()).toEqualTypeOf<OperatorFunction<string, string>>();
    expectTypeOf(words({})).toEqualTypeOf<OperatorFunction<string, string>>();
    expectTypeOf(words({ args: { minLength: 3 } })).toEqualTypeOf<OperatorFunction<string, string>>();
    expectTypeOf(words({ args: undefined })).toEqualTypeOf<OperatorFunction<string, string>>();
    expectTypeOf(words.inline(of('a'))).toEqualTypeOf<Observable<string>>();
    expectTypeOf(words.inline(of('a'), { minLength: 3 })).toEqualTypeOf<Observable<string>>();
    // @ts-expect-error a text is no number
    words({ args: { minLength: 'three' } });
    // @ts-expect-error nor inline
    words.inline(of('a'), { minLength: 'three' });
  });

  test('args: required', () => {
    const times = topology(here, (s: Observable<number>, by: number) => s.pipe(map((n) => n * by)), named());
    expectTypeOf(times({ args: 2 })).toEqualTypeOf<OperatorFunction<number, number>>();
    expectTypeOf(times.describe({ args: 2 })).toEqualTypeOf<PlanDescription>();
    // @ts-expect-error args are required
    expectTypeOf(times).toBeCallableWith();
    // @ts-expect-error in options too
    expectTypeOf(times).toBeCallableWith({ threads: 0 });
    // @ts-expect-error and inline
    expectTypeOf(times.inline).toBeCallableWith(of(1));
  });

  test('args: none', () => {
    const same = topology(here, (s: Observable<number>) => s.pipe(map((n) => n)), named());
    expectTypeOf(same({ args: undefined })).toEqualTypeOf<OperatorFunction<number, number>>();
    // @ts-expect-error build takes none
    expectTypeOf(same).toBeCallableWith({ args: 2 });
    // @ts-expect-error nor inline
    expectTypeOf(same.inline).toBeCallableWith(of(1), 2);
  });

  test('a record of outputs is a function of the input', () => {
    const split = topology(
      here,
      (s: Observable<number>) => {
        const [even, odd] = partition(s, (n) => n % 2 === 0);
        return { even, odd: odd.pipe(map(String)) };
      },
      named(),
    );
    type Halves = { readonly even: Observable<number>; readonly odd: Observable<string> };
    expectTypeOf(split()).toEqualTypeOf<(input: Observable<number>) => Halves>();
    expectTypeOf(split()(of(1)).odd).toEqualTypeOf<Observable<string>>();
    expectTypeOf(split.inline(of(1))).toEqualTypeOf<{ even: Observable<number>; odd: Observable<string> }>();
    split({ outputs: ['even'] });
    // @ts-expect-error there is no such output
    expectTypeOf(split).toBeCallableWith({ outputs: ['neither'] });
    // @ts-expect-error a record is no operator
    of(1).pipe(split());
  });

  test('outputs are for records only', () => {
    const same = topology(here, (s: Observable<number>) => s.pipe(map((n) => n)), named());
    // @ts-expect-error a single output has no choice
    expectTypeOf(same).toBeCallableWith({ outputs: ['output'] });
  });

  test('a build that is async, or returns no stream, is refused', () => {
    // @ts-expect-error a promise is no stream
    topology(here, async (s: Observable<number>) => s, named());
    // @ts-expect-error nor is a number
    topology(here, (_: Observable<number>) => 1, named());
    // @ts-expect-error nor a record of numbers
    topology(here, (_: Observable<number>) => ({ one: 1 }), named());
  });

  test('a module is a text or a URL', () => {
    topology(new URL(here), (s: Observable<number>) => s, named());
    // @ts-expect-error nothing else
    expectTypeOf(topology).toBeCallableWith(1, (s: Observable<number>) => s);
  });
});

describe('source', () => {
  test('has no input', () => {
    const numbers = source(here, () => pull(() => [1, 2]), named());
    expectTypeOf(numbers()).toEqualTypeOf<Observable<number>>();
    expectTypeOf(numbers.inline()).toEqualTypeOf<Observable<number>>();
    const some = source(here, (count: number) => pull(() => new Array<string>(count).fill('')), named());
    expectTypeOf(some({ args: 2 })).toEqualTypeOf<Observable<string>>();
    // @ts-expect-error args are required
    expectTypeOf(some).toBeCallableWith();
    const both = source(here, () => ({ a: pull(() => [1]), b: pull(() => ['b']) }), named());
    expectTypeOf(both()).toEqualTypeOf<{ readonly a: Observable<number>; readonly b: Observable<string> }>();
  });

  test('pull takes what can be asked', () => {
    async function* lines(): AsyncGenerator<string> {
      yield '';
    }
    expectTypeOf(pull(() => new Set([1]))).toEqualTypeOf<Observable<number>>();
    expectTypeOf(pull(() => lines())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(pull((signal) => (signal satisfies AbortSignal) && [1])).toEqualTypeOf<Observable<number>>();
    // @ts-expect-error a promise of values cannot be asked for one
    pull(async () => [1]);
  });
});

describe('keys', () => {
  const people = of<Person>({ name: 'Ada', age: 36 });

  test('keyBy remembers the key for the types, and the value stays what it is', () => {
    const keyed = people.pipe(keyBy((person) => person.age));
    expectTypeOf(keyed).toEqualTypeOf<Observable<Keyed<Person, number>>>();
    expectTypeOf<KeyOf<Keyed<Person, number>>>().toEqualTypeOf<number>();
    expectTypeOf<KeyOf<Person>>().toEqualTypeOf<unknown>();
    expectTypeOf<Keyed<Person, number>>().toExtend<Person>();
  });

  test('…ByKey gives the key its type', () => {
    const keyed = people.pipe(keyBy((person) => person.name));
    expectTypeOf(keyed.pipe(countByKey())).toEqualTypeOf<Observable<readonly [key: string, count: number]>>();
    const oldest = keyed.pipe(
      scanByKey(
        (age: number, person, key) => Math.max(age, person.age, key.length),
        () => 0,
      ),
    );
    expectTypeOf(oldest).toEqualTypeOf<Observable<readonly [key: string, acc: number]>>();
    const names = keyed.pipe(
      reduceByKey(
        (all: string[], person) => [...all, person.name],
        (key) => [key],
      ),
    );
    expectTypeOf(names).toEqualTypeOf<Observable<readonly [key: string, acc: string[]]>>();
    expectTypeOf(keyed.pipe(distinctByKey())).toEqualTypeOf<typeof keyed>();
  });

  test('perValue gives what its operator gives', () => {
    const ages = people.pipe(
      perValue(
        rx.pipe(
          rx.map((person) => person.age),
          rx.timeout(10),
        ),
        { concurrency: 2, ordered: false },
      ),
    );
    expectTypeOf(ages).toEqualTypeOf<Observable<number>>();
    expectTypeOf(people.pipe(perValue(rx.mergeMap(async ({ name }) => name)))).toEqualTypeOf<Observable<string>>();
  });

  test('filter keeps the type of the key, map does not', () => {
    const keyed = people.pipe(keyBy((person) => person.name));
    expectTypeOf(
      keyed.pipe(
        filter((person) => person.age > 1),
        countByKey(),
      ),
    ).toEqualTypeOf<Observable<readonly [key: string, count: number]>>();
    expectTypeOf(
      keyed.pipe(
        map((person) => person.age),
        countByKey(),
      ),
    ).toEqualTypeOf<Observable<readonly [key: unknown, count: number]>>();
  });
});

describe('cuts', () => {
  test('keep the type of the values', () => {
    expectTypeOf(of(1).pipe(shuffle({ parallelism: 2, local: true }))).toEqualTypeOf<Observable<number>>();
    expectTypeOf(of(1).pipe(spreadKey((n) => n))).toEqualTypeOf<Observable<number>>();
    expectTypeOf(of(1).pipe(broadcast(), gather({ name: 'all' }))).toEqualTypeOf<Observable<number>>();
    expectTypeOf(of(1).pipe(route((n, executors) => [n % executors]))).toEqualTypeOf<Observable<number>>();
    expectTypeOf(shuffle<string>()).toEqualTypeOf<MonoTypeOperatorFunction<string>>();
    expectTypeOf(union(of(1), of('a'))).toEqualTypeOf<Observable<string | number>>();
  });

  test('refuse wrong options', () => {
    // @ts-expect-error there is one executor behind gather
    expectTypeOf(gather).toBeCallableWith({ parallelism: 2 });
    // @ts-expect-error local is of shuffle
    expectTypeOf(broadcast).toBeCallableWith({ local: true });
    // @ts-expect-error a batch has a size
    expectTypeOf(shuffle).toBeCallableWith({ batch: 'big' });
    // @ts-expect-error an index is a number
    of(1).pipe(route(() => 'first'));
  });

  test('a batch is a number or its parts', () => {
    expectTypeOf<number>().toExtend<Batch>();
    expectTypeOf<{ size: number; bytes: number; flushMs: number; idle: boolean }>().toExtend<Batch>();
  });
});

describe('runs', () => {
  test('options', () => {
    expectTypeOf<RunOptions['signal']>().toEqualTypeOf<AbortSignal | undefined>();
    expectTypeOf<RunOptions['onRun']>().toEqualTypeOf<((run: Run) => void) | undefined>();
    expectTypeOf<RunOptions<Observable<number>>['outputs']>().toEqualTypeOf<undefined>();
    expectTypeOf<RunOptions<{ a: Observable<number> }>['outputs']>().toEqualTypeOf<readonly 'a'[] | undefined>();
    expectTypeOf(createRuntime).returns.toExtend<AsyncDisposable>();
    expectTypeOf<MillraceError>().toExtend<Error>();
    expectTypeOf<MillraceError['at']>().toEqualTypeOf<string | undefined>();
  });
});

describe('the menu', () => {
  test('every operator has the type of the RxJS operator it stands for', () => {
    type Ours =
      | 'scanByKey'
      | 'reduceByKey'
      | 'countByKey'
      | 'distinctByKey'
      | 'batch'
      | 'debatch'
      | 'perValue'
      | 'perExecutor';
    type Menu = Omit<typeof menu, Ours>;
    type OfRx = Pick<typeof rx, keyof Menu & keyof typeof rx>;
    expectTypeOf<Exclude<keyof Menu, keyof typeof rx>>().toBeNever();
    expectTypeOf<Menu>().toExtend<OfRx>();
    expectTypeOf<OfRx>().toExtend<Menu>();
    expectTypeOf(mergeMap).toEqualTypeOf<typeof rx.mergeMap>();
    expectTypeOf(pipe).toEqualTypeOf<typeof rx.pipe>();
    expectTypeOf(perExecutor(rx.take<number>(2))).toEqualTypeOf<OperatorFunction<number, number>>();
  });
});
