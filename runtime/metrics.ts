/**
 * Counters in shared memory, exact and without messages: each has one writer, the thread that owns what it counts.
 * Owns the layout and the reading of it into what `run.metrics()` returns.
 *
 *   executors   [ in out discarded parkedBytes restarts | waits sinceMs restless ] × executors
 *   channels    [ values frames bytes dropped bytesRead, then one count per flush reason ] × channels
 *
 * Float64 words, aligned, so a reader sees a whole number; counts are exact up to 2^53.
 */

export const flushReasons = ['size', 'bytes', 'age', 'idle', 'asleep', 'starved', 'end', 'error', 'explicit'] as const;
export type FlushReason = (typeof flushReasons)[number];

const executorWords = 8;
/** Words before the counts per flush reason. */
const plainWords = 5;
const channelWords = plainWords + flushReasons.length;
/** Where each reason is counted. */
const wordOf = Object.fromEntries(flushReasons.map((reason, i) => [reason, plainWords + i])) as Readonly<
  Record<FlushReason, number>
>;

/**
 * What an executor waits for while its thread sleeps: input; room in front of it; a promise or timer of its steps; nothing any
 * more. While its thread is awake it runs, whatever was said last.
 */
export const waits = ['nothing', 'input', 'room', 'promise', 'time'] as const;
export type Waits = (typeof waits)[number];

/** What an executor has said when its thread last fell asleep. */
export interface Rest {
  readonly waits: Waits;
  /** Since when, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Something of it may happen without input or room: a step is opaque, or an inner stream is open. */
  readonly restless: boolean;
}

export interface ExecutorMetrics {
  /** `segment/index`. */
  readonly id: string;
  /** Index of the thread in the run; -1 is the calling thread. */
  readonly thread: number;
  readonly in: number;
  readonly out: number;
  /** Values that arrived when no step wanted them any more. */
  readonly discarded: number;
  readonly parkedBytes: number;
  readonly restarts: number;
}

export interface ChannelMetrics {
  /** `exchange:producer->consumer`. */
  readonly id: string;
  readonly values: number;
  readonly frames: number;
  /** Sent, headers among them. */
  readonly bytes: number;
  /** Read by the consumer. */
  readonly bytesRead: number;
  /** Values emitted when the consumer wanted no more. */
  readonly dropped: number;
  /** Bytes sent and not yet read. */
  readonly fill: number;
  readonly flushes: Readonly<Record<FlushReason, number>>;
}

export interface RunMetrics {
  readonly threads: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Values taken from the input, or from all pulls. */
  readonly in: number;
  /** Values of the input thrown away for lack of room, as `overflow` says. */
  readonly dropped: number;
  /** Values handed to subscribers. */
  readonly out: number;
  readonly executors: readonly ExecutorMetrics[];
  readonly channels: readonly ChannelMetrics[];
}

/** Counters of one executor; plain fields of its thread, copied to shared memory once a slice. */
export class ExecutorCounters {
  in = 0;
  out = 0;
  discarded = 0;
  parkedBytes = 0;
  readonly #words: Float64Array;
  #rested = -1;
  #moved = -1;

  constructor(memory: SharedArrayBuffer, executor: number) {
    this.#words = new Float64Array(memory, executor * executorWords * 8, executorWords);
  }

  publish(): void {
    const words = this.#words;
    words[0] = this.in;
    words[1] = this.out;
    words[2] = this.discarded;
    words[3] = this.parkedBytes;
  }

  /** Its thread falls asleep. */
  rest(what: Waits, restless: boolean, epochMs: number): void {
    const words = this.#words;
    const code = waits.indexOf(what);
    const moved = this.in + this.out;
    if (code !== this.#rested || moved !== this.#moved) words[6] = epochMs;
    this.#rested = code;
    this.#moved = moved;
    words[5] = code;
    words[7] = restless ? 1 : 0;
  }
}

/** Counters of one channel, written once a frame. */
export class ChannelCounters {
  readonly #words: Float64Array;

  constructor(memory: SharedArrayBuffer, executors: number, channel: number) {
    this.#words = new Float64Array(memory, (executors * executorWords + channel * channelWords) * 8, channelWords);
  }

  sent(reason: FlushReason, values: number, frames: number, bytes: number): void {
    const words = this.#words;
    const reasonWord = wordOf[reason];
    words[0] = (words[0] as number) + values;
    words[1] = (words[1] as number) + frames;
    words[2] = (words[2] as number) + bytes;
    words[reasonWord] = (words[reasonWord] as number) + 1;
  }

  dropped(values: number): void {
    this.#add(3, values);
  }

  /** By the consumer, the only one to write this word. */
  received(bytes: number): void {
    this.#add(4, bytes);
  }

  #add(word: number, by: number): void {
    this.#words[word] = (this.#words[word] as number) + by;
  }
}

export function createCounters(executors: number, channels: number): SharedArrayBuffer {
  return new SharedArrayBuffer((executors * executorWords + channels * channelWords) * 8);
}

export function readExecutor(memory: SharedArrayBuffer, executor: number, id: string, thread: number): ExecutorMetrics {
  const [taken = 0, out = 0, discarded = 0, parkedBytes = 0, restarts = 0] = new Float64Array(
    memory,
    executor * executorWords * 8,
    executorWords,
  );
  return { id, thread, in: taken, out, discarded, parkedBytes, restarts };
}

export function readRest(memory: SharedArrayBuffer, executor: number): Rest {
  const words = new Float64Array(memory, executor * executorWords * 8, executorWords);
  return { waits: waits[words[5] ?? 0] ?? 'nothing', sinceMs: words[6] ?? 0, restless: words[7] === 1 };
}

export function readChannel(memory: SharedArrayBuffer, executors: number, channel: number, id: string): ChannelMetrics {
  const words = new Float64Array(memory, (executors * executorWords + channel * channelWords) * 8, channelWords);
  const [values = 0, frames = 0, bytes = 0, dropped = 0, bytesRead = 0] = words;
  const flushes = Object.fromEntries(flushReasons.map((reason, i) => [reason, words[plainWords + i] ?? 0])) as Record<
    FlushReason,
    number
  >;
  // Read one after the other while both move, so it might be below 0 for once.
  return { id, values, frames, bytes, bytesRead, dropped, fill: Math.max(0, bytes - bytesRead), flushes };
}
