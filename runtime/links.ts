/**
 * The channels of a run as a graph: who sends to whom, read from shared memory at any time by the calling thread.
 * Owns the edges, and the question whether a full one can still get room without the caller. Never writes.
 */

import { type ChannelState, channelState } from './channel.js';
import { type Rest, readRest } from './metrics.js';
import type { ChannelOrder, OutletOrder } from './order.js';
import type { Wires } from './wiring.js';

/** An end of a channel: the number of an executor, `caller`, or the exchange of an output. */
export type End = { readonly executor: number } | { readonly output: number } | 'caller';

export interface Link {
  readonly id: string;
  readonly from: End;
  readonly to: End;
  state(): ChannelState;
}

export class Links {
  readonly all: readonly Link[];
  readonly #wires: Wires;

  constructor(wires: Wires) {
    this.#wires = wires;
    const takers = new Map<number, End>();
    const takes = (inputs: readonly { readonly channel: ChannelOrder }[], end: End): void => {
      for (const { channel } of inputs) takers.set(channel.channel, end);
    };
    for (const { order } of wires.executors) takes(order.inputs, { executor: order.number });
    for (const [output, inputs] of wires.outputs) takes(inputs, { output });
    const linksFrom = (from: End, outlets: readonly OutletOrder[]): Link[] =>
      outlets.flatMap(({ targets }) =>
        targets.map((order) => ({
          id: order.id,
          from,
          to: takers.get(order.channel) ?? 'caller',
          state: () => channelState(order),
        })),
      );
    this.all = [
      ...linksFrom('caller', wires.callerOutlets),
      ...wires.executors.flatMap(({ order }) => linksFrom({ executor: order.number }, order.outlets)),
    ];
  }

  /** What an executor has said when its thread last fell asleep. */
  rest(executor: number): Rest {
    return readRest(this.#wires.counters, executor);
  }

  from(end: End): readonly Link[] {
    return this.all.filter((link) => same(link.from, end));
  }

  to(end: End): readonly Link[] {
    return this.all.filter((link) => same(link.to, end));
  }

  /**
   * A way of full channels from the caller to an output that takes nothing: each writer was refused and takes no input before it
   * gets room, each reader on the way is such a writer, and the last reader is `withheld`. What waits so waits for all of its full
   * channels, so one way is enough. `still`: an executor that does nothing by itself. None: somebody may still make room.
   */
  blocked(withheld: (output: number) => boolean, still: (executor: number) => boolean): readonly Link[] | undefined {
    const seen = new Set<number>();
    const search = (end: End): readonly Link[] | undefined => {
      for (const link of this.from(end)) {
        const { refused, over } = link.state();
        if (!refused || over || link.to === 'caller') continue;
        if ('output' in link.to) {
          if (withheld(link.to.output)) return [link];
          continue;
        }
        const { executor } = link.to;
        if (seen.has(executor) || !still(executor)) continue;
        seen.add(executor);
        const further = search(link.to);
        if (further !== undefined) return [link, ...further];
      }
      return undefined;
    };
    return search('caller');
  }
}

function same(a: End, b: End): boolean {
  if (a === 'caller' || b === 'caller') return a === b;
  if ('executor' in a) return 'executor' in b && a.executor === b.executor;
  return 'output' in b && a.output === b.output;
}
