import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMillraceError, MillraceError } from '../../runtime/errors.js';
import { type Fault, fromFault, toFault } from '../../runtime/fault.js';
import { refused } from './fixtures/kinds.js';
import { carryable, carryOne, same } from './fixtures/values.js';

/** There and back, by way of JSON, MessagePack and structured clone: none of them may change a fault. */
function carry(reason: unknown): unknown {
  const fault = toFault(reason);
  const arrived = [JSON.parse(JSON.stringify(fault)), carryOne(fault), structuredClone(fault)] as Fault[];
  for (const copy of arrived) expect(copy).toStrictEqual(fault);
  return fromFault(arrived[0] as Fault);
}

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

class HttpError extends TypeError {
  readonly status = 404;
  readonly request = { url: '/x', headers: [['a', 'b']], retry: () => 1, id: 5n, none: undefined };
  override readonly name = 'HttpError';
}

describe('errors', () => {
  test.each([Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError])('%o', (Class) => {
    const error = new Class('boom', { cause: new RangeError('inner') });
    expect(same(carry(error), error)).toBe(true);
    expect(carry(error)).toBeInstanceOf(Class);
  });

  test('an AggregateError has its errors, a cause that is undefined is one', () => {
    const error = new AggregateError([new TypeError('a'), 'b', undefined], 'both', { cause: undefined });
    expect(same(carry(error), error)).toBe(true);
  });

  test('a class of the user arrives as the nearest standard class, with its name and fields', () => {
    const error = new HttpError('not found');
    const arrived = carry(error) as HttpError;
    expect(arrived).toBeInstanceOf(TypeError);
    expect([arrived.name, arrived.message, arrived.stack]).toEqual(['HttpError', 'not found', error.stack]);
    expect(arrived.status).toBe(404);
    const request = { url: '/x', headers: [['a', 'b']], retry: '[function retry]', id: 5n, none: undefined };
    expect(same(arrived.request, request)).toBe(true);
    expect(Object.keys(arrived)).toEqual(['status', 'request']);
  });

  test('what the system throws keeps its code', () => {
    const error = thrownBy(() => readFileSync('/does/not/exist'));
    expect(same(carry(error), error)).toBe(true);
    expect(carry(error)).toMatchObject({ code: 'ENOENT', syscall: 'open' });
  });

  test('a DOMException keeps its name and code', () => {
    expect(carry(new DOMException('stop', 'AbortError'))).toMatchObject({
      name: 'AbortError',
      message: 'stop',
      code: 20,
    });
  });

  test('an error of another realm is one of ours', () => {
    const arrived = carry(vm.runInNewContext("new TypeError('there')"));
    expect(arrived).toBeInstanceOf(TypeError);
    expect((arrived as Error).message).toBe('there');
  });

  test('frozen errors, accessors that throw, odd names and messages', () => {
    const error = Object.freeze(new Error('frozen'));
    expect((carry(error) as Error).message).toBe('frozen');
    const odd = Object.defineProperties(new Error('m'), {
      stack: {
        get: () => {
          throw new Error('no stack');
        },
      },
      name: { value: Symbol('n') },
      message: { value: { toString: null } },
      cause: {
        get: () => {
          throw new Error('no cause');
        },
      },
      field: {
        enumerable: true,
        get: () => {
          throw new Error('no field');
        },
      },
    });
    expect(carry(odd)).toMatchObject({ name: 'Error', message: '', cause: '[unreadable]', field: '[unreadable]' });
  });

  test('fields named errors, cause and __proto__ stay fields', () => {
    const error = Object.assign(new Error('invalid'), { errors: { name: ['is empty'] } });
    Object.defineProperty(error, '__proto__', { value: { a: 1 }, enumerable: true });
    expect(same(carry(error), error)).toBe(true);
    expect(carry(error)).toBeInstanceOf(Error);
  });

  test('cycles and long chains end', () => {
    const error: Error & { self?: unknown } = new Error('m');
    error.self = [error];
    error.cause = error;
    expect(carry(error)).toMatchObject({ self: ['[cycle]'], cause: '[cycle]' });
    let chain = new Error('0');
    for (let link = 1; link < 1000; link++) chain = new Error(String(link), { cause: chain });
    let depth = 0;
    for (let at = carry(chain); at instanceof Error; at = at.cause) depth++;
    expect(depth).toBe(8);
  });

  test('what is huge is cut', () => {
    const error = Object.assign(new Error('m'.repeat(1e6)), { rows: new Array(1e5).fill(1), text: 't'.repeat(1e6) });
    expect(JSON.stringify(toFault(error)).length).toBeLessThan(60_000);
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, index]));
    expect(carry(wide)).toMatchObject({ k99: 99, '…': '[900 more]' });
    expect((carry(new Array(101).fill(0)) as unknown[]).at(-1)).toBe('[1 more]');
  });

  test('half a character in a message becomes a whole one, for no wire has a word for it', () => {
    expect((carry(new Error('a\ud800b')) as Error).message).toBe('a\ufffdb');
  });
});

