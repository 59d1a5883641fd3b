/**
 * One side of a ring vanishes at any of its accesses, as a thread does that is terminated: what the other still meets.
 * What is not promised is a wake-up by the dead: a survivor may sleep on until the run that has lost a thread fails.
 * That such a ring is not used again is a law of run.ts, which gives rings back only after all threads have.
 */
import { describe, expect, test } from 'vitest';
import { RingReader, RingWriter } from '../../runtime/ring.js';
import { explore, type Findings, type Ops, type Plain } from './fixtures/interleavings.js';
import {
  type Accesses,
  type Consuming,
  consumer,
  empty,
  entriesOf,
  exact,
  full,
  linkOf,
  play,
  producer,
  ringOf,
  type Start,
  signed,
  take,
  write,
} from './fixtures/ringSides.js';

const plains: readonly Plain[] = ['early', 'late'];

/** The end of an interleaving, whoever lives or sleeps on. */
interface Outcome {
  readonly writer: readonly unknown[];
  readonly reader: readonly unknown[];
  /** What is in memory: entries ever published, and those not released. */
  readonly published: number;
  readonly left: readonly unknown[];
}

/** For entries that skip no end. */
function leftIn(memory: SharedArrayBuffer, start: Start): () => Partial<Outcome> {
  return () => ({
    published: (((new Int32Array(memory)[0] ?? 0) - start.at) | 0) / 64,
    left: entriesOf(memory),
  });
}

function outcomes(ends: Findings['ends']): readonly Outcome[] {
  return ends.map(([writer = [], reader = [], memory = []]) => ({ ...(memory[0] as Outcome), writer, reader }));
}

/**
 * What is against the law. Read and left together are 0, 1, 2 … to the last published: nothing torn, unpublished,
 * overwritten or lost. Only the entry that was held when its reader vanished may be among both.
 */
function offences(found: Findings, entries: number): readonly string[] {
  return outcomes([...found.ends, ...found.stuck]).flatMap((outcome) => {
    const { writer, reader, published, left } = outcome;
    const read = reader.filter((each) => each !== 'gone' && each !== 'ended');
    const held = read.length > 0 && read.at(-1) === left[0];
    const all = [...read, ...left.slice(held ? 1 : 0)];
    const against = [
      all.length === published && all.every((value, i) => value === i) ? '' : 'not what was published',
      held && !reader.includes('gone') ? 'read and still there' : '',
      left.length > 4 ? 'more than fit' : '',
      reader.includes('ended') && !(writer.includes('ends') && read.length === entries) ? 'an end before its time' : '',
    ];
    return against.filter(Boolean).map((offence) => `${offence}: ${JSON.stringify(outcome)}`);
  });
}

