/**
 * Placement: which executor runs on which thread. Pure; the same plan is placed the same way everywhere.
 */

/** Threads a run uses: so many as it has executors, at most `available`; `wanted` lowers that. */
export function threadsFor(executors: number, available: number, wanted: number | undefined): number {
  if (wanted === 0) return 0;
  return Math.max(1, Math.min(executors, available, wanted ?? available));
}

/** Deals executors in plan order, each to the thread with the fewest, the first on a tie. */
export function place(executors: number, threads: number): readonly number[] {
  const load = new Array<number>(threads).fill(0);
  return Array.from({ length: executors }, () => {
    const thread = load.indexOf(Math.min(...load));
    load[thread] = (load[thread] as number) + 1;
    return thread;
  });
}

/** What is asked of a thread to choose it. */
interface Eligible {
  readonly runs: number;
  /** It takes no further runs. */
  readonly ending: boolean;
}

/** The threads of a run: free ones first, then new ones up to `size`, then those with the fewest runs. */
export function freest<T extends Eligible>(
  threads: readonly T[],
  count: number,
  size: number,
  spawn: () => T,
): readonly T[] {
  const alive = threads.filter((thread) => !thread.ending);
  const busy = alive.filter((thread) => thread.runs > 0).sort((a, b) => a.runs - b.runs);
  const free = alive.filter((thread) => thread.runs === 0);
  while (free.length < count && free.length + busy.length < size) free.push(spawn());
  return [...free, ...busy].slice(0, count);
}