describe('errors of millrace', () => {
  const place = { topology: 'word-count', segment: 'split', executor: 3, operator: 'map', at: 'word-count.ts:12:3' };

  test('come back as what they were, place and cause included', () => {
    const error = new MillraceError('ERR_OPERATOR', 'map() threw', { ...place, cause: new RangeError('user') });
    const arrived = carry(error);
    expect(arrived).toBeInstanceOf(MillraceError);
    expect(isMillraceError(arrived)).toBe(true);
    expect(arrived).toMatchObject({ ...place, code: 'ERR_OPERATOR', name: 'MillraceError', message: error.message });
    expect((arrived as Error).stack).toBe(error.stack);
    expect((arrived as Error).cause).toBeInstanceOf(RangeError);
    expect(carry(arrived)).toEqual(arrived);
    expect('cause' in (carry(new MillraceError('ERR_KEY', 'm')) as object)).toBe(false);
  });

  test('of a version with other codes come back as errors', () => {
    const error = new MillraceError('ERR_KEY', 'm');
    Object.assign(error, { code: 'ERR_FUTURE' });
    const arrived = carry(error);
    expect(isMillraceError(arrived)).toBe(false);
    expect(arrived).toMatchObject({ name: 'MillraceError', code: 'ERR_FUTURE' });
  });
});

describe('what is thrown and is no error', () => {
  test.each([
    undefined,
    null,
    'text',
    '',
    0,
    -0,
    NaN,
    Infinity,
    5n,
    -(2n ** 70n),
    true,
    [],
    {},
    [undefined, [1]],
    { a: { b: null } },
    new Date(5),
    new Date(NaN),
  ])('%o arrives as it is', (value) => {
    expect(same(carry(value), value)).toBe(true);
  });

  test('what cannot be carried is described', () => {
    expect(carry(Symbol('s'))).toBe('[Symbol(s)]');
    expect(carry(function named() {})).toBe('[function named]');
    expect(carry(new Map())).toBe('[instance of Map]');
    expect(carry(Promise.resolve())).toBe('[instance of Promise]');
    expect(carry(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(carry(proxy)).toBe('[unreadable]');
    expect(carry([proxy, 1])).toEqual(['[unreadable]', 1]);
  });
});

describe('laws of faults', () => {
  test('law: whatever is thrown, toFault does not throw, and the fault survives every wire', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
      withBoxedValues: true,
    });
    const thrown = fc.oneof(
      anything,
      carryable,
      fc.constantFrom(...refused).map(([, make]) => make()),
    );
    fc.assert(
      fc.property(thrown, (reason) => {
        const first = carry(reason);
        expect(toFault(first)).toStrictEqual(toFault(carry(first)));
      }),
      { numRuns: 1000 },
    );
  });

  test('law: an error arrives with its name, message, stack, cause and fields', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 });
    const data = fc.jsonValue({ depthSize: 'small', maxDepth: 2 });
    const error = fc
      .tuple(text, fc.dictionary(text, data, { maxKeys: 3, noNullPrototype: true }), fc.option(data))
      .map(([message, fields, cause]) =>
        Object.assign(new RangeError(message, { cause }), { ...fields, stack: 'at x' }),
      );
    fc.assert(
      fc.property(error, (given) => {
        const { name, message, ...fields } = given;
        const arrived = carry(given) as Error;
        expect([arrived.message, arrived.stack, arrived.cause]).toEqual([String(message), 'at x', given.cause]);
        expect(Object.keys(arrived).sort()).toEqual(
          Object.keys(fields)
            .filter((key) => key !== 'stack')
            .sort(),
        );
      }),
    );
  });
});
