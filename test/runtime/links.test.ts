import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Links } from '../../runtime/links.js';
import { createCounters } from '../../runtime/metrics.js';
import type { ChannelOrder, OutletOrder } from '../../runtime/order.js';
import { createRing, RingReader, RingWriter } from '../../runtime/ring.js';
import type { Wires } from '../../runtime/wiring.js';

const caller = -1;
/** What a channel is at: the writer was refused or was not; it has ended, or its reader wants no more. */
type How = 'free' | 'refused' | 'ended' | 'finished';

/** `to` counts executors, then outputs; `from` may be the caller. */
interface Edge {
  readonly from: number;
  readonly to: number;
  readonly how: How;
}

function ring(how: How): SharedArrayBuffer {
  const memory = createRing(256);
  const writer = new RingWriter(memory);
  if (how === 'free') return memory;
  while (writer.reserve(writer.maxEntry) !== undefined) writer.commit(writer.maxEntry);
  if (how === 'ended') writer.end();
  if (how === 'finished') new RingReader(memory).finish();
  return memory;
}

/** Executors numbered from 0, outputs from `executors` on. */
function linksOf(executors: number, outputs: number, edges: readonly Edge[]): Links {
  const channels = edges.map(
    ({ from, to, how }, channel): ChannelOrder => ({
      id: `${from}->${to}`,
      channel,
      memory: ring(how),
      generation: 0,
      peer: 0,
    }),
  );
  const outlets = (end: number): OutletOrder[] => [
    { exchange: 0, targets: channels.filter((_, i) => edges[i]!.from === end) },
  ];
  const inputs = (end: number) =>
    channels.filter((_, i) => edges[i]!.to === end).map((channel) => ({ exchange: 0, channel }));
  const wires: Wires = {
    executors: Array.from({ length: executors }, (_, number) => ({
      id: String(number),
      thread: 1,
      order: { number, segment: 0, index: number, inputs: inputs(number), outlets: outlets(number) },
    })),
    callerOutlets: outlets(caller),
    outputs: new Map(Array.from({ length: outputs }, (_, i) => [executors + i, inputs(executors + i)])),
    channels,
    counters: createCounters(executors + 1, channels.length),
    counted: executors + 1,
    rings: [],
  };
  return new Links(wires);
}

/** Every way without a loop from the caller to an output. */
function* waysOf(
  edges: readonly Edge[],
  executors: number,
  end = caller,
  seen: readonly number[] = [],
): Generator<Edge[]> {
  for (const edge of edges) {
    if (edge.from !== end || seen.includes(edge.to)) continue;
    if (edge.to >= executors) yield [edge];
    else for (const further of waysOf(edges, executors, edge.to, [...seen, edge.to])) yield [edge, ...further];
  }
}

const hows = fc.constantFrom<How>('free', 'refused', 'refused', 'refused', 'ended', 'finished');
const graphs = fc.integer({ min: 1, max: 5 }).chain((executors) =>
  fc.integer({ min: 1, max: 2 }).chain((outputs) =>
    fc.record({
      executors: fc.constant(executors),
      outputs: fc.constant(outputs),
      edges: fc.uniqueArray(
        fc.record({
          from: fc.integer({ min: caller, max: executors - 1 }),
          to: fc.nat(executors + outputs - 1),
          how: hows,
        }),
        { maxLength: 12, selector: ({ from, to }) => `${from}->${to}` },
      ),
      withheld: fc.array(fc.boolean(), { minLength: outputs, maxLength: outputs }),
      still: fc.array(fc.constantFrom(true, true, true, false), { minLength: executors, maxLength: executors }),
    }),
  ),
);

describe('the channels of a run', () => {
  test('law: a way of full channels to an output that takes nothing is found exactly when there is one', () => {
    let found = 0;
    fc.assert(
      fc.property(graphs, ({ executors, outputs, edges, withheld, still }) => {
        const ways = [...waysOf(edges, executors)].filter(
          (way) =>
            way.every(({ how }) => how === 'refused') &&
            way.slice(0, -1).every(({ to }) => still[to] === true) &&
            withheld[way.at(-1)!.to - executors] === true,
        );
        const blocked = linksOf(executors, outputs, edges).blocked(
          (output) => withheld[output - executors] === true,
          (executor) => still[executor] === true,
        );
        if (ways.length === 0) expect(blocked).toBeUndefined();
        else {
          found++;
          expect(ways.map((way) => way.map(({ from, to }) => `${from}->${to}`))).toContainEqual(
            blocked?.map(({ id }) => id),
          );
        }
      }),
      { numRuns: 1_000 },
    );
    expect(found).toBeGreaterThan(50);
  });

  test('who sends to whom', () => {
    const links = linksOf(2, 1, [
      { from: caller, to: 0, how: 'free' },
      { from: 0, to: 1, how: 'refused' },
      { from: 1, to: 2, how: 'ended' },
    ]);
    expect(links.from('caller').map(({ to }) => to)).toEqual([{ executor: 0 }]);
    expect(links.to({ executor: 1 }).map(({ from }) => from)).toEqual([{ executor: 0 }]);
    expect(links.from({ executor: 1 }).map(({ to }) => to)).toEqual([{ output: 2 }]);
    expect(links.to({ output: 2 })).toEqual(links.from({ executor: 1 }));
    expect(links.all.map((link) => link.state())).toEqual([
      { capacity: 256, fill: 0, refused: false, over: false },
      { capacity: 256, fill: 256, refused: true, over: false },
      { capacity: 256, fill: 256, refused: true, over: true },
    ]);
  });
});
