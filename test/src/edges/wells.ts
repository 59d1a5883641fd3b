/** Sources for readers that may leave at any moment: each counts what was asked of it, and how often it was begun and let go of. */

import fc from 'fast-check';
import type { Observable } from 'rxjs';
import { Asked } from '../../../src/demand.js';
import { pull } from '../../../src/pull.js';
import { broken } from './sources.js';

export { broken } from './sources.js';

export interface Plan {
  /** `soon` and `late` are pulls, of a generator and of an asynchronous one. */
  readonly kind: 'soon' | 'late' | 'asked';
  readonly count: number;
  readonly ending: 'end' | 'fail';
  /** How values come, again and again: 0 at once, 1 in a microtask, 2 in a turn of the event loop. */
  readonly delays: readonly number[];
}

const delays = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 5 });
const count = fc.nat(40);

/** Sources that can be asked, of few values. */
export const askedPlan: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constantFrom('soon', 'late', 'asked', 'asked'),
  count,
  ending: fc.constantFrom('end', 'fail'),
  delays,
});

export interface Well {
  readonly values: Observable<number>;
  /** Of kind `asked` only. */
  asked: number;
  given: number;
  opened: number;
  closed: number;
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await turn();
}

/** What a plan gives, and how it ends. */
export function expected({ count, ending }: Plan): { readonly values: number[]; readonly end: unknown } {
  return { values: upTo(count), end: ending === 'fail' ? broken : 'complete' };
}

export function wellOf(plan: Plan): Well {
  const well = { asked: 0, given: 0, opened: 0, closed: 0 };
  return Object.assign(well, { values: valuesOf(plan, well) });
}

type Counts = Omit<Well, 'values'>;

function valuesOf(plan: Plan, well: Counts): Observable<number> {
  if (plan.kind === 'asked') return asked(plan, well);
  return pull(plan.kind === 'soon' ? () => soon(plan, well) : () => late(plan, well));
}

function* soon({ count, ending }: Plan, well: Counts): Generator<number> {
  well.opened++;
  try {
    while (well.given < count) yield well.given++;
    if (ending === 'fail') throw broken;
  } finally {
    well.closed++;
  }
}

async function* late(plan: Plan, well: Counts): AsyncGenerator<number> {
  well.opened++;
  try {
    while (well.given < plan.count) {
      if (delayOf(plan, well) === 2) await turn();
      yield well.given++;
    }
    if (plan.ending === 'fail') throw broken;
  } finally {
    well.closed++;
  }
}

const delayOf = ({ delays }: Plan, { given }: Counts): number => delays[given % delays.length] ?? 0;

function after(delay: number, work: () => void): void {
  if (delay === 1) queueMicrotask(work);
  else setImmediate(work);
}

/** The protocol by hand; its end comes with the last value, not asked for. */
function asked(plan: Plan, well: Counts): Observable<number> {
  return new Asked<number>((observer) => {
    well.opened++;
    let left = 0;
    let busy = false;
    let over = false;
    const end = (): void => {
      if (over || well.given < plan.count) return;
      over = true;
      well.closed++;
      if (plan.ending === 'fail') observer.error(broken);
      else observer.complete();
    };
    const give = (): void => {
      left--;
      observer.next(well.given++);
      end();
    };
    const go = (): void => {
      if (busy) return;
      busy = true;
      while (left > 0 && !over) {
        const delay = delayOf(plan, well);
        if (delay > 0) {
          after(delay, () => {
            if (!over) give();
            busy = false;
            go();
          });
          return;
        }
        give();
      }
      busy = false;
    };
    end();
    return {
      request(n) {
        if (over) return;
        well.asked += n;
        left += n;
        go();
      },
      unsubscribe() {
        if (over) return;
        over = true;
        well.closed++;
      },
    };
  });
}
