/** Sources that count: what they have given, how often they were opened, and how often closed. They give 0, 1, 2… */

import { Readable } from 'node:stream';
import { from, type Observable } from 'rxjs';
import { Demand } from '../../../runtime/demand.js';
import { Asked } from '../../../src/demand.js';
import { pull } from '../../../src/pull.js';

export class Track {
  given = 0;
  opened = 0;
  closed = 0;
}

export const broken: RangeError = new RangeError('broken');

export interface Counting {
  /** With it, the source errors behind its values. */
  readonly fails: boolean;
  readonly length: number;
}

function* counting(track: Track, { length, fails }: Counting): Generator<number> {
  track.opened++;
  try {
    for (let i = 0; i < length; i++) {
      track.given++;
      yield i;
    }
    if (fails) throw broken;
  } finally {
    track.closed++;
  }
}

async function* countingLater(track: Track, shape: Counting): AsyncGenerator<number> {
  yield* counting(track, shape);
}

function webStream(track: Track, shape: Counting): ReadableStream<number> {
  const numbers = counting(track, shape);
  return new ReadableStream(
    {
      pull(controller) {
        const { done, value } = numbers.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void numbers.return(undefined),
    },
    { highWaterMark: 0 },
  );
}

/** `soon` says when it answers, at most `burst` values at a time. */
function asked(
  track: Track,
  { length, fails }: Counting,
  soon: (run: () => void) => void,
  burst: number,
): Asked<number> {
  return new Asked((observer) => {
    track.opened++;
    const demand = new Demand();
    let next = 0;
    let running = false;
    let over = false;
    const close = (): void => {
      if (!over) track.closed++;
      over = true;
    };
    const run = (): void => {
      if (running || over) return;
      running = true;
      for (let n = 0; n < burst && demand.left > 0 && next < length && !over; n++) {
        demand.spend();
        track.given++;
        observer.next(next++);
      }
      running = false;
      if (over) return;
      if (next < length) {
        if (demand.left > 0) soon(run);
        return;
      }
      close();
      if (fails) observer.error(broken);
      else observer.complete();
    };
    demand.onMore = () => soon(run);
    return { request: (n) => over || demand.request(n), unsubscribe: close };
  });
}

export interface Kind {
  readonly make: (track: Track, shape: Counting) => unknown;
  /** What it has given before it was asked; Infinity: it cannot be asked. */
  readonly ahead: number;
}

export const kinds: Readonly<Record<string, Kind>> = {
  'pull of a generator': { make: (track, shape) => pull(() => counting(track, shape)), ahead: 0 },
  'pull of an async generator': { make: (track, shape) => pull(() => countingLater(track, shape)), ahead: 0 },
  'pull of a Readable': {
    make: (track, shape) => pull(() => Readable.from(countingLater(track, shape), { highWaterMark: 1 })),
    ahead: 2,
  },
  'pull of a Web stream': { make: (track, shape) => pull(() => webStream(track, shape)), ahead: 0 },
  'asked, answers at once': {
    make: (track, shape) => asked(track, shape, (run) => run(), Number.POSITIVE_INFINITY),
    ahead: 0,
  },
  'asked, answers later': { make: (track, shape) => asked(track, shape, (run) => setImmediate(run), 1), ahead: 0 },
  'asked, answers in bursts': { make: (track, shape) => asked(track, shape, queueMicrotask, 3), ahead: 0 },
  'an Observable': {
    make: (track, shape) => from(countingLater(track, shape)),
    ahead: Number.POSITIVE_INFINITY,
  },
  'what implements Symbol.observable': {
    make: (track, shape) => ({ '@@observable': () => from(countingLater(track, shape)) }),
    ahead: Number.POSITIVE_INFINITY,
  },
};

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A pull of so many values, and how often it was closed. */
export function watched(length = 100): { readonly values: Observable<number>; readonly closed: () => number } {
  const track = new Track();
  return { values: pull(() => counting(track, { length, fails: false })), closed: () => track.closed };
}
