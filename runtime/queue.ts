/** A first-in, first-out queue that stays cheap however long it gets: taking from the front of an array moves all the others. */
export class Queue<T> {
  #items: (T | undefined)[] = [];
  #next = 0;

  get length(): number {
    return this.#items.length - this.#next;
  }

  /** The one that `shift` will take. */
  get first(): T | undefined {
    return this.#items[this.#next];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.first;
    // What has left is held no longer, though its place is still there.
    if (this.#next < this.#items.length) this.#items[this.#next++] = undefined;
    if (this.#next * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#next);
      this.#next = 0;
    }
    return item;
  }
}
