/**
 * The calling thread as a site of executors: its pump and its sleep cell, one per JavaScript thread, made when first needed.
 * Owns both. Never keeps the process alive.
 */

import { ringEnds, type Site } from './assemble.js';
import { type Bell, createBell, createSleepCell, Sleeper } from './channel.js';
import { clock } from './clock.js';
import { currentContext } from './context.js';
import { callerThread } from './order.js';
import { Patience } from './patience.js';
import { Pump } from './pump.js';

export interface CallerSite {
  readonly cell: SharedArrayBuffer;
  readonly pump: Pump;
  readonly bell: Bell;
}

let site: CallerSite | undefined;

export function callerSite(): CallerSite {
  site ??= makeSite();
  return site;
}

/** The caller's site within a run that knows these bells, in the context of whoever starts it. */
export function siteWith(bells: ReadonlyMap<number, Bell>): Site {
  const { pump, bell } = callerSite();
  return {
    thread: callerThread,
    pump,
    clock,
    within: currentContext(),
    ...ringEnds((peer) => bells.get(peer) ?? bell),
  };
}

function makeSite(): CallerSite {
  const cell = createSleepCell();
  const pump: Pump = new Pump(clock, new Sleeper(cell), new Patience(clock.nowMs), () => false);
  return { cell, pump, bell: createBell(cell, () => pump.wake()) };
}
