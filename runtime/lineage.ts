/**
 * Lineage: which roots a value comes of, and what is still owed for it.
 * Owns the tokens: a root begins with one; each value that comes of it bears a part; what is not borne on goes back to the ledger.
 * Never guesses: who keeps a value retains its lineage, and a lineage that is forgotten is never settled.
 */

import { Draws } from './draws.js';

/*
 * Invariant. For each root, the XOR of the tokens of all values under way, kept or on their way back is what its ledger holds, and
 * a root is settled when that is 0. A step keeps it by giving its outputs tokens whose XOR, with what it returns, is the token of
 * its input:
 *
 *   one output     it bears the input's token on                        nothing is said
 *   n outputs      the first bears it on, the others draw new ones      the XOR of the new ones is returned
 *   none           the token is returned                                which is an ack
 *
 * Parts have 64 random bits: that some of them cancel before all are returned takes, at a million a second, ten thousand years.
 */

/** Where tokens go back to: the ledger of their source. Never throws and never waits. */
export interface Acks {
  /** Returns a part of what `root` owes. */
  settle(source: number, root: number, hi: number, lo: number): void;
  /** What `reason` says has happened to a value of `root`. */
  fail(source: number, root: number, reason: unknown): void;
}

/** Takes the anchors of one output. */
export interface AnchorSink {
  add(source: number, root: number, hi: number, lo: number): void;
}

/** Of one value, or of several that were put together. Used again when nobody retains it. */
export class Lineage {
  source = 0;
  /** Number of the root with its source, 32 bits. */
  root = 0;
  /** What an output that comes now would bear, or what would be returned. */
  hi = 0;
  lo = 0;
  /** An output bears its token already. */
  given = false;
  failed = false;
  /** Who keeps it: the delivery under way, a suspended iterator, an inner, a step that holds. */
  refs = 0;
  /** Those it was put together from; it has no root of its own then. */
  parts: readonly Lineage[] | undefined;
}

/** The lineages of one executor. */
export class Tracker {
  /** Of the value under way; none: what is emitted now comes of no root. */
  current: Lineage | undefined;
  readonly #acks: Acks;
  readonly #free: Lineage[] = [];
  readonly #draws: Draws;

  /** `seed` differs between executors, and between the lives of one. */
  constructor(acks: Acks, seed: number) {
    this.#acks = acks;
    this.#draws = new Draws(seed);
  }

  /** A value has arrived, retained once, and is the one under way. */
  enter(source: number, root: number, hi: number, lo: number): Lineage {
    const lineage = this.#free.pop() ?? new Lineage();
    lineage.source = source;
    lineage.root = root;
    lineage.hi = hi;
    lineage.lo = lo;
    lineage.given = false;
    lineage.failed = false;
    lineage.refs = 1;
    this.current = lineage;
    return lineage;
  }

  /** Several as one, retained once; what was retained of the parts goes over to it. */
  join(parts: readonly Lineage[]): Lineage {
    const lineage = this.#free.pop() ?? new Lineage();
    lineage.failed = false;
    lineage.refs = 1;
    lineage.parts = parts;
    return lineage;
  }

  retain(lineage: Lineage): void {
    lineage.refs++;
  }

  /** The last one returns what is owed. */
  release(lineage: Lineage): void {
    if (--lineage.refs > 0) return;
    const { parts } = lineage;
    if (parts !== undefined) {
      lineage.parts = undefined;
      for (const part of parts) this.release(part);
    } else if (!lineage.failed && (!lineage.given || (lineage.hi | lineage.lo) !== 0)) {
      this.#acks.settle(lineage.source, lineage.root, lineage.hi, lineage.lo);
    }
    this.#free.push(lineage);
  }

  /** Its roots fail, once each. */
  fail(lineage: Lineage, reason: unknown): void {
    if (lineage.failed) return;
    lineage.failed = true;
    if (lineage.parts !== undefined) for (const part of lineage.parts) this.fail(part, reason);
    else this.#acks.fail(lineage.source, lineage.root, reason);
  }

  /** The anchors of one output that comes of `lineage`. */
  anchor(lineage: Lineage, sink: AnchorSink): void {
    const { parts } = lineage;
    if (parts !== undefined) {
      for (const part of parts) this.anchor(part, sink);
      return;
    }
    if (!lineage.given) {
      lineage.given = true;
      sink.add(lineage.source, lineage.root, lineage.hi, lineage.lo);
      lineage.hi = 0;
      lineage.lo = 0;
      return;
    }
    const hi = this.#draws.next();
    const lo = this.#draws.next();
    lineage.hi ^= hi;
    lineage.lo ^= lo;
    sink.add(lineage.source, lineage.root, hi, lo);
  }
}
