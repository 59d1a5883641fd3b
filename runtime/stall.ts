/**
 * Who waits for whom in a run, and for how long: what `run.explainStall()` returns and errors of stalled runs say.
 * Owns the report and its wording. Looks only: at shared memory, which threads write while it is read.
 */

import { postureOf } from './channel.js';
import { type End, Links } from './links.js';
import type { Waits } from './metrics.js';
import { readExecutor } from './metrics.js';
import { callerThread } from './order.js';
import type { ExchangePlan, Plan } from './plan.js';
import type { Wires } from './wiring.js';

export interface Wait {
  readonly who: string;
  readonly for: string;
  /**
   * Room in front of it; demand of a reader; input from behind; an ack; a module to load; or, of its own steps: a promise, a timer,
   * or code that has not come back.
   */
  readonly what: 'room' | 'demand' | 'input' | 'ack' | 'start' | 'promise' | 'time' | 'code';
  readonly sinceMs: number;
}

export interface StallReport {
  /** How long nothing has moved in the run. */
  readonly sinceMs: number;
  readonly waits: readonly Wait[];
  /** Channels that are not empty, in bytes. */
  readonly channels: readonly { readonly id: string; readonly fill: number; readonly capacity: number }[];
  /** Bytes executors hold back. */
  readonly parkedBytes: number;
  toString(): string;
}

/** An output as it is read. */
export interface OutputReading {
  /** Its reader asks for nothing, or is in the middle of a delivery. */
  readonly withheld: boolean;
  /** Since when, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

export interface Scene {
  readonly run: string;
  readonly plan: Plan;
  readonly wires: Wires;
  /** Its sleep cell, where it is a thread of its own. */
  cellOf(thread: number): ArrayBufferLike | undefined;
  /** It is still loading the module. */
  starting(thread: number): boolean;
  readonly startedAt: number;
  outputs(): ReadonlyMap<number, OutputReading>;
  epochMs(): number;
}

