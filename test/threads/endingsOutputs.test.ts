import { createRuntime, type Run } from 'millrace';
import { concat, defer, from, NEVER, type Observable, of, range, Subject, take, tap } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import * as leave from './fixtures/endingsLeaving.js';
import type { How } from './fixtures/endingsSeen.js';
import { errorOf, first, observe, valuesOf } from './fixtures/observe.js';

const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime.close());

const ways: readonly (readonly [string, How])[] = [
  ['on threads', { runtime }],
  ['on the calling thread', { threads: 0 }],
];

const endlessly = <T>(...values: T[]): Observable<T> => concat(from(values), NEVER);

describe.each(ways)('a record of outputs %s', (_, how) => {
  const evens = [2, 4, 6, 8, 10];
  const odds = [1, 3, 5, 7, 9];

  test('shares one run', async () => {
    const ids: string[] = [];
    const { even, odd } = leave.sides({ ...how, onRun: (run) => ids.push(run.id) })(range(1, 10));
    expect(await Promise.all([valuesOf(even), valuesOf(odd)])).toEqual([evens, odds]);
    expect(ids).toHaveLength(1);
  });

  test('the n-th subscriptions make the n-th run', async () => {
    const ids: string[] = [];
    const inputs: number[] = [];
    const input = defer(() => {
      inputs.push(ids.length);
      return range(1, 10);
    });
    const { even, odd } = leave.sides({ ...how, onRun: (run) => ids.push(run.id) })(input);
    const all = [valuesOf(even), valuesOf(even), valuesOf(even)];
    expect(ids).toHaveLength(0);
    all.push(valuesOf(odd));
    expect(ids).toHaveLength(1);
    all.push(valuesOf(odd), valuesOf(odd));
    expect(await Promise.all(all)).toEqual([evens, evens, evens, odds, odds, odds]);
    expect(new Set(ids).size).toBe(3);
    expect(inputs).toEqual([1, 2, 3]);
  });

  test('one output unsubscribed early is discarded while the other goes on', async () => {
    const { even, odd } = leave.sides(how)(range(1, 20_000));
    const seen: number[] = [];
    const rest = valuesOf(odd);
    const subscription = even.subscribe((n) => {
      seen.push(n);
      if (n === 4) subscription.unsubscribe();
    });
    expect(await rest).toHaveLength(10_000);
    expect(seen).toEqual([2, 4]);
  });

  test('one output that completes early leaves the other one alone', async () => {
    const { even, odd } = leave.sides(how)(range(1, 20_000));
    const [few, many] = await Promise.all([valuesOf(even.pipe(take(2))), valuesOf(odd)]);
    expect(few).toEqual([2, 4]);
    expect(many).toHaveLength(10_000);
  });

  test('one output unsubscribed before the other one came does not count as missing', async () => {
    const { even, odd } = leave.sides(how)(range(1, 10));
    even.subscribe(() => expect.unreachable()).unsubscribe();
    const values = valuesOf(odd);
    // The first run was given up when nobody was left, so this is the next one and wants both.
    expect(await Promise.all([valuesOf(even), values])).toEqual([evens, odds]);
  });

  test('the run ends when no output is left', async () => {
    const input = new Subject<number>();
    const { even, odd } = leave.sides(how)(input);
    const subscriptions = [even.subscribe(), odd.subscribe()];
    expect(input.observed).toBe(true);
    subscriptions[0]!.unsubscribe();
    expect(input.observed).toBe(true);
    subscriptions[1]!.unsubscribe();
    expect(input.observed).toBe(false);
    expect(runtime.runs).toEqual([]);
  });

  test('one that is missing after startTimeoutMs is named', async () => {
    const { even, odd } = leave.sides({ ...how, startTimeoutMs: 20 })(range(1, 10));
    expect(await errorOf(odd)).toMatchObject({
      code: 'ERR_OUTPUT_UNUSED',
      topology: 'sides',
      message:
        'ERR_OUTPUT_UNUSED: "even" had no subscriber within startTimeoutMs (20 ms). Subscribe all outputs, or name those you want in `outputs`',
    });
    expect(await errorOf(even)).toMatchObject({ message: expect.stringContaining('"odd" had no subscriber') });
  });

  test('those not named in `outputs` are discarded and counted', async () => {
    let run!: Run;
    const { even, odd } = leave.sides({ ...how, outputs: ['odd'], onRun: (started) => (run = started) })(range(1, 10));
    expect(await valuesOf(odd)).toEqual(odds);
    const [discarded] = run.metrics().channels.filter((channel) => channel.id.startsWith('even:'));
    expect(discarded).toMatchObject({ id: 'even:all/0->discarded', values: 0, dropped: 5 });
    expect(await errorOf(even)).toMatchObject({
      code: 'ERR_OUTPUT_UNUSED',
      message: 'ERR_OUTPUT_UNUSED: "even" is not among the wanted outputs: name it in the option `outputs`',
    });
  });
});

