/**
 * What a simulated thread runs for an executor: its program and its source, until the thread dies.
 * Owns the count of values by which mishaps come true. From the moment of death nothing that its code still does has an effect.
 */

import { type Input, none } from '../input.js';
import type { Program, ProgramHost } from '../program.js';
import type { Body } from './body.js';

export class CutProgram implements Program {
  readonly id: string;
  #completed = false;
  #stopped = false;
  readonly #program: Program;
  readonly #host: ProgramHost;
  readonly #body: Body;
  #taken = 0;

  constructor(program: Program, host: ProgramHost, id: string, body: Body) {
    this.#program = program;
    this.#host = host;
    this.id = id;
    this.#body = body;
  }

  start(): void {
    this.#program.start();
    this.#body.befall(this.id, 0, 'between values', this.#host);
  }

  next(value: unknown): void {
    if (this.#body.dead) return;
    this.#taken++;
    this.#body.befall(this.id, this.#taken, 'in the value', this.#host);
    this.#program.next(value);
    this.#body.befall(this.id, this.#taken, 'between values', this.#host);
    const { random, weather } = this.#body.options.world;
    if (random.chance(weather.starvedChance)) this.#host.starved();
  }

  complete(): void {
    this.#completed = true;
    if (!this.#body.dead) this.#program.complete();
  }

  error(reason: unknown): void {
    if (!this.#body.dead) this.#program.error(reason);
  }

  resume(): void {
    if (!this.#body.dead) this.#program.resume();
  }

  get suspended(): boolean {
    return this.#program.suspended;
  }

  get restless(): boolean {
    return this.#program.restless;
  }

  get subscribed(): boolean {
    return this.#program.subscribed;
  }

  // A thread that stands still does so between two values.
  get ready(): boolean {
    return !this.#body.dead && !this.#body.options.lane.stands && this.#program.ready;
  }

  get finished(): boolean {
    return !this.#body.dead && this.#program.finished;
  }

  /** What it waits for, if not for input or room. */
  get waiting(): string | undefined {
    const program = this.#program;
    if (this.#stopped || this.#body.dead) return undefined;
    if (!program.subscribed) return 'one has not subscribed its source';
    if (program.suspended) return 'one is suspended';
    if (this.#completed) return 'all input has arrived and ended, and they have not completed';
    return program.ready || program.finished ? undefined : 'one takes no input until what it has begun is done';
  }

  closeOutlet(outlet: number): void {
    this.#program.closeOutlet(outlet);
  }

  stop(): void {
    this.#stopped = true;
    this.#program.stop();
  }
}

export class CutInput implements Input {
  readonly #input: Input;
  readonly #body: Body;

  constructor(input: Input, body: Body) {
    this.#input = input;
    this.#body = body;
  }

  take(): unknown {
    return this.#body.dead ? none : this.#input.take();
  }

  get ended(): boolean {
    return !this.#body.dead && this.#input.ended;
  }

  finish(): void {
    if (!this.#body.dead) this.#input.finish();
  }

  drain(): void {
    this.#input.drain();
  }

  discard(): number {
    return this.#input.discard();
  }
}
