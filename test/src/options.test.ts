import { createRuntime, gather, keyBy, type Run, type RunOptions, shuffle, topology } from 'millrace';
import { type Observable, of } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';

const refused = (message: string | RegExp, code = 'ERR_OPTION') =>
  expect.objectContaining({
    name: 'MillraceError',
    code,
    message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
  });

// Nothing runs here: what is wrong is thrown by the call, before anybody subscribes.
const single = topology(import.meta.url, (n$: Observable<number>) => n$.pipe(shuffle({ name: 'work' })), {
  name: 'single',
});
const record = topology(
  import.meta.url,
  (n$: Observable<number>) => ({
    words: n$.pipe(keyBy((n) => n, { name: 'counts' })),
    errors: n$.pipe(gather()),
  }),
  { name: 'record' },
);
const takesArgs = topology(import.meta.url, (n$: Observable<number>, _args: unknown) => n$.pipe(shuffle()), {
  name: 'takesArgs',
});
const runtime = createRuntime({ threads: 1 });
afterAll(() => runtime.close());

const call = (options: unknown) => () => single(options as RunOptions<Observable<number>>);

describe('the options of a run', () => {
  test('may all be left out, or undefined', () => {
    const open = { runtime: undefined, threads: undefined, batches: undefined, signal: undefined, onRun: undefined };
    for (const options of [undefined, {}, open]) expect(call(options)()).toBeTypeOf('function');
  });

  test('are accepted up to their limits', () => {
    const right = [
      { runtime },
      { threads: 0 },
      { threads: 1024 },
      { batches: {} },
      { batches: { default: 1, work: { size: 2 }, output: { flushMs: Infinity, idle: false } } },
      { outputs: ['output'] },
      { maxParkedBytes: 1 },
      { maxParkedBytes: Number.POSITIVE_INFINITY },
      { stopMs: 1, startTimeoutMs: 2 ** 31 - 1 },
      { strict: true },
      { signal: new AbortController().signal },
      { onRun: (_run: Run) => {} },
    ];
    for (const options of right) expect(call(options)()).toBeTypeOf('function');
  });

  test.each([
    [null, 'the options of single must be an object, got null'],
    [7, 'the options of single must be an object, got 7'],
    ['fast', 'the options of single must be an object, got "fast"'],
    [() => {}, 'the options of single must be an object, got a function'],
  ])('%j is none', (options, message) => {
    expect(call(options)).toThrow(refused(message));
  });

  test.each([
    ['thread', 'threads'],
    ['Threads', 'threads'],
    ['batch', 'batches'],
    ['batchs', 'batches'],
    ['output', 'outputs'],
    ['maxParkedByte', 'maxParkedBytes'],
    ['stopMS', 'stopMs'],
    ['startTimeout', 'startTimeoutMs'],
    ['strickt', 'strict'],
    ['signals', 'signal'],
    ['onrun', 'onRun'],
    ['arg', 'args'],
    ['runtimes', 'runtime'],
  ])('%s is unknown, and %s is near', (name, near) => {
    expect(call({ [name]: undefined })).toThrow(
      refused(`ERR_OPTION: topology "single" has no option "${name}": did you mean ${near}?`),
    );
  });

  test.each(['ack', 'tracked', 'maxPending', 'parallelism', 'capacity'])('%s is not of this version', (name) => {
    expect(call({ [name]: 1 })).toThrow(refused(`topology "single" has no option "${name}": `));
  });

  test('where none is near, all are listed', () => {
    expect(call({ maxPending: 10 })).toThrow(
      refused(
        'known are args, runtime, threads, batches, overflow, outputs, maxParkedBytes, stallMs, hangMs, stopMs, startTimeoutMs, strict, signal, onRun; what build shall get goes into args',
      ),
    );
  });

  const notWhole = [-1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, '1', 1n, null, true, [], {}];
  const shown = ['-1', '0.5', 'NaN', '-Infinity', '"1"', '1n', 'null', 'true', 'an array of 0', 'an object of Object'];

  test.each([
    ['threads', 0, 1024, [1025, Number.POSITIVE_INFINITY]],
    ['maxParkedBytes', 1, Number.MAX_SAFE_INTEGER, [0, 2 ** 53]],
    ['stallMs', 1, 2 ** 31 - 1, [0, 2 ** 31, Number.POSITIVE_INFINITY]],
    ['hangMs', 1, 2 ** 31 - 1, [0, 2 ** 31]],
    ['stopMs', 1, 2 ** 31 - 1, [0, 2 ** 31, Number.POSITIVE_INFINITY]],
    ['startTimeoutMs', 1, 2 ** 31 - 1, [0, 2 ** 31, Number.POSITIVE_INFINITY]],
  ] as const)('%s is a whole number from %d to %d', (name, from, to, more) => {
    const wrong = [
      ...notWhole.map((value, i) => [value, shown[i]] as const),
      ...more.map((n) => [n, String(n)] as const),
    ];
    for (const [value, got] of wrong)
      expect(call({ [name]: value })).toThrow(
        refused(`ERR_OPTION: ${name} must be a whole number from ${from} to ${to}, got ${got}`),
      );
  });

  test.each([
    ['runtime', {}, 'runtime must be what createRuntime() returned, got an object of Object'],
    ['runtime', null, 'runtime must be what createRuntime() returned, got null'],
    ['runtime', createRuntime, 'runtime must be what createRuntime() returned, got a function createRuntime'],
    ['strict', 1, 'strict must be true or false, got 1'],
    ['strict', null, 'strict must be true or false, got null'],
    ['signal', new AbortController(), 'signal must be an AbortSignal, got an object of AbortController'],
    ['signal', { aborted: false }, 'signal must be an AbortSignal, got an object of Object'],
    ['onRun', 'log', 'onRun must be a function, got "log"'],
    ['overflow', 1, 'overflow got the strategy 1: it is one of auto, block, dropOldest'],
    ['overflow', 'dropOldst', 'overflow got the strategy "dropOldst": did you mean dropOldest?'],
    ['overflow', { capacity: 0 }, 'overflow.capacity must be a whole number from 1 to 2^31, got 0'],
    ['outputs', 'words', 'outputs must be a list of names, got "words"'],
    ['outputs', [1], 'outputs must be a list of names, got an array of 1'],
    ['outputs', [], 'outputs must name at least one output'],
    ['batches', 100, 'batches must be an object of batches by name, got 100'],
    ['batches', [100], 'batches must be an object of batches by name, got an array of 1'],
    ['batches', null, 'batches must be an object of batches by name, got null'],
  ])('%s of the wrong kind', (name, value, message) => {
    expect(call({ [name]: value })).toThrow(refused(`ERR_OPTION: ${message}`));
  });

  test('an Observable is none: the topology was piped without being called', () => {
    expect(() => of(1).pipe(single as never)).toThrow(
      refused('ERR_OPTION: single got an Observable: it takes options and gives an operator, so .pipe(single()) it is'),
    );
  });

  test('describe refuses the same', () => {
    expect(() => single.describe({ threads: -1 })).toThrow(refused('threads must be'));
    expect(() => single.describe({ maxPending: 1 } as object)).toThrow(refused('has no option "maxPending"'));
  });

  test('wrong ones are thrown by the call, and a plan that fails leaves nothing behind', () => {
    expect(runtime.runs).toEqual([]);
    expect(() => of(1).pipe(single({ runtime, threads: -1 }))).toThrow(refused('threads'));
    expect(runtime.runs).toEqual([]);
  });
});

