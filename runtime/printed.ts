/**
 * What this thread has printed and the calling thread has not taken yet: `console` of a thread goes through the main thread.
 * Owns the bound: above it the thread takes no input until its output is gone, as for any slow consumer. While the calling thread is
 * held its output cannot go: what is above the bound is dropped, counted, and said afterwards.
 */

/** One slice, or one value, may print more than that; the next one waits. */
const maxBytes = 1024 * 1024;

type Write = typeof process.stdout.write;

export class Printed {
  readonly #callerHeld: () => boolean;
  #asked = false;
  #dropped = 0;

  /** `callerHeld`: the event loop that takes what is printed does not turn. */
  constructor(callerHeld: () => boolean) {
    this.#callerHeld = callerHeld;
    for (const stream of [process.stdout, process.stderr]) {
      const write: Write = stream.write.bind(stream);
      stream.write = (...args: unknown[]): boolean => {
        if (stream.writableLength > maxBytes && this.#callerHeld()) return this.#drop(args);
        // Said once for a while of it, not for every pause.
        if (stream.writableLength === 0) this.tell();
        return (write as (...args: unknown[]) => boolean)(...args);
      };
    }
  }

  /** Bytes of both streams that are under way. */
  get #bytes(): number {
    return process.stdout.writableLength + process.stderr.writableLength;
  }

  get any(): boolean {
    return this.#bytes > 0;
  }

  /** Whether work has to wait; `whenGone` is called once when it need not. */
  holds(whenGone: () => void): boolean {
    if (this.#bytes <= maxBytes || this.#callerHeld()) return false;
    if (!this.#asked) {
      this.#asked = true;
      this.gone(() => {
        this.#asked = false;
        whenGone();
      });
    }
    return true;
  }

  /** Calls back when all that was printed so far has been taken. */
  gone(callback: () => void): void {
    process.stdout.write('', () => void process.stderr.write('', () => callback()));
  }

  #drop(args: readonly unknown[]): boolean {
    this.#dropped++;
    const done = args.find((arg) => typeof arg === 'function') as (() => void) | undefined;
    if (done !== undefined) queueMicrotask(done);
    return false;
  }

  /** Says how many writes were dropped since it last did. */
  tell(): void {
    if (this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    process.stderr.write(`millrace: ${dropped} writes of a thread were dropped while the calling thread was held\n`);
  }
}
