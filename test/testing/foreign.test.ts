/** The user's own timers and promises are named by their lines; nothing else is, and nothing changes. */
import { promisify } from 'node:util';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { type Met, watchForeign } from '../../src/testing/foreign.js';

/** What is met while `work` runs; the runner's own promises come before and after. */
function watched(work: () => void, then: () => void = () => {}): Met[] {
  const met: Met[] = [];
  const restore = watchForeign((one) => {
    met.push(one);
    then();
  });
  try {
    work();
  } finally {
    restore();
  }
  return met;
}

const globals = (): unknown[] => [
  globalThis.setTimeout,
  globalThis.setInterval,
  globalThis.setImmediate,
  globalThis.queueMicrotask,
  process.nextTick,
  Promise.prototype.then,
];
/** The line below the one that asks. */
const next = (): string => {
  const [, file, line] =
    /\(?((?:\/|file:)[^()]*foreign\.test\.ts):(\d+):\d+\)?$/m.exec(new Error().stack?.split('\n')[2] ?? '') ?? [];
  return `${file}:${Number(line) + 1}`;
};

describe('foreign', () => {
  test('each is named by its line and does what it did', async () => {
    const ran: string[] = [];
    const lines: Met[] = [];
    const settled = Promise.resolve('then');
    let met: Met[] = [];
    await new Promise<void>((resolve) => {
      met = watched(() => {
        lines.push({ what: 'setTimeout', at: next() });
        setTimeout((value: string) => resolve(void ran.push(value)), 5, 'setTimeout');
        lines.push({ what: 'setInterval', at: next() });
        const interval = setInterval(() => clearInterval(interval), 1);
        lines.push({ what: 'setImmediate', at: next() });
        setImmediate((value) => ran.push(value), 'setImmediate');
        lines.push({ what: 'queueMicrotask', at: next() });
        queueMicrotask(() => ran.push('queueMicrotask'));
        lines.push({ what: 'process.nextTick', at: next() });
        process.nextTick((value: string) => ran.push(value), 'nextTick');
        lines.push({ what: 'a promise', at: next() });
        settled.then((value) => ran.push(value), expect.unreachable);
      });
    });
    expect(met).toEqual(lines);
    expect(ran.sort()).toEqual(['nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout', 'then']);
  });

  test('a line is named once for each of them', () => {
    const met = watched(() => {
      for (let n = 0; n < 3; n++) queueMicrotask(() => {});
      for (let n = 0; n < 3; n++) for (const defer of [queueMicrotask, process.nextTick]) defer(() => {});
    });
    expect(met.map(({ what }) => what)).toEqual(['queueMicrotask', 'queueMicrotask', 'process.nextTick']);
  });

  const subscribing: Readonly<Record<string, () => rx.Observable<unknown>>> = {
    'a promise': () => rx.from(Promise.resolve(1)).pipe(rx.mergeMap((n) => [n, n])),
    'an asap action': () => rx.of(1).pipe(rx.observeOn(rx.asapScheduler)),
    'a promise below many operators': () => {
      let values: rx.Observable<unknown> = rx.from(Promise.resolve(1));
      for (let n = 0; n < 15; n++)
        values = values.pipe(
          rx.map((value) => value),
          rx.share(),
        );
      return values;
    },
  };
  test.each(Object.entries(subscribing))('%s of RxJS is named by the line that subscribes', (_, make) => {
    const values = make();
    let at = '';
    const met = watched(() => {
      at = next();
      values.subscribe();
    });
    expect(met).toEqual([{ what: 'a promise', at }]);
  });

  test('what catch and finally call is named by the line that calls them', () => {
    const lines: string[] = [];
    const met = watched(() => {
      lines.push(next());
      Promise.resolve().catch(() => {});
      lines.push(next());
      void Promise.resolve().finally(() => {});
    });
    expect(met).toEqual(lines.map((at) => ({ what: 'a promise', at })));
  });

  test('timers of RxJS are named by the line that subscribes', () => {
    let at = '';
    const met = watched(() => {
      at = next();
      const timer = rx.timer(1).subscribe();
      timer.unsubscribe();
    });
    expect(met).toEqual([{ what: 'setInterval', at }]);
  });

  test('what note does itself is not named', () => {
    const met = watched(
      () => queueMicrotask(() => {}),
      () => queueMicrotask(() => {}),
    );
    expect(met).toHaveLength(1);
  });

  test('what note throws reaches the caller, and the next is named again', () => {
    let noted = 0;
    watched(
      () => {
        for (const defer of [queueMicrotask, setImmediate]) expect(() => defer(() => {})).toThrow('noted');
      },
      () => {
        noted++;
        throw new Error('noted');
      },
    );
    expect(noted).toBe(2);
  });

  test('afterwards all is as it was; in between names and promisify are', async () => {
    const before = globals();
    let within: unknown[] = [];
    let waited: Promise<string> | undefined;
    watched(() => {
      within = globals();
      waited = promisify(setTimeout)(1, 'waited');
    });
    expect(globals()).toEqual(before);
    expect(within.map((wrapped, index) => wrapped === before[index])).toEqual(Array(6).fill(false));
    const name = (one: unknown): string => (one as () => void).name;
    expect(within.map(name)).toEqual(before.map(name));
    expect(await waited).toBe('waited');
  });

  test('who wraps them meanwhile keeps what only forwards', () => {
    const real = globalThis.queueMicrotask;
    let met: Met[] = [];
    let ours = real;
    let later = 0;
    met = watched(() => {
      ours = globalThis.queueMicrotask;
      globalThis.queueMicrotask = (task) => {
        later++;
        ours(task);
      };
    });
    queueMicrotask(() => {});
    expect([later, met, ours === real]).toEqual([1, [], false]);
    globalThis.queueMicrotask = real;
  });
});
