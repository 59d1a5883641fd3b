/**
 * A lowered step as it runs: the kernel of its operator between the stage above and the consumers below.
 * Owns the kernel and its asynchronous inners. What the kernel throws is an error notification at this step.
 * Never suspends by itself: iterators are handed to the loop.
 */

import { from, type ObservableInput, Subscription } from 'rxjs';
import { type Consumer, Stage, type StageContext } from './stage.js';
import type { Kernel, Lower, Out } from './step.js';
import { subscribeWithin } from './within.js';

export class LoweredStage extends Stage implements Consumer, Out {
  override readonly parents: readonly [Stage];
  readonly #lower: Lower;
  readonly #deliver: (value: unknown) => void = (value) => this.emit(value);
  readonly #inners = new Subscription();
  #kernel: Kernel | undefined;
  #connected = false;
  /** Inners that are open. */
  #open = 0;

  constructor(parent: Stage, lower: Lower, context: StageContext) {
    super(context);
    this.parents = [parent];
    this.#lower = lower;
    parent.expect();
  }

  protected override connect(): void {
    let before: Iterator<unknown> | undefined;
    try {
      this.#kernel = this.#lower(this);
      before = this.#kernel.start?.();
    } catch (reason) {
      this.fail(reason);
    }
    if (this.closed) return;
    if (before === undefined) this.#join();
    else this.iterate(before, this.#join);
  }

  readonly #join = (): void => {
    this.#connected = true;
    this.parents[0].subscribe(this);
  };

  protected override disconnect(): void {
    if (this.#connected) this.parents[0].unsubscribe(this);
    else this.parents[0].renounce();
    this.cleanUp(() => this.#kernel?.stop?.());
    this.loop.inners -= this.#open;
    this.cleanUp(() => this.#inners.unsubscribe());
  }

  // ── from above ──

  next(value: unknown): void {
    if (this.closed) return;
    try {
      (this.#kernel as Kernel).next(value);
    } catch (reason) {
      this.fail(reason);
    }
  }

  error(reason: unknown): void {
    if (this.closed) return;
    try {
      this.#kernel?.error?.(reason);
    } catch (another) {
      this.fail(another);
      return;
    }
    this.sendError(reason);
  }

  complete(): void {
    const kernel = this.#kernel as Kernel;
    if (this.closed) return;
    this.#guarded(() => {
      if (kernel.complete === undefined) this.sendComplete();
      else kernel.complete();
    });
  }

  // ── what the kernel may do ──

  iterate(iterator: Iterator<unknown>, done: () => void): void {
    this.loop.iterate(this, iterator, this.#deliver, done);
  }

  observe(input: ObservableInput<unknown>, done: () => void): boolean {
    const { loop } = this;
    const before = loop.bindings;
    this.#count(1);
    let completed = false;
    const inner = subscribeWithin(this.#inners, from(input), {
      next: (value) => loop.enter(this, () => this.emit(value)),
      error: (reason: unknown) => {
        this.#count(-1);
        loop.enter(this, () => this.fail(reason));
      },
      complete: () => {
        completed = true;
      },
    });
    // Order: an inner is cleaned up before the next one opens, as in RxJS.
    inner.add(() => {
      if (!completed) return;
      this.#count(-1);
      loop.enter(this, () => this.#guarded(done));
    });
    return loop.bindings > before;
  }

  // Those that are open when the stage closes are counted out there.
  #count(by: number): void {
    if (this.closed) return;
    this.#open += by;
    this.loop.inners += by;
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (reason) {
      this.fail(reason);
    }
  }
}
