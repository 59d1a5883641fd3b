/**
 * What the schedulers of RxJS have under way. They are one per process and mix what is due in one time with what is due in
 * another; here each time has its own.
 * Owns no work: it takes and puts back. Never runs an action.
 */

import { asapScheduler, asyncScheduler, queueScheduler } from 'rxjs';
import { immediateProvider } from 'rxjs/internal/scheduler/immediateProvider';
import type { TimerHandle } from 'rxjs/internal/scheduler/timerHandle';

interface Action {
  readonly closed: boolean;
  id: TimerHandle | undefined;
}

/** Work of the asap scheduler that waits for a flush. `_scheduled` and `_active` are not in the types of RxJS. */
export interface AsapWork {
  /** Also the rest of a flush under way, whose list it is: emptied in place, never replaced. */
  actions: Action[];
  /** The immediate that flushes those actions that bear its handle. As long as there is one, RxJS sets no other. */
  _scheduled: TimerHandle | undefined;
}

interface Flushing {
  actions: unknown[];
  /** While it flushes, a scheduler puts what is due into `actions`, for the flush to go on with. */
  _active: boolean;
}

const asap = asapScheduler as unknown as AsapWork;
const flushing = [asyncScheduler, queueScheduler] as unknown as readonly Flushing[];

export function takeAsap(): AsapWork {
  const { actions, _scheduled } = asap;
  return { actions, _scheduled };
}

export function putAsap({ actions, _scheduled }: AsapWork): void {
  asap.actions = actions;
  asap._scheduled = _scheduled;
}

/** Actions that were unsubscribed while their list was not in place are still in it, and a flush would run into them. */
export function tidied(work: AsapWork = { actions: [], _scheduled: undefined }): AsapWork {
  const { actions, _scheduled } = work;
  actions.splice(0, actions.length, ...actions.filter((action) => !action.closed));
  if (_scheduled === undefined || actions.some(({ id }) => id === _scheduled)) return work;
  immediateProvider.clearImmediate(_scheduled);
  return { actions, _scheduled: undefined };
}

/** Sets the immediate of the asap work in place anew, to flush by way of `run`. */
export function guardAsap(run: (flush: () => void) => void): void {
  const { actions, _scheduled } = tidied(takeAsap());
  putAsap({ actions, _scheduled });
  if (_scheduled === undefined) return;
  immediateProvider.clearImmediate(_scheduled);
  const again = immediateProvider.setImmediate(() =>
    run(() => {
      putAsap(tidied(takeAsap()));
      if (asap._scheduled === again) asapScheduler.flush();
    }),
  );
  asap._scheduled = again;
  for (const action of actions) if (action.id === _scheduled) action.id = again;
}

/** Runs `work` as if no flush of timed or queued work were under way: what comes due in it is done in it. */
export function withoutFlush<T>(work: () => T): T {
  const under = flushing.map(({ actions, _active }) => ({ actions, _active }));
  for (const queue of flushing) Object.assign(queue, { actions: [], _active: false });
  try {
    return work();
  } finally {
    flushing.forEach((queue, index) => {
      Object.assign(queue, under[index]);
    });
  }
}
