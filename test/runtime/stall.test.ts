/** What a run says of itself when nothing moves: one text for each thing to wait for. */
import { describe, expect, test } from 'vitest';
import { createSleepCell, Sleeper } from '../../runtime/channel.js';
import { ExecutorCounters, type Waits } from '../../runtime/metrics.js';
import type { Plan } from '../../runtime/plan.js';
import { createRing, RingReader, RingWriter } from '../../runtime/ring.js';
import { type OutputReading, Standstill } from '../../runtime/stall.js';
import { type Wires, wire } from '../../runtime/wiring.js';

const step = { name: 'map', scope: 'value', opaque: false, at: 'words.ts:12' } as const;
const exchange = { local: false, codec: 'auto', order: 'none' } as const;

/** The input goes to `split`, which feeds `count`; each has an output. */
const plan: Plan = {
  version: 1,
  topology: 'words',
  segments: [
    { name: 'split', parallelism: 1, exchange: 0, steps: [{ ...step, name: 'mergeMap' }] },
    { name: 'count', parallelism: 1, exchange: 1, steps: [step, { ...step, name: 'countByKey', at: 'words.ts:14' }] },
  ],
  exchanges: [
    { ...exchange, name: 'input', kind: 'input', from: [-1], to: 0 },
    { ...exchange, name: 'count', kind: 'keyBy', from: [0], to: 1 },
    { ...exchange, name: 'words', kind: 'output', from: [0], to: -1 },
    { ...exchange, name: 'counts', kind: 'output', from: [1], to: -1 },
  ],
  outputs: [2, 3],
  warnings: [],
};
const [input, keyed, words, counts] = [0, 1, 2, 3];

interface Rest {
  readonly waits?: Waits;
  readonly ms?: number;
  readonly parkedBytes?: number;
  readonly restless?: boolean;
}

interface Still {
  /** Channels that are full; their writers were refused. */
  readonly full?: readonly number[];
  readonly ended?: readonly number[];
  readonly split?: Rest;
  readonly count?: Rest;
  readonly awake?: readonly number[];
  readonly starting?: readonly number[];
  /** Outputs whose reader asks for nothing. */
  readonly withheld?: readonly number[];
  /** Its plan begins with a pull. */
  readonly pulls?: boolean;
}

function standstill({
  full = [],
  ended = [],
  split = {},
  count = {},
  awake = [],
  starting = [],
  withheld = [],
  pulls,
}: Still) {
  const nowMs = 100_000;
  const rings: SharedArrayBuffer[] = [];
  const used: Plan =
    pulls === true
      ? { ...plan, exchanges: plan.exchanges.map((each, i) => (i === 0 ? { ...each, from: [] } : each)) }
      : plan;
  const wires: Wires = wire(
    used,
    (executor) => executor + 1,
    new Set([words, counts]),
    () => {
      const memory = createRing(256);
      rings.push(memory);
      return { memory, generation: 1 } as Wires['rings'][number];
    },
  );
  for (const at of [...full, ...ended]) {
    const writer = new RingWriter(rings[at]!);
    while (full.includes(at) && writer.reserve(writer.maxEntry) !== undefined) writer.commit(writer.maxEntry);
    if (ended.includes(at)) {
      writer.end();
      new RingReader(rings[at]!).finish();
    }
  }
  [split, count].forEach(({ waits = 'input', ms = 2_000, parkedBytes = 0, restless = false }, number) => {
    const counters = new ExecutorCounters(wires.counters, number);
    counters.parkedBytes = parkedBytes;
    counters.publish();
    counters.rest(waits, restless, nowMs - ms);
  });
  const cells = new Map([1, 2].map((thread) => [thread, createSleepCell()]));
  for (const [thread, cell] of cells) if (!awake.includes(thread)) new Sleeper(cell).fallAsleep();
  const read = (output: number): OutputReading => ({ withheld: withheld.includes(output), sinceMs: nowMs - 3_000 });
  return new Standstill({
    run: 'words-7',
    plan: used,
    wires,
    cellOf: (thread) => cells.get(thread),
    starting: (thread) => starting.includes(thread),
    startedAt: nowMs - 9_000,
    outputs: () => new Map([words, counts].map((output) => [output, read(output)])),
    epochMs: () => nowMs,
  });
}

const text = (how: Still): string => String(standstill(how).report());
const step2 = 'its own steps, the last of which is countByKey (pipe at words.ts:14)';

