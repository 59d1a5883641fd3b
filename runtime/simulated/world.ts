/**
 * Virtual time and the event loops that live in it: one lane for each simulated thread.
 * Owns the clock and every choice of which lane goes next; the same seed chooses the same.
 * Never runs two lanes at once: a lane does one thing at a time, and what it does takes no time unless the weather says so.
 */

import type { Clock } from '../clock.js';
import { Random } from './random.js';
import { type Weather, weatherOf } from './weather.js';

type Task = () => void;

interface Event {
  readonly atMs: number;
  readonly what: string;
  readonly task: Task;
  /** Posted by another lane: a thread that is held hears of it all the same. */
  readonly mail: boolean;
}

/** Time that is not the world's own: whoever has it lets things happen when it comes to them. */
export interface OuterTime {
  nowMs(): number;
  /** Something is to happen in so many milliseconds. */
  awaits(ms: number): void;
}

/** Looks at the clock within one event after which time passes also in calm weather, so that a slice ends. */
const freeLooks = 1_000;
/** The same for all events of one instant, so that a source without end does not stay in it for ever. */
const freeLooksAtOnce = 5_000;
const lookMs = 0.001;

export class World {
  readonly random: Random;
  readonly weather: Weather;
  /** Hears what happens: who, what. */
  readonly note: (who: string, what: string) => void;
  readonly #outer: OuterTime | undefined;
  readonly #lanes: Lane[] = [];
  #nowMs = 0;
  #looks = 0;
  #looksAtOnce = 0;
  #current: Lane | undefined;
  /** Events so far. */
  steps = 0;

  constructor(seed: number, note: (who: string, what: string) => void, outer?: OuterTime) {
    this.random = new Random(seed);
    this.weather = weatherOf(seed, this.random);
    this.note = note;
    this.#outer = outer;
  }

  get nowMs(): number {
    return this.#outer === undefined ? this.#nowMs : this.#outer.nowMs();
  }

  /** The lane whose task runs now. */
  get current(): Lane | undefined {
    return this.#current;
  }

