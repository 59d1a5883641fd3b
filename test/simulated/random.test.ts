/**
 * Random pipelines under random seeds: whatever the order, the delays and the sizes of rings, results are those of plain RxJS.
 * The model is the inline path in virtual time; what it is compared with crosses the real codec, rings and doorbells.
 */
import fc from 'fast-check';
import { type Batch, isMillraceError } from 'millrace';
import { captured, feeder, simulate, testClock } from 'millrace/testing';
import { isObservable, type Observable } from 'rxjs';
import { describe, test } from 'vitest';
import { operatorTraits } from '../../operators/lowered.js';
import '../../operators/index.js';
import { type Drawn, draw, plainly, print } from '../threads/fixtures/drawing.js';
import { compare, type Outcome } from '../threads/fixtures/outcome.js';
import { pipeline, type Spec, type Streams } from '../threads/fixtures/pipeline.js';
import type { Item } from '../threads/fixtures/pipelineEntry.js';

const long = process.env['MILLRACE_LONG'] === '1';
const seeds = long ? 10_000 : 1_000;
/** Of those in the suite; the long form draws anew each time. */
const seed = Number(process.env['MILLRACE_SEED'] ?? 20_260);

const traits = operatorTraits();
const scopeOf = (name: string) => traits.get(name)?.scope;

const enoughMs = 1_000_000;

/** Plain RxJS, in virtual time: a hot source, as an executor's is. */
function inline(spec: Spec, values: readonly Item[]): Outcome {
  const clock = testClock();
  try {
    const input = feeder<Item>();
    const streams: Streams = pipeline.inline(input.source, plainly(spec));
    const record = isObservable(streams) ? { output: streams as Observable<Item> } : streams;
    const seen = Object.entries(record).map(([name, stream]) => [name, captured(stream)] as const);
    for (const value of values) input.next(value);
    input.complete();
    clock.advance(enoughMs);
    return Object.fromEntries(seen.map(([name, { values, end }]) => [name, { values, end }]));
  } finally {
    clock[Symbol.dispose]();
  }
}

function simulated(spec: Spec, input: readonly Item[], seed: number, batch: Batch): Outcome {
  const { outputs, end, trace } = simulate(pipeline, {
    args: spec,
    input,
    seed,
    run: { batches: { default: batch } },
  });
  if (isMillraceError(end) && end.code === 'ERR_STALLED') throw new Error(`${end.message}\n${trace}`);
  return Object.fromEntries(
    Object.entries(outputs).map(([name, values]) => [name, { values: values.map(([, value]) => value), end }]),
  );
}

/** Mostly small pipelines: of those, more schedules are tried in the same time. */
const tape = (maxLength: number) => fc.array(fc.nat(10_000), { minLength: 4, maxLength, size: 'max' });
const drawn: fc.Arbitrary<Drawn> = fc
  .oneof({ weight: 5, arbitrary: tape(30) }, { weight: 1, arbitrary: tape(120) })
  .map((tape) => {
    const made = draw(tape, scopeOf, (entry) => entry.foreign !== true);
    return Object.assign(made, {
      [fc.toStringMethod]: () => `\n${print(made.spec)}\n  orders ${JSON.stringify(made.orders)}\n`,
    });
  });

const batches: fc.Arbitrary<Batch> = fc.constantFrom<Batch>(
  1,
  2,
  100,
  { bytes: 1 },
  { size: 1000, bytes: 200 },
  { size: 10, flushMs: 0 },
  'auto',
  { size: 'auto', latencyMs: 1, idle: false },
);

const items: fc.Arbitrary<Item[]> = fc
  .array(fc.nat(999), { maxLength: 40 })
  .map((ns) => ns.map((n) => ({ n, tag: '' })));

describe('random pipelines, simulated', () => {
  test(`law: under ${seeds} seeds, the same values as inline come out, in the order the plan promises, and no run stalls`, {
    timeout: 300_000,
  }, () => {
    fc.assert(
      fc.property(
        drawn,
        items,
        batches,
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        ({ spec, orders }, values, batch, world) => {
          compare(simulated(spec, values, world, batch), inline(spec, values), orders);
        },
      ),
      { numRuns: seeds, ...(long ? {} : { seed }) },
    );
  });
});
