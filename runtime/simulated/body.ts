/**
 * What a simulated thread can do to the shared world, and that it can no more once it is dead: the ends of its channels, its
 * programs and its sources.
 * Owns the cut: from the moment of death nothing that its code still does has an effect, as if it had been torn off there.
 */

import type { ringEnds, Site } from '../assemble.js';
import { type Bell, type ChannelReader, type ChannelWriter, ringReader, ringWriter } from '../channel.js';
import type { Logic } from '../logic.js';
import type { ChannelCounters, FlushReason } from '../metrics.js';
import type { ChannelOrder } from '../order.js';
import type { ProgramHost } from '../program.js';
import { CutReader, CutWriter, HeardCounters } from './channelEnds.js';
import type { Mishap } from './mishap.js';
import { CutInput, CutProgram } from './programs.js';
import type { Lane, World } from './world.js';

/** A batch that has left. */
export interface Flush {
  readonly atMs: number;
  readonly channel: string;
  readonly count: number;
  readonly reason: FlushReason;
}

export interface BodyOptions {
  readonly world: World;
  readonly lane: Lane;
  /** Those to come. */
  readonly mishaps: Set<Mishap>;
  readonly onFlush: (flush: Flush) => void;
  /** Asks the thread to look at its channels. */
  readonly look: () => void;
  readonly die: (why: string) => void;
}

export class Body {
  readonly options: BodyOptions;
  readonly writers: CutWriter[] = [];
  readonly readers: CutReader[] = [];
  readonly programs: CutProgram[] = [];
  /** How much later than others this thread hears a doorbell. */
  bellsLateMs = 0;

  constructor(options: BodyOptions) {
    this.options = options;
  }

  get dead(): boolean {
    return this.options.lane.dead;
  }

  readonly ends = (bellOf: (thread: number) => Bell): ReturnType<typeof ringEnds> => ({
    writer: (channel) => this.#writer(channel, bellOf),
    reader: (channel) => this.#reader(channel, bellOf),
    countersOf: (wiring, channel, id) => this.#counters(wiring, channel, id),
  });

  /** The logic of an executor of this thread. */
  logic(logic: Logic): Logic {
    const idOf = (segment: number, index: number): string => `${logic.plan.segments[segment]?.name}/${index}`;
    return {
      plan: logic.plan,
      single: logic.single,
      route: (exchange) => logic.route(exchange),
      codec: (exchange) => logic.codec(exchange),
      program: (segment, outlets, host, options) => {
        const program = logic.program(segment, outlets, host, options);
        const cut = new CutProgram(program, host, idOf(segment, options.index), this);
        this.programs.push(cut);
        return cut;
      },
      feed: (segment, wake) => {
        const input = logic.feed(segment, () => {
          if (!this.dead) wake();
        });
        return input === undefined ? undefined : new CutInput(input, this);
      },
    };
  }

  /** What comes true for this executor now; each does once. */
  befall(executor: string, taken: number, when: 'in the value' | 'between values', host: ProgramHost): void {
    const { mishaps } = this.options;
    for (const mishap of mishaps) {
      const due = mishap.atValue === taken && (mishap.executor ?? executor) === executor;
      if (!due || (mishap.kind === 'slow') !== (when === 'in the value')) continue;
      mishaps.delete(mishap);
      this.#befall(mishap, executor, host);
    }
  }

  #befall({ kind, forMs }: Mishap, executor: string, host: ProgramHost): void {
    const { world, lane, look, die } = this.options;
    world.note(lane.name, `${kind} befalls ${executor}${kind === 'die' || kind === 'starve' ? '' : `, ${forMs} ms`}`);
    if (kind === 'die') {
      die(`${executor} was made to die`);
    } else if (kind === 'starve') {
      host.starved();
    } else if (kind === 'slow') {
      world.spend(forMs);
    } else if (kind === 'pause') {
      lane.standStill(forMs);
      lane.in(forMs, 'goes on', look);
    } else if (kind === 'lateDoorbell') {
      this.bellsLateMs = forMs;
    } else {
      for (const writer of this.writers) if (writer.id.includes(`:${executor}->`)) writer.fullFor(forMs);
    }
  }

  #writer(channel: ChannelOrder, bellOf: (thread: number) => Bell): ChannelWriter {
    const writer = new CutWriter(ringWriter(channel.memory, bellOf(channel.peer)), channel.id, this.options);
    this.writers.push(writer);
    return writer;
  }

  #reader(channel: ChannelOrder, bellOf: (thread: number) => Bell): ChannelReader {
    const reader = new CutReader(ringReader(channel.memory, bellOf(channel.peer)), channel.id, this.options);
    this.readers.push(reader);
    return reader;
  }

  #counters({ counters, counted }: Parameters<Site['countersOf']>[0], channel: number, id: string): ChannelCounters {
    const { world, lane, onFlush } = this.options;
    return new HeardCounters(counters, counted, channel, (reason, count) => {
      if (this.dead) return;
      world.note(lane.name, `${id}: ${count} ${count === 1 ? 'value' : 'values'} (${reason})`);
      onFlush({ atMs: world.nowMs, channel: id, count, reason });
    });
  }
}
