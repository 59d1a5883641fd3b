/**
 * The step machine of an executor: it can stop between two outputs and go on later.
 * Owns the stack of open iterators and the queue of asynchronous arrivals; both are bounded by what steps let in.
 * Never waits: without room it returns, and `resume` continues where it stopped.
 *
 *   stack   [ lines of a file ][ words of a line ] ← the top is always advanced first: depth first, value by value
 */

import { MillraceError } from '../runtime/errors.js';
import { Queue } from '../runtime/queue.js';
import { noKey, savedKey, setKey } from './key.js';
import type { Stage } from './stage.js';

/** What stands behind the segment, and who is told that there is work again. */
export interface LoopHost {
  /** False while an outlet has frames it could not send. */
  readonly room: boolean;
  wake(): void;
}

interface Frame {
  readonly stage: Stage;
  readonly iterator: Iterator<unknown>;
  readonly deliver: (value: never) => void;
  readonly done: () => void;
  /** The key of the value it came of. */
  readonly key: unknown;
  /** Closed frames stay on the stack until they surface, so that positions below a running drain never move. */
  open: boolean;
  /** Inside `next()` an iterator cannot be returned: that is made up for afterwards. */
  asked: boolean;
  /** Being advanced further up the call stack; else suspended. */
  busy: boolean;
}

interface Arrival {
  /** Position among all arrivals. */
  readonly place: number;
  readonly work: () => void;
}

/** Events of asynchronous steps that may wait for suspended values before them. */
const maxArrivals = 65_536;

export class Loop {
  readonly #host: LoopHost;
  readonly #stack: Frame[] = [];
  readonly #arrivals = new Map<Stage, Queue<Arrival>>();
  #waiting = 0;
  #arrived = 0;
  /** Depth of deliveries that cannot be suspended: to opaque steps, whose outputs are parked behind the segment. */
  #solid = 0;
  #running = false;
  /** Asynchronous inners that are open. */
  inners = 0;
  /** How often a flow was bound at run time. */
  bindings = 0;

  constructor(host: LoopHost) {
    this.#host = host;
  }

  /** Something is suspended. No input may enter, so order stays that of one unbroken run. */
  get suspended(): boolean {
    return this.#stack.length > 0 || this.#waiting > 0;
  }

