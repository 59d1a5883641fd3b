/**
 * What is to come in virtual time, as a heap.
 * Owns the order: by time, at one time immediates first, then as set. Never runs anything.
 */

export interface Task {
  readonly atMs: number;
  readonly kind: 'immediate' | 'timer' | 'report';
  readonly run: () => void;
  /** How many tasks have set each other at this instant up to this one. */
  readonly chain: number;
  cancelled: boolean;
}

interface Entry {
  readonly task: Task;
  readonly set: number;
}

export class Agenda {
  /** Every entry comes before those at twice its place, plus one and two. */
  readonly #heap: Entry[] = [];
  #set = 0;

  add(task: Task): void {
    const heap = this.#heap;
    const entry = { task, set: this.#set++ };
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Entry;
      if (before(parent, entry)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = entry;
  }

  /** Takes out the next task that is due at `untilMs`. */
  next(untilMs: number): Task | undefined {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (!first.task.cancelled && first.task.atMs > untilMs) return undefined;
      this.#takeFirst();
      if (!first.task.cancelled) return first.task;
    }
    return undefined;
  }

  /** Reports of errors that are due at `untilMs`, in order. */
  reports(untilMs: number): Task[] {
    return this.#heap
      .filter(({ task }) => task.kind === 'report' && !task.cancelled && task.atMs <= untilMs)
      .sort((a, b) => (before(a, b) ? -1 : 1))
      .map(({ task }) => task);
  }

  #takeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = heap[left + 1];
      const below = right !== undefined && before(right, heap[left] as Entry) ? left + 1 : left;
      const child = heap[below];
      if (child === undefined || before(last, child)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
}

function before(a: Entry, b: Entry): boolean {
  if (a.task.atMs !== b.task.atMs) return a.task.atMs < b.task.atMs;
  const rank = Number(a.task.kind !== 'immediate') - Number(b.task.kind !== 'immediate');
  return rank === 0 ? a.set < b.set : rank < 0;
}