export class Standstill {
  readonly #scene: Scene;
  #made: Links | undefined;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  // Most runs are over before anybody asks.
  get #links(): Links {
    this.#made ??= new Links(this.#scene.wires);
    return this.#made;
  }

  /** The full channels by which the caller waits for an output that only its own event loop could empty. */
  hopeless(): readonly string[] | undefined {
    const outputs = this.#scene.outputs();
    const blocked = this.#links.blocked(
      (output) => outputs.get(output)?.withheld === true,
      (executor) => this.#still(executor),
    );
    return blocked?.map(({ id }) => id);
  }

  #still(executor: number): boolean {
    const thread = this.#scene.wires.executors[executor]?.thread ?? callerThread;
    const cell = this.#scene.cellOf(thread);
    // On this thread it has done all it can: what it waits for is the event loop.
    if (cell === undefined) return true;
    if (!postureOf(cell).asleep) return false;
    return !this.#links.rest(executor).restless;
  }

  /** Values are under way. */
  get work(): boolean {
    const { executors } = this.#scene.wires;
    return (
      this.#links.all.some((link) => link.state().fill > 0) ||
      executors.some(({ order }) => ['room', 'promise'].includes(this.#links.rest(order.number).waits))
    );
  }

  report(): StallReport {
    const { run, plan, wires } = this.#scene;
    const nowMs = this.#scene.epochMs();
    const waits = [...this.#callerWaits(nowMs), ...this.#executorWaits(nowMs), ...this.#outputWaits(nowMs)];
    const channels = this.#links.all.flatMap((link) => {
      const { fill, capacity } = link.state();
      return fill > 0 ? [{ id: link.id, fill, capacity }] : [];
    });
    const parkedBytes = wires.executors.reduce(
      (sum, { order, id }) => sum + readExecutor(wires.counters, order.number, id, 0).parkedBytes,
      0,
    );
    const sinceMs = Math.min(...waits.map((wait) => wait.sinceMs), Number.POSITIVE_INFINITY);
    const report = { sinceMs: Number.isFinite(sinceMs) ? sinceMs : 0, waits, channels, parkedBytes };
    const text = (): string => textOf(run, report, advice(waits, plan));
    return Object.defineProperty(report, 'toString', { value: text }) as StallReport;
  }

  #callerWaits(nowMs: number): Wait[] {
    const full = this.#links.from('caller').filter((link) => link.state().refused);
    return full.map((link) => ({
      who: 'the input',
      for: this.#name(link.to),
      what: 'room',
      sinceMs: this.#age(link.to, nowMs),
    }));
  }

  #executorWaits(nowMs: number): Wait[] {
    return this.#scene.wires.executors.flatMap(({ order, id, thread }): Wait[] => {
      const end = { executor: order.number };
      const { waits, sinceMs: since } = this.#links.rest(order.number);
      const sinceMs = nowMs - since;
      if (this.#scene.starting(thread))
        return [{ who: id, for: 'its module to load', what: 'start', sinceMs: nowMs - this.#scene.startedAt }];
      const cell = this.#scene.cellOf(thread);
      if (cell !== undefined && !postureOf(cell).asleep)
        return [{ who: id, for: this.#lastStep(order.segment), what: 'code', sinceMs: this.#age(end, nowMs) }];
      return this.#waitsOf(waits, end, order.segment).map((wait) => ({ who: id, sinceMs, ...wait }));
    });
  }

  #waitsOf(waits: Waits, end: End, segment: number): Pick<Wait, 'for' | 'what'>[] {
    if (waits === 'room') {
      const full = this.#links.from(end).filter((link) => link.state().refused);
      return full.map((link) => ({ for: this.#name(link.to), what: waits }));
    }
    if (waits === 'input') {
      const open = this.#links.to(end).filter((link) => !link.state().over);
      if (this.#links.to(end).length === 0) return [{ for: 'pull()', what: waits }];
      return open.map((link) => ({ for: this.#name(link.from), what: waits }));
    }
    return waits === 'nothing' ? [] : [{ for: this.#lastStep(segment), what: waits }];
  }

  #outputWaits(nowMs: number): Wait[] {
    return [...this.#scene.outputs()].flatMap(([output, { withheld, sinceMs }]): Wait[] => {
      const wait = { who: this.#name({ output }), sinceMs: nowMs - sinceMs };
      if (withheld) return [{ ...wait, for: 'its reader', what: 'demand' }];
      const open = this.#links.to({ output }).filter((link) => !link.state().over);
      return open.map((link) => ({ ...wait, for: this.#name(link.from), what: 'input' }));
    });
  }

  #age(end: End, nowMs: number): number {
    if (end === 'caller') return 0;
    if ('output' in end) return nowMs - (this.#scene.outputs().get(end.output)?.sinceMs ?? nowMs);
    const { sinceMs } = this.#links.rest(end.executor);
    return nowMs - (sinceMs === 0 ? this.#scene.startedAt : sinceMs);
  }

  #name(end: End): string {
    if (end === 'caller') return 'the input';
    if ('executor' in end) return this.#scene.wires.executors[end.executor]?.id ?? '';
    return `output ${JSON.stringify((this.#scene.plan.exchanges[end.output] as ExchangePlan).name)}`;
  }

  /** What ran last before a value left, or has not come back. */
  #lastStep(segment: number): string {
    const step = this.#scene.plan.segments[segment]?.steps.at(-1);
    return step === undefined ? 'itself' : `its own steps, the last of which is ${step.name} (pipe at ${step.at})`;
  }
}

/** Outputs of a record that are read one after the other wait for each other. */
function advice(waits: readonly Wait[], plan: Plan): string {
  const unread = waits.filter(({ what }) => what === 'demand').map(({ who }) => who);
  if (unread.length === 0 || unread.length === plan.outputs.length) return '';
  return (
    `\n  ${unread.join(' and ')} ${unread.length > 1 ? 'are' : 'is'} not being read, and a run goes as fast as its slowest reader: ` +
    'outputs of a record read one after the other stall. Read them at the same time, or name those you want in `outputs`'
  );
}

function textOf(run: string, report: StallReport, more: string): string {
  const { sinceMs, waits, channels, parkedBytes } = report;
  const lines = waits.map((wait) => `  ${wait.who} waits for ${said(wait)}, ${seconds(wait.sinceMs)}`);
  const fills = channels.map(({ id, fill, capacity }) => `  ${id} holds ${fill} of ${capacity} bytes`);
  const parked = parkedBytes > 0 ? [`  ${parkedBytes} bytes are parked`] : [];
  const oldest = Math.max(0, ...waits.filter(({ what }) => what === 'room').map((wait) => wait.sinceMs));
  const age = oldest > 0 ? [`  the oldest value has waited for ${seconds(oldest)}`] : [];
  return [`${run}: nothing has moved for ${seconds(sinceMs)}`, ...lines, ...fills, ...parked, ...age].join('\n') + more;
}

function said({ what, for: whom }: Wait): string {
  if (what === 'room') return `room: ${whom} has not taken what it was sent`;
  if (what === 'demand') return 'demand: its reader asks for nothing';
  if (what === 'input') return `input from ${whom}`;
  if (what === 'start') return whom;
  if (what === 'code') return `code of ${whom}, which has not come back`;
  return `a ${what === 'time' ? 'timer' : what} of ${whom}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