describe('batches', () => {
  test.each([
    ['work', 0, 'batches.work must be a whole number of values, at least 1, got 0'],
    [
      'default',
      'Auto',
      'batches.default must be a number of values, \'auto\' or { size, bytes, flushMs, latencyMs, idle }, got "Auto"',
    ],
    ['output', { size: 1.5 }, "batches.output.size must be a whole number of values, at least 1, or 'auto', got 1.5"],
    ['output', { sizes: 1 }, 'batches.output has no option "sizes": did you mean size?'],
    ['work', { latencyMs: 1 }, "batches.work.latencyMs goes with size: 'auto', which it bounds"],
    ['work', { bytes: 0 }, 'batches.work.bytes must be a whole number from 1 to 1048576, got 0'],
    ['work', { flushMs: '5' }, 'batches.work.flushMs must be milliseconds from 0 to 2147483647, or Infinity, got "5"'],
    ['work', { idle: 'yes' }, 'batches.work.idle must be true or false, got "yes"'],
    [
      'work',
      undefined,
      "batches.work must be a number of values, 'auto' or { size, bytes, flushMs, latencyMs, idle }, got undefined",
    ],
  ])('of %s: %j is refused', (name, batch, message) => {
    expect(call({ batches: { [name]: batch } })).toThrow(refused(`ERR_OPTION: ${message}`));
  });

  test.each([
    ['works', 'batches names "works", which this plan does not have: did you mean work?'],
    ['outputs', 'did you mean output?'],
    ['@ack', 'batches names "@ack", which this plan does not have: there are work, output, default'],
    ['keyBy-2', 'there are work, output, default'],
  ])('of %s: the plan has no such exchange', (name, message) => {
    expect(call({ batches: { [name]: 1 } })).toThrow(refused(message));
  });

  test('of a record are named by its exchanges and outputs', () => {
    expect(record({ batches: { counts: 1, words: 2, errors: 3, default: 4 } })).toBeTypeOf('function');
    expect(() => record({ batches: { error: 1 } })).toThrow(refused('batches names "error"'));
  });
});

describe('outputs', () => {
  test('must be those of the record', () => {
    expect(record({ outputs: ['words'] })).toBeTypeOf('function');
    expect(() => record({ outputs: ['word' as 'words'] })).toThrow(
      refused('ERR_OPTION: outputs names "word", which this plan does not have: did you mean words?'),
    );
    expect(() => record({ outputs: ['words', 'count' as 'words'] })).toThrow(refused('outputs names "count"'));
  });
});

