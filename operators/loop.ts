/**
 * The step machine of an executor: it can stop between two outputs and go on later.
 * Owns the stack of open iterators and the queue of asynchronous arrivals; both are bounded by what steps let in.
 * Never waits: without room it returns, and `resume` continues where it stopped.
 *
 *   stack   [ lines of a file ][ words of a line ] ← the top is always advanced first: depth first, value by value
 */

import { MillraceError } from '../runtime/errors.js';
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
  /** Closed frames stay on the stack until they surface, so that positions below a running drain never move. */
  open: boolean;
}

interface Arrival {
  readonly stage: Stage;
  readonly work: () => void;
}

/** Events of asynchronous steps that may wait for suspended values before them. */
const maxArrivals = 65_536;

export class Loop {
  readonly #host: LoopHost;
  readonly #stack: Frame[] = [];
  #arrivals: Arrival[] = [];
  /** Depth of deliveries that cannot be suspended: to opaque steps, whose outputs are parked behind the segment. */
  #solid = 0;
  #running = false;
  /** The key of the value that is suspended. */
  #key: unknown = noKey;

  constructor(host: LoopHost) {
    this.#host = host;
  }

  /** Something is suspended. No input may enter, so order stays that of one unbroken run. */
  get suspended(): boolean {
    return this.#stack.length > 0 || this.#arrivals.length > 0;
  }

  /** Hands over what `iterator` yields through `deliver`, now while there is room, else when resumed; then `done`. */
  iterate<T>(stage: Stage, iterator: Iterator<T>, deliver: (value: T) => void, done: () => void): void {
    const base = this.#stack.length;
    this.#stack.push({ stage, iterator, deliver, done, open: true });
    this.#drain(base);
  }

  /** Between enterSolid and leaveSolid nothing suspends. */
  enterSolid(): void {
    this.#solid++;
  }

  leaveSolid(): void {
    this.#solid--;
  }

  /** Runs what comes from the head: one value, or the completion. */
  run(work: () => void): void {
    this.#running = true;
    try {
      work();
    } finally {
      this.#leave();
    }
  }

  /** Continues suspended values, then arrivals, as far as there is room. */
  resume(): void {
    if (!this.suspended) return;
    setKey(this.#key);
    this.run(() => {
      this.#drain(0);
      this.#admit();
    });
  }

  /** What an asynchronous or opaque step hands over: it enters behind `stage`, and the key of its value is unknown. */
  enter(stage: Stage, work: () => void): void {
    if (stage.closed) return;
    if (this.#running) {
      this.#nested(work);
      return;
    }
    if (this.#blocked(stage)) this.#queue({ stage, work });
    else this.run(work);
    this.#host.wake();
  }

  /** Closes the open iterators of a stage that was closed. */
  close(stage: Stage): void {
    for (const frame of this.#stack) if (frame.stage === stage) closeFrame(frame);
    if (this.#arrivals.length > 0) this.#arrivals = this.#arrivals.filter((arrival) => arrival.stage !== stage);
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

  #leave(): void {
    this.#running = false;
    this.#key = this.#stack.length > 0 ? savedKey() : noKey;
    setKey(noKey);
  }

  #drain(base: number): void {
    const stack = this.#stack;
    while (stack.length > base) {
      const frame = stack[stack.length - 1] as Frame;
      if (!frame.open) stack.pop();
      else if (this.#solid === 0 && (!this.#host.room || frame.stage.held)) return;
      else advance(frame);
    }
  }

  /** A suspended value downstream of `stage` must come out before anything new enters there. */
  #blocked(stage: Stage): boolean {
    return this.#arrivals.some((arrival) => arrival.stage === stage) || this.#covered(stage);
  }

  #covered(stage: Stage): boolean {
    return this.#stack.some((frame) => frame.open && frame.stage.isBelow(stage));
  }

  #queue(arrival: Arrival): void {
    if (this.#arrivals.length < maxArrivals) {
      this.#arrivals.push(arrival);
      return;
    }
    const { label, place } = arrival.stage;
    const message = `${label} emitted ${maxArrivals} times while what it had emitted before found no room`;
    arrival.stage.fail(new MillraceError('ERR_OUTPUT_BURST', message, place));
  }

  /** Arrivals enter in the order of their stage, each as soon as nothing downstream of it is suspended. */
  #admit(): void {
    const passedOver = new Set<Stage>();
    for (let i = 0; i < this.#arrivals.length; ) {
      const { stage, work } = this.#arrivals[i] as Arrival;
      if (passedOver.has(stage) || this.#covered(stage)) {
        passedOver.add(stage);
        i++;
        continue;
      }
      this.#arrivals.splice(i, 1);
      setKey(noKey);
      work();
      // Entering may have let others out: look again from the first one.
      passedOver.clear();
      i = 0;
    }
  }
}

function advance(frame: Frame): void {
  let result: IteratorResult<unknown>;
  try {
    result = frame.iterator.next();
  } catch (reason) {
    frame.open = false;
    frame.stage.fail(reason);
    return;
  }
  if (!frame.open) return;
  if (result.done !== true) {
    frame.deliver(result.value as never);
  } else {
    frame.open = false;
    frame.done();
  }
}

function closeFrame(frame: Frame): void {
  if (!frame.open) return;
  frame.open = false;
  try {
    frame.iterator.return?.();
  } catch {
    // The stage is closed: nobody is left whom the error of a clean-up could reach.
  }
}
