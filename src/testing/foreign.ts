/**
 * Names what the user's code does outside of virtual time: its own timers, microtasks and promises, by their lines.
 * Owns the wrappers around the globals and takes them off again. Changes nothing of what they do.
 */

import { fileURLToPath } from 'node:url';
import { siteIn } from '../../operators/recording.js';

/** What was met, and the user's line, as `file:line`. */
export interface Met {
  readonly what: What;
  readonly at: string;
}

/** What is outside of virtual time, as messages call it. */
export type What = 'setTimeout' | 'setInterval' | 'setImmediate' | 'queueMicrotask' | 'process.nextTick' | 'a promise';

/** Where they are, what they are called there and in a message. */
const foreign: readonly (readonly [home: object, name: string, what: What])[] = [
  [globalThis, 'setTimeout', 'setTimeout'],
  [globalThis, 'setInterval', 'setInterval'],
  [globalThis, 'setImmediate', 'setImmediate'],
  [globalThis, 'queueMicrotask', 'queueMicrotask'],
  [process, 'nextTick', 'process.nextTick'],
  [Promise.prototype, 'then', 'a promise'],
];

/**
 * Calls `note` for each of these that the user's lines call from now on, once per line, until the function it returns is
 * called. Lines of millrace, RxJS and Node do not count: it is the innermost of the user's that is named, and what none of them
 * led to is not noted. `await` shows no line; what RxJS subscribes of it does.
 */
export function watchForeign(note: (met: Met) => void): () => void {
  const noted = new Set<string>();
  let noting = false;
  const meet = (what: What): void => {
    // What `note` does itself, or a source map does for the stack, is not the user's.
    if (noting) return;
    noting = true;
    try {
      const at = userLine();
      if (at === undefined || noted.has(`${what} ${at}`)) return;
      noted.add(`${what} ${at}`);
      note({ what, at });
    } finally {
      noting = false;
    }
  };
  const restores = foreign.map(([home, name, what]) => wrap(home, name, () => meet(what)));
  return () => {
    for (const restore of restores) restore();
  };
}

/** Puts a function in front of `home[name]` that first calls `before`; returns what takes it off. */
function wrap(home: object, name: string, before: () => void): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(home, name);
  const real: unknown = descriptor?.value;
  if (descriptor === undefined || typeof real !== 'function') return () => {};
  let watching = true;
  const wrapper = {
    call(this: unknown, ...args: unknown[]): unknown {
      if (watching) before();
      return Reflect.apply(real, this, args);
    },
  }.call;
  // Name, length, and what promisify() looks for.
  Object.defineProperties(wrapper, Object.getOwnPropertyDescriptors(real));
  Object.defineProperty(home, name, { ...descriptor, value: wrapper });
  return () => {
    watching = false;
    // Whoever has wrapped it since keeps a wrapper that only forwards.
    if (Object.getOwnPropertyDescriptor(home, name)?.value === wrapper) Object.defineProperty(home, name, descriptor);
  };
}

/** Frames that a stack is searched for; RxJS stacks are deep. */
const maxFrames = 200;

function userLine(): string | undefined {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = maxFrames;
  const { stack } = new Error();
  Error.stackTraceLimit = limit;
  const place = typeof stack === 'string' ? siteIn(stack)?.replace(/:\d+$/, '') : undefined;
  const url = place === undefined ? undefined : /^(file:.*):(\d+)$/.exec(place);
  const [, file, line] = url ?? [];
  return file === undefined ? place : `${fileURLToPath(file)}:${line}`;
}