describe('what a stalled run says', () => {
  test('room and demand: the input waits for an executor, that for another, that for a reader', () => {
    const room: Rest = { waits: 'room', ms: 4_000 };
    const withheld = [words, counts];
    expect(text({ full: [input, keyed, counts], split: room, count: { ...room, parkedBytes: 77 }, withheld })).toBe(
      `words-7: nothing has moved for 3.0 s
  the input waits for room: split/0 has not taken what it was sent, 4.0 s
  split/0 waits for room: count/0 has not taken what it was sent, 4.0 s
  count/0 waits for room: output "counts" has not taken what it was sent, 4.0 s
  output "words" waits for demand: its reader asks for nothing, 3.0 s
  output "counts" waits for demand: its reader asks for nothing, 3.0 s
  input:caller->split/0 holds 256 of 256 bytes
  count:split/0->count/0 holds 256 of 256 bytes
  counts:count/0->caller holds 256 of 256 bytes
  77 bytes are parked
  the oldest value has waited for 4.0 s`,
    );
  });

  test('outputs of a record that are read one after the other are named as such', () => {
    const said = text({
      full: [input, counts],
      split: { waits: 'room' },
      count: { waits: 'room' },
      withheld: [counts],
    });
    expect(said.split('\n').slice(-2).join('\n')).toBe(
      `  the oldest value has waited for 2.0 s
  output "counts" is not being read, and a run goes as fast as its slowest reader: outputs of a record read one after the other stall. Read them at the same time, or name those you want in \`outputs\``,
    );
  });

  test('input: nothing is wrong', () => {
    expect(text({})).toBe(`words-7: nothing has moved for 2.0 s
  split/0 waits for input from the input, 2.0 s
  count/0 waits for input from split/0, 2.0 s
  output "words" waits for input from split/0, 3.0 s
  output "counts" waits for input from count/0, 3.0 s`);
  });

  test('input of a pull, and nothing where all has ended', () => {
    expect(text({ pulls: true, ended: [0, 1, 2], count: { waits: 'nothing' } })).toBe(
      `words-7: nothing has moved for 2.0 s
  split/0 waits for input from pull(), 2.0 s`,
    );
  });

  test('start: its module is being loaded', () => {
    expect(text({ starting: [1] })).toContain(
      '\n  split/0 waits for its module to load, 9.0 s\n  count/0 waits for input',
    );
  });

  test.each([
    ['promise', 'a promise of'],
    ['time', 'a timer of'],
  ] as const)('%s: of its own steps', (waits, said) => {
    expect(text({ count: { waits, ms: 1_234 } })).toContain(`\n  count/0 waits for ${said} ${step2}, 1.2 s\n`);
  });

  test('code: a thread that is awake, whatever it has said before', () => {
    expect(text({ awake: [2], count: { waits: 'promise', ms: 6_000 } })).toContain(
      `\n  count/0 waits for code of ${step2}, which has not come back, 6.0 s\n`,
    );
  });

  test('as data', () => {
    const report = standstill({
      full: [input],
      split: { waits: 'time', parkedBytes: 5 },
      count: { parkedBytes: 6 },
    }).report();
    expect({ ...report }).toEqual({
      sinceMs: 2_000,
      waits: expect.arrayContaining([
        { who: 'split/0', what: 'time', for: expect.stringContaining('mergeMap'), sinceMs: 2_000 },
      ]),
      channels: [{ id: 'input:caller->split/0', fill: 256, capacity: 256 }],
      parkedBytes: 11,
    });
  });
});

describe('whether somebody may still make room', () => {
  const all: Still = {
    full: [input, keyed, counts],
    split: { waits: 'room' },
    count: { waits: 'room' },
    withheld: [counts],
  };

  test('hopeless: full channels from the input to a reader that asks for nothing, and executors that do nothing by themselves', () => {
    expect(standstill(all).hopeless()).toEqual([
      'input:caller->split/0',
      'count:split/0->count/0',
      'counts:count/0->caller',
    ]);
    expect(standstill({ ...all, withheld: [words] }).hopeless()).toBeUndefined();
    expect(standstill({ ...all, full: [input, counts] }).hopeless()).toBeUndefined();
    expect(standstill({ ...all, awake: [1] }).hopeless()).toBeUndefined();
    expect(standstill({ ...all, count: { waits: 'room', restless: true } }).hopeless()).toBeUndefined();
  });

  test('work: values lie in channels, or wait for room or a promise', () => {
    expect(standstill({}).work).toBe(false);
    expect(standstill({ count: { waits: 'time' } }).work).toBe(false);
    expect(standstill({ full: [words] }).work).toBe(true);
    expect(standstill({ count: { waits: 'promise' } }).work).toBe(true);
    expect(standstill({ split: { waits: 'room' } }).work).toBe(true);
  });
});