describe('args', () => {
  const apply = (args: unknown) => () => takesArgs({ args });
  const lost = (what: string) =>
    refused(
      `ERR_ARGS: ${what}, which cannot be cloned. Pass data only; make functions and connections inside build`,
      'ERR_ARGS',
    );

  class Connection {
    readonly url = 'tcp://mill';
    readonly send = (): void => {};
  }

  test.each([
    ['itself', () => {}, 'args is a function'],
    ['named', function open() {}, 'args is a function open'],
    ['nested', { sink: { onError: [1, { call: () => {} }] } }, 'args.sink.onError[1].call is a function call'],
    ['odd name', { 'on error': () => {} }, 'args["on error"] is a function on error'],
    ['symbol', { tag: Symbol('mill') }, 'args.tag is Symbol(mill)'],
    ['in a Map', { byName: new Map([['a b', { f() {} }]]) }, 'args.byName.get("a b").f is a function f'],
    ['in a Map of objects', new Map([[{ id: 1 }, Symbol('s')]]), 'args.values()[0] is Symbol(s)'],
    [
      'as a key',
      new Map([
        ['x', 1],
        [Symbol('k'), 2],
      ] as [unknown, number][]),
      'args.keys()[1] is Symbol(k)',
    ],
    ['in a Set', [new Set([1, () => {}])], 'args[0].values()[1] is a function'],
    ['in an instance', { to: new Connection() }, 'args.to.send is a function send'],
    ['promise', { when: Promise.resolve() }, 'args.when is an object of Promise'],
    ['weak map', new WeakMap(), 'args is an object of WeakMap'],
  ])('%s: what cannot be cloned is named by its path', (_, args, what) => {
    expect(apply(args)).toThrow(lost(what));
  });

  class Rate {
    readonly perPiece = 2;
    of(pieces: number): number {
      return pieces * this.perPiece;
    }
  }

  test.each([
    ['itself', new Rate(), 'args is an object of Rate'],
    ['nested', { rates: [1, new Rate()] }, 'args.rates[1] is an object of Rate'],
    ['in a Map', new Map([['a', { rate: new Rate() }]]), 'args.get("a").rate is an object of Rate'],
    ['of the platform', { at: new URL('a:b') }, 'args.at is an object of URL'],
  ])('%s: an instance that would lose its methods is refused', (_, args, what) => {
    expect(apply(args)).toThrow(
      refused(
        `ERR_ARGS: ${what}, of which a clone has the fields alone. Pass data only, and make the object inside build`,
        'ERR_ARGS',
      ),
    );
  });

  test('what a clone keeps is taken', () => {
    const kept = [
      new Date(0),
      /a/g,
      new Map(),
      new Set([1]),
      new RangeError('r'),
      Buffer.from('a'),
      new Float64Array(2),
    ];
    const table = new SharedArrayBuffer(8);
    const all = {
      kept,
      table,
      bare: Object.create(null) as object,
      view: new Int32Array(table),
      none: [null, undefined],
    };
    expect(apply(all)()).toBeTypeOf('function');
  });

  test('the error of structuredClone is the cause', () => {
    expect(apply(() => {})).toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ name: 'DataCloneError' }) }),
    );
  });

  test('what throws while it is read is refused as well', () => {
    const reason = new Error('no');
    const args = {
      get secret() {
        throw reason;
      },
    };
    expect(apply(args)).toThrow(expect.objectContaining({ code: 'ERR_ARGS', cause: reason }));
  });

  test('a cycle is cloned, and one that cannot be does not loop', () => {
    const ring: Record<string, unknown> = { n: 1 };
    ring['self'] = ring;
    expect(apply(ring)()).toBeTypeOf('function');
    ring['f'] = () => {};
    expect(apply(ring)).toThrow(lost('args.f is a function'));
  });

  test('build gets a clone of its own each time, of which memory stays shared', () => {
    const seen: { list: number[]; memory: SharedArrayBuffer }[] = [];
    const noting = topology(
      import.meta.url,
      (n$: Observable<number>, args: { list: number[]; memory: SharedArrayBuffer }) => {
        seen.push(args);
        args.list.push(seen.length);
        return n$.pipe(shuffle());
      },
      { name: 'noting' },
    );
    const given = { list: [0], memory: new SharedArrayBuffer(4) };
    noting({ args: given });
    given.list.push(99);
    noting.describe({ args: given });
    expect(seen.map(({ list }) => list)).toEqual([
      [0, 1],
      [0, 99, 2],
    ]);
    new Int32Array(given.memory)[0] = 7;
    for (const { memory } of seen) expect(new Int32Array(memory)[0]).toBe(7);
  });

  test('without args build gets none', () => {
    let count = -1;
    const counting = topology(import.meta.url, (...all: [Observable<number>, unknown?]) => {
      count = all.length;
      return all[0].pipe(shuffle());
    });
    counting();
    expect(count).toBe(1);
    counting({ args: undefined });
    expect(count).toBe(1);
    counting({ args: null });
    expect(count).toBe(2);
  });
});
