import fc from 'fast-check';
import { type Batch, createRuntime, pull } from 'millrace';
import { from, isObservable, type Observable, Subject } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { operatorTraits } from '../../operators/lowered.js';
import '../../operators/index.js';
import { type Drawn, draw, plainly, print } from './fixtures/drawing.js';
import { observe } from './fixtures/observe.js';
import { compare, type Outcome } from './fixtures/outcome.js';
import { pipeline, type Spec, type Streams } from './fixtures/pipeline.js';
import type { Item } from './fixtures/pipelineEntry.js';
import { menu } from './fixtures/pipelineMenu.js';

const long = process.env['MILLRACE_LONG'] === '1';
/** Of the 60 in the suite; the long form draws anew each time. */
const seed = Number(process.env['MILLRACE_SEED'] ?? 20_260);
const runtime = createRuntime({ threads: 4 });
afterAll(() => runtime.close());

const traits = operatorTraits();
const scopeOf = (name: string) => traits.get(name)?.scope;

/** What these pipelines cannot hold, and why. */
const left: Readonly<Record<string, readonly string[]>> = {
  'depends on time': [
    'audit',
    'auditTime',
    'bufferTime',
    'bufferToggle',
    'bufferWhen',
    'debounce',
    'debounceTime',
    'sample',
    'subscribeOn',
    'sampleTime',
    'throttle',
    'throttleTime',
    'windowTime',
    'windowToggle',
    'windowWhen',
    'buffer',
    'window',
  ],
  'subscribes again, which an executor refuses': ['repeat'],
  'waits for several inners at once': ['combineLatestAll', 'combineLatestWith', 'zipAll'],
};

async function outcomeOf(streams: Streams): Promise<Outcome> {
  const record = isObservable(streams) ? { output: streams } : streams;
  const entries = Object.entries(record).map(async ([name, stream]) => [name, await observe(stream)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** Plain RxJS: a hot source, as an executor's is. */
async function inline(spec: Spec, values: readonly Item[]): Promise<Outcome> {
  const source = new Subject<Item>();
  const outcome = outcomeOf(pipeline.inline(source, plainly(spec)));
  for (const value of values) source.next(value);
  source.complete();
  return outcome;
}

interface How {
  readonly threads: number;
  readonly pulled: boolean;
  readonly batch: Batch;
}

function onThreads(spec: Spec, values: readonly Item[], { threads, pulled, batch }: How): Promise<Outcome> {
  const source: Observable<Item> = pulled ? pull(() => values) : from(values);
  return outcomeOf(pipeline({ args: spec, threads, runtime, batches: { default: batch } })(source) as Streams);
}

const drawn: fc.Arbitrary<Drawn> = fc
  .array(fc.nat(10_000), { minLength: 4, maxLength: 120, size: 'max' })
  .map((tape) => {
    const made = draw(tape, scopeOf);
    return Object.assign(made, {
      [fc.toStringMethod]: () => `\n${print(made.spec)}\n  orders ${JSON.stringify(made.orders)}\n`,
    });
  });

const how: fc.Arbitrary<How> = fc.record({
  threads: fc.integer({ min: 1, max: 4 }),
  pulled: fc.boolean(),
  batch: fc.constantFrom<Batch>(1, 2, 100, { bytes: 1 }, { size: 1000, bytes: 200 }, { size: 10, flushMs: 0 }),
});

const items: fc.Arbitrary<Item[]> = fc
  .array(fc.nat(999), { maxLength: 40 })
  .map((ns) => ns.map((n) => ({ n, tag: '' })));

describe('random pipelines', () => {
  test('every operator of the menu is drawn, or said to be left out', () => {
    const known = [...Object.keys(menu).map((name) => name.replace(/:.*/, '')), ...Object.values(left).flat()];
    expect([...traits.keys()].filter((name) => !known.includes(name))).toEqual([]);
  });

  test('values that a second output gets later have their keys inline as well', async () => {
    const spec: Spec = [
      { fork: [[{ op: 'pull', arg: 3 }], [{ op: 'tap', arg: 0 }]] },
      { cut: 'keyBy', parallelism: 1, key: 0 },
      { tee: [] },
      { op: 'reduceByKey', arg: 0 },
    ];
    const how: How = { threads: 1, pulled: false, batch: 1 };
    compare(await onThreads(spec, [], how), await inline(spec, []), {});
  });

  test('law: the same values come out on threads, on the calling thread and inline, in the order the plan promises', {
    timeout: long ? 3_600_000 : 90_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(drawn, items, how, async ({ spec, orders }, values, how) => {
        const expected = await inline(spec, values);
        compare(await onThreads(spec, values, { ...how, threads: 0 }), expected, orders);
        compare(await onThreads(spec, values, how), expected, orders);
      }),
      { ...(long ? { numRuns: 2000 } : { numRuns: 60, seed }), timeout: 20_000 },
    );
  });
});
