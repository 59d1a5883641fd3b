/**
 * What happened in a simulated world, line by line, for people.
 * Owns the lines, up to a bound. Never makes text of them before somebody reads it.
 */

interface Line {
  readonly atMs: number;
  readonly who: string;
  readonly what: string | (() => string);
}

const maxLines = 20_000;

export class Trace {
  readonly #lines: Line[] = [];
  #left = 0;

  add(atMs: number, who: string, what: string | (() => string)): void {
    if (this.#lines.length < maxLines) this.#lines.push({ atMs, who, what });
    else this.#left++;
  }

  toString(): string {
    const lines = this.#lines.map(
      ({ atMs, who, what }) =>
        `${atMs.toFixed(3).padStart(10)} ms  ${who.padEnd(9)} ${typeof what === 'string' ? what : what()}`,
    );
    return this.#left === 0 ? lines.join('\n') : `${lines.join('\n')}\n… and ${this.#left} more`;
  }
}
