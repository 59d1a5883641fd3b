/** defaultIfEmpty, throwIfEmpty and isEmpty as steps of the loop. */

import { EmptyError } from 'rxjs';
import type { Kernel, Lower, Out } from './step.js';

export function defaultIfEmptyKernel(defaultValue: unknown): Lower {
  return (out) => whenEmpty(out, () => out.emit(defaultValue));
}

export function throwIfEmptyKernel(errorFactory: () => unknown = () => new EmptyError()): Lower {
  return (out) =>
    whenEmpty(out, () => {
      throw errorFactory();
    });
}

export function isEmptyKernel(): Lower {
  return (out) => {
    const say = (empty: boolean): void => {
      out.emit(empty);
      out.sendComplete();
    };
    return { next: () => say(false), complete: () => say(true) };
  };
}

function whenEmpty(out: Out, act: () => void): Kernel {
  let empty = true;
  return {
    next(value) {
      empty = false;
      out.emit(value);
    },
    complete() {
      if (empty) act();
      out.sendComplete();
    },
  };
}
