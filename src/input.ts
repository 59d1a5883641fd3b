/**
 * How a run takes its input: a pull is read, what can be asked is asked, anything else is subscribed and its values pushed.
 * Owns the subscription of the input. Decided once per run; nothing is taken before `begin`.
 */

import { type Observable, Subscription } from 'rxjs';
import { subscribeWithin } from '../operators/within.js';
import type { Ask } from '../runtime/demand.js';
import type { MakeInput } from '../runtime/job.js';
import type { OverflowRule } from '../runtime/overflow.js';
import { Prefetch } from '../runtime/prefetch.js';
import { PushInput } from '../runtime/pushInput.js';
import { unheard } from '../runtime/unheard.js';
import { askOf } from './demand.js';
import { feedOfPull } from './pull.js';

export interface RunInput {
  /** None: the run has no input, or uses none. */
  readonly make: MakeInput | undefined;
  /** Values thrown away for lack of room. */
  dropped(): number;
  /** Begins to take, within the caller's subscribe. */
  begin(): void;
  /** The run is over. */
  leave(): void;
}

const nothing: RunInput = { make: undefined, dropped: () => 0, begin() {}, leave() {} };

/**
 * `hold` holds the calling thread until there is room, or the run is over; `stuck` says whether there will be none before its event
 * loop turns.
 */
export function inputOf(
  source: Observable<unknown> | undefined,
  rule: OverflowRule,
  hold: (until: () => boolean) => void,
  stuck: () => boolean,
): RunInput {
  if (source === undefined) return nothing;
  const feed = feedOfPull(source);
  if (feed !== undefined) return { ...nothing, make: feed };
  const ask = askOf(source);
  return ask === undefined ? pushed(source, rule, hold) : asked(ask, stuck);
}

function asked(ask: Ask<unknown>, stuck: () => boolean): RunInput {
  let prefetch: Prefetch | undefined;
  return {
    ...nothing,
    make: (wake) => {
      prefetch = new Prefetch(wake, stuck);
      return prefetch;
    },
    begin: () => prefetch?.begin(ask),
  };
}

function pushed(source: Observable<unknown>, rule: OverflowRule, hold: (until: () => boolean) => void): RunInput {
  // Also while it is still inside its own subscribe.
  const subscription = new Subscription();
  const leave = (): void => {
    try {
      subscription.unsubscribe();
    } catch (reason) {
      unheard('the input', reason);
    }
  };
  const input = new PushInput({ rule, hold, onFinish: leave });
  return {
    make: input.of,
    dropped: () => input.dropped,
    begin() {
      if (input.ended) return;
      input.subscribing = true;
      subscribeWithin(subscription, source, {
        next: (value) => input.push(value),
        error: (reason: unknown) => input.failed(reason),
        complete: () => input.complete(),
      });
      input.subscribing = false;
    },
    leave,
  };
}
