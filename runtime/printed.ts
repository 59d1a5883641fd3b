/**
 * What this thread has printed and the calling thread has not taken yet: `console` of a thread goes through the main thread.
 * Owns the bound: above it the thread takes no input until its output is gone, as for any slow consumer.
 * Never drops a line, and never prints one itself.
 */

/** One slice, or one value, may print more than that; the next one waits. */
const maxBytes = 1024 * 1024;

export class Printed {
  #asked = false;

  /** Bytes of both streams that are under way. */
  get #bytes(): number {
    return process.stdout.writableLength + process.stderr.writableLength;
  }

  get any(): boolean {
    return this.#bytes > 0;
  }

  /** Whether work has to wait; `whenGone` is called once when it need not. */
  holds(whenGone: () => void): boolean {
    if (this.#bytes <= maxBytes) return false;
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
}