  /** Hands over what `iterator` yields through `deliver`, now while there is room, else when resumed; then `done`. */
  iterate<T>(stage: Stage, iterator: Iterator<T>, deliver: (value: T) => void, done: () => void): void {
    const base = this.#placeOf(stage);
    const frame = { stage, iterator, deliver, done, key: savedKey(), open: true, asked: false, busy: false };
    if (base === this.#stack.length) this.#stack.push(frame);
    else this.#stack.splice(base, 0, frame);
    this.#drain(base);
  }

  /** Does `work` now, or after what the delivery under way has left suspended at `stage` or downstream of it. */
  after(stage: Stage, work: () => void): void {
    if (this.#placeOf(stage) === this.#stack.length) work();
    else
      this.iterate(
        stage,
        [work].values(),
        (now) => now(),
        () => {},
      );
  }

  /** The top, or below what the delivery under way has left suspended there or downstream: that came out before. */
  #placeOf(stage: Stage): number {
    const stack = this.#stack;
    let place = stack.length;
    for (; place > 0; place--) {
      const frame = stack[place - 1] as Frame;
      if (frame.busy || (frame.open && !covers(frame, stage))) break;
    }
    return place;
  }

  /** Between enterSolid and leaveSolid nothing suspends. */
  enterSolid(): void {
    this.#solid++;
  }

  leaveSolid(): void {
    this.#solid--;
  }

  /** Runs what comes from the head: the completion, an error, a start. */
  run(work: () => void): void {
    this.begin();
    try {
      work();
    } finally {
      this.leave();
    }
  }

  /** What `run` does around its work, for one value: without a function made for each. */
  begin(): void {
    this.#running = true;
  }

  /** Continues suspended values, then arrivals, as far as there is room. */
  resume(): void {
    if (!this.suspended) return;
    this.run(() => {
      // Order: an arrival enters before what is suspended upstream of it goes on.
      do this.#admit();
      while (this.#advanceTop(0));
    });
  }

  /** What an asynchronous or opaque step hands over: it enters behind `stage`, and the key of its value is unknown. */
  enter(stage: Stage, work: () => void): void {
    if (stage.closed) return;
    // Order: an event never overtakes earlier ones of its stage, nor what they wait for.
    if (this.#running && !this.#arrivals.has(stage)) {
      this.#nested(work);
      return;
    }
    if (this.#running || this.#arrivals.has(stage) || this.#covered(stage)) this.#queue(stage, work);
    else this.run(work);
    this.#host.wake();
  }

  /** The executor has reason to look again. */
  wake(): void {
    this.#host.wake();
  }

  /** Closes the open iterators of a stage that was closed. */
  close(stage: Stage): void {
    for (const frame of this.#stack) if (frame.stage === stage) closeFrame(frame);
    this.#waiting -= this.#arrivals.get(stage)?.length ?? 0;
    this.#arrivals.delete(stage);
  }

  #nested(work: () => void): void {
    const key = savedKey();
    setKey(noKey);
    this.#solid++;
    try {
      work();
    } finally {
      this.#solid--;
      setKey(key);
    }
  }

  leave(): void {
    this.#running = false;
    setKey(noKey);
  }

  #drain(base: number): void {
    while (this.#advanceTop(base));
  }

  /** False when nothing above `base` is left, or may move now. */
  #advanceTop(base: number): boolean {
    const stack = this.#stack;
    if (stack.length <= base) return false;
    const frame = stack[stack.length - 1] as Frame;
    if (!frame.open) stack.pop();
    else if (this.#solid === 0 && (!this.#host.room || frame.stage.held)) return false;
    else advance(frame);
    return true;
  }

  /** What is suspended at `stage` or downstream of it must come out before anything new enters there. */
  #covered(stage: Stage): boolean {
    return this.#stack.some((frame) => frame.open && covers(frame, stage));
  }

  #queue(stage: Stage, work: () => void): void {
    if (this.#waiting >= maxArrivals) {
      const message = `${stage.label} emitted while ${maxArrivals} events that had come before found no room`;
      stage.fail(new MillraceError('ERR_OUTPUT_BURST', message, stage.place));
      return;
    }
    const queue = this.#arrivals.get(stage) ?? new Queue();
    queue.push({ place: this.#arrived++, work });
    this.#arrivals.set(stage, queue);
    this.#waiting++;
  }

  /** Arrivals enter in the order in which they came, each as soon as nothing is suspended at its stage or downstream of it. */
  #admit(): void {
    for (let stage = this.#admissible(); stage !== undefined; stage = this.#admissible()) {
      const queue = this.#arrivals.get(stage) as Queue<Arrival>;
      const { work } = queue.shift() as Arrival;
      if (queue.length === 0) this.#arrivals.delete(stage);
      this.#waiting--;
      setKey(noKey);
      work();
    }
  }

  /** The stage whose first arrival came first, of those that nothing suspended covers. */
  #admissible(): Stage | undefined {
    let earliest: Stage | undefined;
    let place = Number.POSITIVE_INFINITY;
    for (const [stage, { first }] of this.#arrivals) {
      if (first === undefined || first.place > place || this.#covered(stage)) continue;
      earliest = stage;
      place = first.place;
    }
    return earliest;
  }
}

function covers(frame: Frame, stage: Stage): boolean {
  return frame.stage === stage || frame.stage.isBelow(stage);
}

/** What the iterator or `done` throws is an error of the frame's stage. */
function advance(frame: Frame): void {
  setKey(frame.key);
  frame.busy = true;
  try {
    frame.asked = true;
    const result = frame.iterator.next();
    frame.asked = false;
    if (!frame.open) {
      if (result.done !== true) returnIterator(frame);
    } else if (result.done !== true) {
      frame.deliver(result.value as never);
    } else {
      frame.open = false;
      frame.done();
    }
  } catch (reason) {
    frame.open = false;
    frame.stage.fail(reason);
  }
  frame.busy = false;
}

function closeFrame(frame: Frame): void {
  if (!frame.open) return;
  frame.open = false;
  if (!frame.asked) returnIterator(frame);
}

function returnIterator({ iterator, stage }: Frame): void {
  stage.cleanUp(() => iterator.return?.());
}