describe('closing a runtime', () => {
  test('ends its runs with ERR_CLOSED, on threads and on the calling thread', async () => {
    const one = createRuntime({ threads: 2 });
    const input = new Subject<number>();
    const ends = [
      errorOf(input.pipe(leave.same({ runtime: one }))),
      errorOf(input.pipe(leave.same({ runtime: one, threads: 0 }))),
    ];
    const { values } = first(input.pipe(leave.same({ runtime: one })), 1);
    input.next(1);
    expect(await values).toEqual([1]);
    expect(one.runs).toHaveLength(3);
    const closed = one.close();
    expect(one.runs).toEqual([]);
    expect(input.observed).toBe(false);
    for (const end of ends)
      expect(await end).toMatchObject({ code: 'ERR_CLOSED', message: 'ERR_CLOSED: the runtime was closed' });
    await closed;
  });

  test('before its threads have started', async () => {
    const one = createRuntime({ threads: 2 });
    const end = errorOf(of(1).pipe(leave.same({ runtime: one })));
    await one.close();
    expect(await end).toMatchObject({ code: 'ERR_CLOSED' });
  });

  test('a subscription afterwards is refused; closing twice is closing once', async () => {
    const one = createRuntime({ threads: 1 });
    const apply = leave.same({ runtime: one });
    await Promise.all([one.close(), one.close()]);
    await one.close();
    const refused = { code: 'ERR_CLOSED', topology: 'same', message: 'ERR_CLOSED: the runtime is closed' };
    expect(await errorOf(of(1).pipe(apply))).toMatchObject(refused);
    expect(await errorOf(of(1).pipe(leave.same({ runtime: one, threads: 0 })))).toMatchObject(refused);
    const { even, odd } = leave.sides({ runtime: one })(of(1));
    expect(await Promise.all([errorOf(even), errorOf(odd)])).toEqual([
      expect.objectContaining({ code: 'ERR_CLOSED' }),
      expect.objectContaining({ code: 'ERR_CLOSED' }),
    ]);
    expect(one.runs).toEqual([]);
  });

  test('await using closes at the end of the block', async () => {
    let end: Promise<unknown>;
    {
      await using one = createRuntime({ threads: 1 });
      expect(await valuesOf(of(1).pipe(leave.same({ runtime: one })))).toEqual([1]);
      end = errorOf(endlessly(1).pipe(leave.same({ runtime: one })));
    }
    expect(await end).toMatchObject({ code: 'ERR_CLOSED' });
  });

  test('inside next', async () => {
    const one = createRuntime({ threads: 1 });
    const { values, end } = await observe(
      endlessly(1, 2, 3).pipe(
        leave.same({ runtime: one }),
        tap(() => void one.close()),
      ),
    );
    expect(values).toEqual([]);
    expect(end).toMatchObject({ code: 'ERR_CLOSED' });
  });
});
