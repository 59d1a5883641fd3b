/** The plan for people: data, text, Mermaid. */

import type { Observable } from 'rxjs';
import * as rx from 'rxjs';
import { describe, expect, test } from 'vitest';
import { countByKey, map, mergeMap, perExecutor, startWith, take } from '../../operators/index.js';
import { createRuntime, gather, keyBy, pull, type RunOptions, shuffle, topology, union } from '../../src/index.js';
import { lineOf, made, refused } from './planned.js';

type Numbers = Observable<number>;

const by2 = (n: number): number => n % 2;

const counted = topology(
  import.meta.url,
  (s$: Numbers) =>
    s$.pipe(
      map((n) => n + 1),
      keyBy(by2, { parallelism: 2 }),
      countByKey(),
    ),
  { name: 'counted' },
);

const wide = topology(
  import.meta.url,
  (s$: Numbers) => {
    const [odd$, even$] = rx.partition(s$.pipe(shuffle({ name: 'deal' })), (n) => n % 2 === 1);
    return {
      odd: union(
        odd$,
        pull(() => [1, 3]),
      ).pipe(mergeMap((n) => [n, n])),
      even: even$.pipe(keyBy(by2, { name: 'group', parallelism: 2 }), perExecutor(take(3)), gather()),
    };
  },
  { name: 'wide' },
);

describe('as text', () => {
  const text = (threads: string): string =>
    `topology counted
  input × 1 on ${threads.split('|')[0]}  (input from caller, order total)
    map(…)  value
  keyBy-1 × 2 on ${threads.split('|')[1]}  (keyBy from input, order total)
    countByKey()  key
  → output from keyBy-1, order key
  shared memory 2560 KiB`;
  const here = 'the calling thread';

  test.each([
    [0, `${here}|${here}, ${here}`],
    [1, 'thread 1|thread 1, thread 1'],
    [2, 'thread 1|thread 2, thread 1'],
    [3, 'thread 1|thread 2, thread 3'],
    [9, 'thread 1|thread 2, thread 3'],
  ])('placed on %i threads', async (threads, placed) => {
    await using runtime = createRuntime({ threads: 4 });
    const plan = counted.describe({ threads, runtime });
    expect(String(plan)).toBe(text(placed));
    expect(`${plan}`).toBe(plan.toString());
  });

  test('on as many threads as the runtime has', async () => {
    await using runtime = createRuntime({ threads: 2 });
    expect(String(counted.describe({ runtime }))).toBe(text('thread 1|thread 2, thread 1'));
  });

  test('unions, pulls, opaque steps, several outputs and warnings', () => {
    const lines = String(wide.describe({ threads: 0 })).replace(/describe\.test\.ts:\d+/g, 'LINE');
    expect(lines).toBe(`topology wide
  deal × 1 on the calling thread  (shuffle from caller, order total)
    an operator  stream, opaque
    an operator  stream, opaque
  pull-1 × 1 on the calling thread  (pull)
  union-2 × 1 on the calling thread  (gather from deal, pull-1, order none)
    mergeMap(…)  value
  group × 2 on the calling thread, the calling thread  (keyBy from deal, order total)
    take(3)  value
  → odd from union-2, order none
  → even from group, order key
  shared memory 4096 KiB
  ! 2 opaque steps (LINE): what comes from rxjs, import from millrace/operators`);
  });
});

describe('as data', () => {
  test('plain, versioned, with names in place of indices', () => {
    const plan = counted.describe({ threads: 0 });
    const data = JSON.parse(JSON.stringify(plan));
    expect(data).toEqual({
      version: 1,
      segments: [
        { name: 'input', parallelism: 1, steps: [step('map(…)', 'value')] },
        { name: 'keyBy-1', parallelism: 2, steps: [step('countByKey()', 'key')] },
      ],
      exchanges: [
        { name: 'input', kind: 'input', from: ['caller'], to: 'input', order: 'total' },
        { name: 'keyBy-1', kind: 'keyBy', from: ['input'], to: 'keyBy-1', order: 'total' },
        { name: 'output', kind: 'output', from: ['keyBy-1'], to: 'caller', order: 'key' },
      ],
      outputs: ['output'],
      sharedBytes: 5 * 512 * 1024,
      warnings: [],
    });
    expect(Object.keys(plan)).toEqual(Object.keys(data));
  });

  test('every step has the line of its pipe call', () => {
    const [first] = counted.describe({ threads: 0 }).segments;
    expect(lineOf(first?.steps[0] as never)).toContain('s$.pipe(');
  });

  test('the same for every call, and apart from options of a run', () => {
    const plan = wide.describe({ threads: 0 });
    const other = wide.describe({ threads: 2, batches: { default: 1, deal: 7 }, outputs: ['odd'], strict: true });
    expect(JSON.stringify(other)).toBe(JSON.stringify(plan));
  });

  function step(name: string, scope: string): object {
    return { name, scope, opaque: false, at: expect.stringMatching(/describe\.test\.ts:\d+:\d+$/) };
  }
});

describe('as Mermaid', () => {
  test('segments are nodes, exchanges arrows', () => {
    expect(wide.describe({ threads: 0 }).toMermaid()).toBe(`flowchart LR
  n0(["caller"])
  n1["deal × 1<br/>an operator<br/>an operator"]
  n2["pull-1 × 1"]
  n3["union-2 × 1<br/>mergeMap(…)"]
  n4["group × 2<br/>take(3)"]
  n0 -->|"deal: shuffle"| n1
  n1 -->|"union-2: gather"| n3
  n2 -->|"union-2: gather"| n3
  n1 -->|"group: keyBy"| n4
  n3 -->|"odd"| n0
  n4 -->|"even"| n0`);
  });

  test('special characters of names and labels are escaped', () => {
    const named = made((s$) => ({
      'a|b]': s$.pipe(shuffle({ name: '"x" <b>&#35;`y`\nz' }), startWith('</b>' as never)),
    }));
    expect(named.describe({ threads: 0 }).toMermaid()).toBe(`flowchart LR
  n0(["caller"])
  n1["#34;x#34; #60;b#62;#38;#35;35;#96;y#96; z × 1<br/>startWith(#34;#60;/b#62;#34;)"]
  n0 -->|"#34;x#34; #60;b#62;#38;#35;35;#96;y#96; z: shuffle"| n1
  n1 -->|"a|b]"| n0`);
  });
});

describe('describing is not running', () => {
  test('no run, no thread, no value', async () => {
    await using runtime = createRuntime({ threads: 2, entry: new URL('file:///no/such/entry.js') });
    const before = process.getActiveResourcesInfo();
    const ran: unknown[] = [];
    const t = made((s$) =>
      s$.pipe(
        shuffle({ parallelism: 2 }),
        map((n) => ran.push(n)),
        perExecutor(startWith(1)),
      ),
    );
    const options: RunOptions = { runtime, onRun: (run) => ran.push(run), signal: AbortSignal.abort() };
    expect(String(t.describe(options as never))).toContain('shuffle-1 × 2 on thread 1, thread 2');
    expect(ran).toEqual([]);
    expect(runtime.runs).toEqual([]);
    expect(process.getActiveResourcesInfo()).toEqual(before);
  });

  test('what a run would refuse, it refuses', () => {
    const t = made((s$) => s$.pipe(shuffle({ parallelism: 2 }), take(1)));
    expect(() => t.describe({ threads: 0 })).toThrow('ERR_SCOPE');
    expect(() => counted.describe({ batches: { ouptut: 1 } })).toThrow('did you mean output?');
    expect(refused((s$) => s$, { batches: { keyBy: 1 } }).message).toContain('there are input, output');
  });
});
