/**
 * Watches a run from its calling thread: a run in which nothing moves is reported, a thread stuck in a value is ended.
 * Owns what was last seen to move, and when. Judges only while there is work: an idle stream is no stall, a sleeping thread not
 * stuck. Pure: time is an argument.
 */

export interface WatchedThread {
  /** It falls asleep, or looks at its channels again and again: this changes. Undefined: it sleeps, or is still loading. */
  beats(): number | undefined;
  /** It has been in one value for longer than hangMs. */
  hangs(): void;
}

export interface WatchedRun {
  readonly stallMs: number;
  readonly hangMs: number;
  readonly threads: readonly WatchedThread[];
  /** Changes whenever a value has moved. */
  moved(): number;
  /** Values are under way. */
  work(): boolean;
  /** Nothing has moved for stallMs, though there is work. Once, until something moves again. */
  stalls(): void;
}

export class Watchdog {
  readonly #run: WatchedRun;
  readonly #heard: { beats: number | undefined; sinceMs: number }[];
  #moved = -1;
  #movedMs: number;
  #said = false;

  constructor(run: WatchedRun, nowMs: number) {
    this.#run = run;
    this.#movedMs = nowMs;
    this.#heard = run.threads.map(() => ({ beats: undefined, sinceMs: nowMs }));
  }

  /** How often to look: what is late is seen after at most half as long again. */
  get periodMs(): number {
    return Math.max(1, Math.min(this.#run.stallMs, this.#run.hangMs) / 2);
  }

  look(nowMs: number): void {
    // Who is in one value since the last look works, though nothing else may be under way.
    const stuck = this.#lookAtThreads(nowMs);
    const moved = this.#run.moved();
    if (moved !== this.#moved || !(stuck || this.#run.work())) {
      this.#moved = moved;
      this.#movedMs = nowMs;
      this.#said = false;
    } else if (!this.#said && nowMs - this.#movedMs >= this.#run.stallMs) {
      this.#said = true;
      this.#run.stalls();
    }
  }

  /** Whether one has not moved since the last look. */
  #lookAtThreads(nowMs: number): boolean {
    let stuck = false;
    this.#run.threads.forEach((thread, index) => {
      const beats = thread.beats();
      const heard = this.#heard[index] as { beats: number | undefined; sinceMs: number };
      if (beats === undefined || beats !== heard.beats) {
        heard.beats = beats;
        heard.sinceMs = nowMs;
        return;
      }
      stuck = true;
      if (nowMs - heard.sinceMs < this.#run.hangMs) return;
      heard.sinceMs = Number.POSITIVE_INFINITY;
      thread.hangs();
    });
    return stuck;
  }
}
