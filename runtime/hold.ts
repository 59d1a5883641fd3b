/**
 * A caller that is held: its source emits within `subscribe`, there is no room, and until there is it cannot go on.
 * Owns the loop and its patience. Outputs are delivered meanwhile, never one inside a delivery of its own.
 * Never waits for more than 50 ms at a time, nor for what cannot come: that is ERR_HELD at once; else ERR_STALLED after stallMs.
 */

import type { MillraceError } from './errors.js';

/** What a held caller does, and looks at. */
export interface Held {
  readonly stallMs: number;
  /** The run is over. */
  over(): boolean;
  nowMs(): number;
  /** Lets the executors of this thread work, those of other runs as well. Says whether they did anything. */
  work(): boolean;
  /** Stands still until a bell rings, so many milliseconds at most. False: nothing can ring, for time itself stands still. */
  rest(ms: number): boolean;
  /** Changes whenever a value has moved anywhere in the run. */
  moved(): number;
  /** Threads are still loading: that has a bound of its own, which is looked at here. */
  starting(): boolean;
  /** Why only the event loop of this thread could make room, where that is certain. */
  hopeless(): MillraceError | undefined;
  stalled(): MillraceError;
}

const maxRestMs = 50;
const firstRestMs = 1;

/** Comes back when `until` says so or the run is over; with the reason, if it never would. */
export function hold(held: Held, until: () => boolean): MillraceError | undefined {
  let moved = held.moved();
  let movedMs = held.nowMs();
  let restMs = firstRestMs;
  while (!held.over() && !until()) {
    const worked = held.work();
    if (worked && until()) break;
    if (!worked) {
      const hopeless = held.hopeless();
      if (hopeless !== undefined) return hopeless;
      if (!held.rest(restMs)) return held.stalled();
    }
    // Judged by this run alone: the work may have been that of others, who go on for ever.
    const now = held.moved();
    if (now !== moved || held.starting()) {
      moved = now;
      movedMs = held.nowMs();
      restMs = firstRestMs;
    } else if (held.nowMs() - movedMs >= held.stallMs) {
      return held.stalled();
    } else {
      restMs = worked ? firstRestMs : Math.min(maxRestMs, restMs * 2);
    }
  }
  return undefined;
}