describe('ring, one side gone', () => {
  interface Deed {
    readonly writing?: (ops: Ops, writer: RingWriter, value: number) => boolean;
    readonly writer?: Accesses;
  }

  /** Others may go on, and the writer vanish, when half of an entry is written. */
  const inHalves: NonNullable<Deed['writing']> = (ops, writer, value) => {
    const room = writer.reserve(48);
    if (room === undefined) return false;
    room.fill(value, 0, 24);
    ops.pause();
    room.fill(value, 24);
    writer.commit(48);
    return true;
  };

  /** Tries to write 2 entries and ends, looks 4 times; either may vanish, or both. */
  function part(start: Start, plain: Plain, deed: Deed = {}): Findings {
    const memory = ringOf(start);
    return explore(
      [memory],
      [
        (ops) => {
          const writer = new RingWriter(memory, (deed.writer ?? exact)(ops));
          let value = start.full;
          for (let i = 0; i < 2; i++) if ((deed.writing ?? inHalves)(ops, writer, value)) value += 1;
          ops.see('ends');
          writer.end();
        },
        (ops) => {
          const reader = new RingReader(memory, ops);
          for (let i = 0; i < 4; i++) {
            if (take(ops, reader)) continue;
            if (!reader.ended) continue;
            ops.see('ended');
            return;
          }
        },
      ],
      { plain, mayVanish: [0, 1], left: leftIn(memory, start) },
    );
  }

  test.each(plains)(
    'law: what is read and what is left is what was published (2 tries to write, an end, 4 looks; plain code %s)',
    (plain) => {
      for (const start of [empty, signed(empty), plain === 'early' ? full : signed(full)]) {
        const found = part(start, plain);
        expect(offences(found, start.full + 2)).toEqual([]);
        expect(found.stuck).toEqual([]);
        expect(found.ends.length).toBeGreaterThan(20);
        expect(found.interleavings).toBeGreaterThan(1e5);
      }
    },
  );

  test('law: … and the check sees it: bytes behind their commit, an end before it, a writer that takes all for read', () => {
    const against = (start: Start, plain: Plain, deed: Deed): string =>
      offences(part(start, plain, deed), start.full + 2).join('\n');
    const commitFirst: Deed['writing'] = (ops, writer, value) => {
      const room = writer.reserve(48);
      if (room === undefined) return false;
      writer.commit(48);
      ops.pause();
      room.fill(value);
      return true;
    };
    /** The store of `written` is overtaken by the one behind it. */
    const overtaken: Accesses = (ops) => {
      let waiting: (() => void) | undefined;
      const drain = (): void => {
        waiting?.();
        waiting = undefined;
      };
      return {
        ...ops,
        load(cells, index) {
          drain();
          return ops.load(cells, index);
        },
        store(cells, index, value) {
          const late = waiting;
          waiting = undefined;
          if (index === 0) waiting = () => void ops.store(cells, index, value);
          else ops.store(cells, index, value);
          late?.();
          return value;
        },
      };
    };
    /** Takes everything for released. */
    const careless: Accesses = (ops) => ({ ...ops, load: (cells, index) => ops.load(cells, index === 16 ? 0 : index) });
    expect(against(empty, 'early', { writing: commitFirst })).toContain('not what was published');
    expect(against(empty, 'early', { writer: overtaken })).toContain('an end before its time');
    expect(against(full, 'early', { writer: careless })).toContain('not what was published');
  });
});

describe('channel, one side gone', () => {
  interface Scenario {
    readonly start: Start;
    readonly send: number;
    readonly gone: 'writer' | 'reader';
    readonly consuming?: Consuming;
  }

  function between({ start, send, gone, consuming }: Scenario): Findings {
    const link = linkOf(ringOf(start));
    return play(link, [producer(link, { from: start.full, send }), consumer(link, consuming)], {
      mayVanish: [gone === 'writer' ? 0 : 1],
      left: leftIn(link.memory, start),
    });
  }

  test('law: a reader whose writer is gone reads what was published, and no end (2 frames and an end, to an empty ring)', () => {
    const found = between({ start: empty, send: 2, gone: 'writer' });
    expect(offences(found, 2)).toEqual([]);
    for (const { writer } of outcomes(found.stuck)) expect(writer).toContain('gone');
    for (const { reader } of outcomes(found.ends)) expect(reader).toEqual([0, 1, 'ended']);
    expect(found.interleavings).toBeGreaterThan(1e10);
  });

  test('law: a writer whose reader is gone fills the ring, no more (2 frames to a full ring, 3 reads)', () => {
    const found = between({ start: full, send: 2, gone: 'reader', consuming: { leaveAfter: 3 } });
    expect(offences(found, 6)).toEqual([]);
    for (const { reader } of outcomes(found.stuck)) expect(reader).toContain('gone');
    expect(outcomes(found.stuck)).toContainEqual({ writer: [], reader: ['gone'], published: 4, left: [0, 1, 2, 3] });
    expect(found.interleavings).toBeGreaterThan(1e9);
  });

  test('law: a survivor comes to rest, and the check sees one that asks for ever', () => {
    const memory = ringOf(full);
    const asks = (ops: Ops): void => {
      const writer = new RingWriter(memory, ops);
      while (!write(writer, 4));
    };
    expect(() => explore([memory], [asks, (ops) => ops.pause()], { mayVanish: [1] })).toThrow('side 0 makes more than');
  });
});
