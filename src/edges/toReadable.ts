/**
 * Values as a Node stream in object mode: it asks for what fits into its buffer.
 * Owns the count of what was asked for and has not come. Never asks for more than `highWaterMark` values ahead of its reader.
 */

import { Readable } from 'node:stream';
import type { Observable } from 'rxjs';
import type { DemandObserver, DemandSubscription } from '../../runtime/demand.js';
import { MillraceError } from '../../runtime/errors.js';
import { show } from '../../runtime/option.js';
import { askable, checkEdge, type EdgeOptions } from './edge.js';

/** A stream that flows is filled so often before the event loop has its turn. */
const maxRounds = 64;

/**
 * Subscribes at the first read and asks for values as its reader takes them, at most `highWaterMark` (16) ahead. `destroy()`
 * unsubscribes at once; an error, or the reason of an aborted `signal`, destroys the stream.
 *
 * ```ts
 * await pipeline(toReadable(lines.pipe(parsed())), stringify(), createWriteStream('out.json'));
 * ```
 *
 * A `null` among the values is `ERR_VALUE`: for a stream it means the end. An error that is falsy, which a stream would take for
 * none, is the cause of an `ERR_SOURCE`. Wrong options throw `ERR_OPTION`.
 */
export function toReadable(
  values: Observable<unknown>,
  options: EdgeOptions & { readonly highWaterMark?: number } = {},
): Readable {
  const edge = checkEdge(options, 'toReadable()', ['highWaterMark']);
  const { highWaterMark = 16 } = options;
  checkMark(highWaterMark, 'toReadable()');
  const ask = askable<unknown>(values, edge, 'toReadable()');
  let asked: DemandSubscription | undefined;
  let coming = 0;
  let left = false;
  let scheduled = false;
  const observer: DemandObserver<unknown> = {
    next(value) {
      coming--;
      if (value === null) stream.destroy(noNull());
      else stream.push(value);
    },
    error: (reason) => void stream.destroy(errorOf(reason)),
    complete: () => void stream.push(null),
  };
  const fill = (): void => {
    scheduled = false;
    for (let rounds = 0; rounds < maxRounds && !left; rounds++) {
      // A buffer of 0 is filled for whoever reads.
      const fits = Math.max(1, highWaterMark - stream.readableLength) - coming;
      if (fits <= 0) return;
      coming += fits;
      asked?.request(fits);
      if (coming > 0 || stream.readableLength > 0 || stream.readableFlowing !== true) return;
    }
  };
  const later = (): void => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(fill);
  };
  const stream = new Readable({
    objectMode: true,
    highWaterMark,
    read() {
      if (asked === undefined) {
        asked = ask(observer);
        // Destroyed while it was being subscribed.
        if (left) asked.unsubscribe();
      }
      // A stream that flows asks after each value it has let go, and is empty a moment later: then it is asked for all at once.
      if (stream.readableFlowing === true && stream.readableLength > 0) later();
      else fill();
    },
    destroy(error, done) {
      left = true;
      asked?.unsubscribe();
      done(error);
    },
  });
  return stream;
}

/** Checks the option `highWaterMark` of `who`, a number of values. */
export function checkMark(mark: unknown, who: string): void {
  if (typeof mark === 'number' && Number.isInteger(mark) && mark >= 0 && mark <= 2 ** 31 - 1) return;
  const message = `highWaterMark of ${who} must be a whole number of values from 0 to 2^31 - 1, got ${show(mark)}`;
  throw new MillraceError('ERR_OPTION', message);
}

// Nothing is what a stream is destroyed with when all is well.
function errorOf(reason: unknown): Error {
  if (reason) return reason as Error;
  return new MillraceError('ERR_SOURCE', `the source of toReadable() errored with ${show(reason)}`, { cause: reason });
}

function noNull(): MillraceError {
  const message =
    'toReadable() got null, which is the end of a Node stream: map() it to something else, or filter() it';
  return new MillraceError('ERR_VALUE', message);
}