  /** When something is to happen. */
  get nextMs(): number {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes) nextMs = Math.min(nextMs, lane.nextMs);
    return nextMs;
  }

  lane(name: string): Lane {
    const lane = new Lane(name, this);
    this.#lanes.push(lane);
    return lane;
  }

  /** Time passes within a task. */
  spend(ms: number): void {
    this.#nowMs += ms;
  }

  /** A look at the clock. */
  readonly look = (): number => {
    const { calm, costChance, costMs } = this.weather;
    if (this.#outer !== undefined) return this.nowMs + (++this.#looks > freeLooks ? this.#looks * lookMs : 0);
    if (!calm) this.#nowMs += this.random.chance(costChance) ? this.random.next() * costMs : lookMs;
    else if (++this.#looksAtOnce > freeLooksAtOnce || ++this.#looks > freeLooks) this.#nowMs += lookMs;
    return this.#nowMs;
  };

  /** How late a message is. */
  lateness(): number {
    const { lateChance, lateMs } = this.weather;
    return this.random.chance(lateChance) ? this.random.next() * lateMs : 0;
  }

  /** Lets one thing happen, at `untilMs` at the latest. False: nothing is to happen until then. */
  step(untilMs: number): boolean {
    let ready = this.#ready();
    if (ready.length === 0 && this.#outer !== undefined) return false;
    if (ready.length === 0) {
      const { nextMs } = this;
      if (nextMs > untilMs || nextMs === Number.POSITIVE_INFINITY) return false;
      this.#nowMs = nextMs;
      this.#looksAtOnce = 0;
      ready = this.#ready();
    }
    const lane = ready.length === 1 || this.weather.calm ? ready[0] : ready[this.random.below(ready.length)];
    this.steps++;
    this.#looks = 0;
    this.#current = lane;
    try {
      lane?.runNext();
    } finally {
      this.#current = undefined;
    }
    const { pauseChance, pauseMs } = this.weather;
    if (this.random.chance(pauseChance)) lane?.standStill(this.random.next() * pauseMs);
    return true;
  }

  /**
   * Lets one thing of another lane happen while `held` stands in the middle of a task, or lets `ms` pass. False: time is not the
   * world's own, and passes only when `held` returns.
   */
  others(held: Lane, ms: number): boolean {
    const untilMs = this.nowMs + ms;
    const others = this.#lanes.filter((lane) => lane !== held);
    const nextMs = Math.min(held.nextMailMs, ...others.map((lane) => lane.nextMs));
    if (this.#outer !== undefined && nextMs > this.nowMs) return false;
    this.#nowMs = Math.max(this.#nowMs, Math.min(nextMs, untilMs));
    const ready = others.filter((lane) => lane.nextMs <= this.nowMs);
    const lane = this.weather.calm ? ready[0] : ready[this.random.below(Math.max(1, ready.length))];
    if (lane === undefined) return true;
    const { steps } = this;
    this.#current = lane;
    this.steps = steps + 1;
    lane.runNext();
    this.#current = held;
    return true;
  }

  #ready(): readonly Lane[] {
    const { nowMs } = this;
    return this.#lanes.filter((lane) => lane.nextMs <= nowMs);
  }

  /** A lane has something to do in so many milliseconds. */
  awaits(ms: number): void {
    this.#outer?.awaits(ms);
  }
}

/** The event loop of one simulated thread. */
export class Lane {
  readonly name: string;
  readonly #world: World;
  /** By time, then by when it was asked for. */
  readonly #events: Event[] = [];
  /** What runs before the next event, such as promises do. */
  readonly #first: Task[] = [];
  #stillUntilMs = 0;
  #dead = false;
  /** It stands in the middle of a task until others have done something: what is to come in this lane does not come. */
  held = false;
  /** Hears what a task throws, as a thread hears of an uncaught exception. */
  onError: (reason: unknown) => void = () => {};

  constructor(name: string, world: World) {
    this.name = name;
    this.#world = world;
  }

  get dead(): boolean {
    return this.#dead;
  }

  get stands(): boolean {
    return this.#world.nowMs < this.#stillUntilMs;
  }

  /** When it has something to do. */
  get nextMs(): number {
    const first = this.#events[0];
    return first === undefined ? Number.POSITIVE_INFINITY : Math.max(first.atMs, this.#stillUntilMs);
  }

  /** When mail is there. */
  get nextMailMs(): number {
    return this.#events.find(({ mail }) => mail)?.atMs ?? Number.POSITIVE_INFINITY;
  }

  /** Runs `task` in `ms`; what returns cancels it. */
  in(ms: number, what: string, task: Task): Task {
    return this.at(this.#world.nowMs + ms, what, task, false);
  }

  /** The same at a time, of equal ones in the order of asking. */
  at(atMs: number, what: string, task: Task, mail: boolean): Task {
    if (this.#dead) return () => {};
    const event = { atMs, what, task, mail };
    const events = this.#events;
    let at = events.length;
    while (at > 0 && (events[at - 1] as Event).atMs > event.atMs) at--;
    events.splice(at, 0, event);
    this.#world.awaits(atMs - this.#world.nowMs);
    return () => {
      const index = events.indexOf(event);
      if (index >= 0) events.splice(index, 1);
    };
  }

  /** Runs `task` before anything else of this lane. */
  first(task: Task): Task {
    this.#first.push(task);
    // Without a task of this lane under way there is nothing it could follow.
    if (this.#world.current !== this) this.in(0, 'microtasks', () => {});
    return () => {
      const index = this.#first.indexOf(task);
      if (index >= 0) this.#first.splice(index, 1);
    };
  }

  /** Does nothing for a while; what comes meanwhile waits. */
  standStill(ms: number): void {
    this.#stillUntilMs = Math.max(this.#stillUntilMs, this.#world.nowMs + ms);
  }

  /** Does nothing any more. What has been asked for before anything else is done: its effects are cut elsewhere. */
  die(): void {
    this.#dead = true;
    this.#events.length = 0;
  }

  /** Runs what mail is there, in the middle of a task. */
  runMail(): void {
    const due = this.#events.filter(({ mail, atMs }) => mail && atMs <= this.#world.nowMs);
    for (const event of due) {
      const index = this.#events.indexOf(event);
      if (index < 0) continue;
      this.#events.splice(index, 1);
      this.#try(event.task);
    }
  }

  runNext(): void {
    const event = this.#events.shift();
    if (event === undefined) return;
    this.#try(event.task);
    for (let task = this.#first.shift(); task !== undefined; task = this.#first.shift()) this.#try(task);
  }

  #try(task: Task): void {
    try {
      task();
    } catch (reason) {
      this.onError(reason);
    }
  }
}

/** The clock of a thread that lives in a lane. */
export function clockOf(world: World, lane: Lane): Clock {
  return {
    nowMs: world.look,
    epochMs: () => world.nowMs,
    soon(task) {
      lane.in(0, 'soon', task);
    },
    later: (ms, task) => lane.in(ms, 'timer', task),
    afterMessages(task) {
      lane.in(0, 'soon', () => lane.in(0, 'soon', task));
    },
  };
}

/** What one thread posts to another: it may be late, and arrives in order. */
export class Mail {
  readonly #world: World;
  readonly #to: Lane;
  #lastMs = 0;

  constructor(world: World, to: Lane) {
    this.#world = world;
    this.#to = to;
  }

  post(what: string, task: Task, lateMs = 0): void {
    // Order: a time, not a delay, whose sum with another now would be rounded, and then come first.
    this.#lastMs = Math.max(this.#lastMs, this.#world.nowMs + this.#world.lateness() + lateMs);
    this.#to.at(this.#lastMs, what, task, true);
  }
}
