/**
 * mergeMap and its kin as steps of the loop: mergeAll, concatMap, concatAll.
 * Owns the inners that are open. Arrays, iterables and iterators are walked inside the loop and suspended between outputs;
 * any other inner is subscribed and its outputs enter behind the step.
 */

import { isObservable, type ObservableInput, observable } from 'rxjs';
import { Queue } from '../runtime/queue.js';
import { savedKey, setKey } from './key.js';
import type { Kernel, Lower, Out } from './step.js';

type Project = (value: unknown, index: number) => unknown;

/** So many promises may be under way where the user gave no limit; then the executor takes no input. */
const maxPromises = 1024;

export function mergeMapKernel(project: Project, concurrent: number = Number.POSITIVE_INFINITY): Lower {
  return (out) => new Flattening(out, project, Math.max(1, concurrent));
}

/** The deprecated result selector leaves that use to RxJS. */
export function mergeMapLowering(
  project: Project,
  selectorOrConcurrent?: unknown,
  concurrent?: number,
): Lower | undefined {
  if (typeof selectorOrConcurrent === 'function') return undefined;
  return mergeMapKernel(project, (selectorOrConcurrent as number | undefined) ?? concurrent);
}

export function concatMapLowering(project: Project, selector?: unknown): Lower | undefined {
  return typeof selector === 'function' ? undefined : mergeMapKernel(project, 1);
}

export function concatAllKernel(): Lower {
  return mergeAllKernel(1);
}

export function mergeAllKernel(concurrent?: number): Lower {
  return mergeMapKernel((inner) => inner, concurrent);
}

interface Waiting {
  readonly value: unknown;
  readonly key: unknown;
}

class Flattening implements Kernel {
  readonly #out: Out;
  readonly #project: Project;
  readonly #concurrent: number;
  /** Values above the limit that could not be kept out: they came through a step that cannot be suspended. */
  #waiting = new Queue<Waiting>();
  #index = 0;
  #active = 0;
  /** Open inners that come to an end without further input, and the promises among them. */
  #awaited = 0;
  #promises = 0;
  #held = false;
  #opening = false;
  #ended = false;

  constructor(out: Out, project: Project, concurrent: number) {
    this.#out = out;
    this.#project = project;
    this.#concurrent = concurrent;
  }

  next(value: unknown): void {
    if (this.#active < this.#concurrent) this.#open(value);
    else this.#waiting.push({ value, key: savedKey() });
  }

  complete(): void {
    this.#ended = true;
    this.#endWhenDone();
  }

  stop(): void {
    this.#waiting = new Queue();
  }

  #open(value: unknown): void {
    const inner = this.#project(value, this.#index++);
    const iterator = iteratorOf(inner);
    this.#active++;
    if (iterator !== undefined) this.#out.iterate(iterator, this.#close);
    else this.#observe(inner as ObservableInput<unknown>);
  }

  #observe(inner: ObservableInput<unknown>): void {
    const promise = isObservable(inner) ? 0 : 1;
    let open = true;
    let counted = false;
    const bound = this.#out.observe(inner, () => {
      open = false;
      if (counted) this.#await(-1, -promise);
      this.#close();
    });
    if (!open || bound) return;
    counted = true;
    this.#await(1, promise);
    this.#holdWhenFull();
  }

  #await(inners: number, promises: number): void {
    this.#awaited += inners;
    this.#promises += promises;
  }

  // Observables without a limit follow RxJS; what can only be awaited is limited.
  #holdWhenFull(): void {
    const full =
      this.#concurrent === Number.POSITIVE_INFINITY
        ? this.#promises >= maxPromises
        : this.#awaited > 0 && this.#active >= this.#concurrent;
    if (full === this.#held) return;
    this.#held = full;
    if (full) this.#out.hold();
    else this.#out.release();
  }

  // The waiting ones are opened in a loop: thousands of inners that end at once are not so many calls deep.
  readonly #close = (): void => {
    this.#active--;
    if (this.#opening) return;
    this.#opening = true;
    try {
      while (this.#waiting.length > 0 && this.#active < this.#concurrent) this.#openNext();
    } finally {
      this.#opening = false;
    }
    this.#holdWhenFull();
    this.#endWhenDone();
  };

  #openNext(): void {
    const { value, key } = this.#waiting.shift() as Waiting;
    setKey(key);
    this.#open(value);
  }

  #endWhenDone(): void {
    if (this.#ended && this.#active === 0 && this.#waiting.length === 0) this.#out.sendComplete();
  }
}

/** The iterator of an inner that can be walked here and now, by RxJS's order of tests; undefined for any other inner. */
function iteratorOf(inner: unknown): Iterator<unknown> | undefined {
  if (typeof inner === 'string') return new ArrayCursor(inner);
  if (typeof inner !== 'object' || inner === null || isObservable(inner) || observable in inner) return undefined;
  const candidate = inner as Partial<
    ArrayLike<unknown> & Iterable<unknown> & AsyncIterable<unknown> & PromiseLike<unknown>
  >;
  if (typeof candidate.length === 'number') return new ArrayCursor(inner as ArrayLike<unknown>);
  if (typeof candidate.then === 'function' || typeof candidate[Symbol.asyncIterator] === 'function') return undefined;
  return candidate[Symbol.iterator]?.();
}

/** Walks an array or a string by index, as RxJS does, without a result object per value. */
class ArrayCursor implements Iterator<unknown> {
  readonly #items: ArrayLike<unknown>;
  #index = 0;
  readonly #result: { done: boolean; value: unknown } = { done: false, value: undefined };

  constructor(items: ArrayLike<unknown>) {
    this.#items = items;
  }

  next(): IteratorResult<unknown> {
    const result = this.#result;
    if (this.#index < this.#items.length) {
      result.value = this.#items[this.#index++];
    } else {
      result.done = true;
      result.value = undefined;
    }
    return result as IteratorResult<unknown>;
  }
}
