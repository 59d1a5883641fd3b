/**
 * The line on a terminal that says how far a run is.
 * Owns its timer and that line. Never writes where stderr is no terminal.
 */

import { clock } from '../../runtime/clock.js';
import { durationOf, rateOf, sizeOf } from './figures.js';

export interface ProgressOptions {
  readonly stream: { readonly columns?: number; write(text: string): unknown };
  /** Values taken so far. */
  readonly values: () => number;
  readonly readBytes: () => number;
  readonly totalBytes: number | undefined;
}

const redrawMs = 250;

export class Progress {
  readonly #options: ProgressOptions;
  readonly #startedMs = clock.nowMs();
  #cancel: () => void = () => {};
  #drawn = false;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#later();
  }

  /** For others that write to the same terminal. */
  erase(): void {
    if (this.#drawn) this.#options.stream.write('\r\u001b[K');
    this.#drawn = false;
  }

  stop(): void {
    this.#cancel();
    this.erase();
  }

  #later(): void {
    this.#cancel = clock.later(
      redrawMs,
      () => {
        this.#draw();
        this.#later();
      },
      'idle',
    );
  }

  #draw(): void {
    const { stream, values, readBytes, totalBytes } = this.#options;
    const text = progressLine(clock.nowMs() - this.#startedMs, values(), readBytes(), totalBytes);
    stream.write(`\r\u001b[K${text.slice(0, (stream.columns || 80) - 1)}`);
    this.#drawn = true;
  }
}

/** `45% of 1.2 GB · 120000 values/s · 0:12 left`. */
export function progressLine(elapsedMs: number, values: number, readBytes: number, totalBytes?: number): string {
  const rate = `${rateOf(values, elapsedMs)} values/s`;
  if (totalBytes === undefined || totalBytes === 0) {
    return [...(readBytes > 0 ? [`${sizeOf(readBytes)} read`] : []), rate, durationOf(elapsedMs)].join(' · ');
  }
  const share = Math.min(1, readBytes / totalBytes);
  const left = share > 0 ? `${durationOf((elapsedMs * (1 - share)) / share)} left` : 'no estimate yet';
  return `${Math.floor(share * 100)}% of ${sizeOf(totalBytes)} · ${rate} · ${left}`;
}
