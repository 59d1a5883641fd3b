/**
 * How results are printed: aligned lines for people, one JSON object a line for programs. Never measures.
 */

import { availableParallelism, cpus } from 'node:os';
import type { Bench, Report, Stats } from './kit.js';

export interface Printer extends Report {
  begin(bench: Bench): void;
}

export function jsonReport(patienceMs: number): Printer {
  return {
    patienceMs,
    begin() {},
    result: (result) => console.log(JSON.stringify(result)),
  };
}

const columns: readonly number[] = [24, 34, 34, 26, 0];

export function textReport(patienceMs: number): Printer {
  console.log(`Node ${process.versions.node}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown'}`);
  return {
    patienceMs,
    begin({ name, about }) {
      console.log(`\n${name}: ${about}`);
      line(['', 'value', 'against', 'ratio', 'goal']);
    },
    result(result, [own, other] = []) {
      const { name, unit, value, against, ratio, interval, goal, met, refused } = result;
      line([
        name,
        shown(value, unit, own),
        against === null ? '' : shown(against.value, unit, other),
        ratio === null ? '' : `${digits(ratio)}x${interval === null ? '' : ` [${interval.map(digits).join(' .. ')}]`}`,
        goal === null ? '' : `${goal}${met === null ? '' : met ? ' met' : ' MISSED'}`,
      ]);
      if (refused !== undefined) console.log(`  no ratio: ${refused}`);
    },
  };
}

function line(cells: readonly string[]): void {
  console.log(
    cells
      .map((cell, i) => cell.padEnd(columns[i] as number))
      .join('')
      .trimEnd(),
  );
}

function shown(value: number, unit: string, stats: Stats | undefined): string {
  if (Number.isNaN(value)) return '-';
  const [factor, prefix] = scale(value);
  const range = stats === undefined ? '' : ` [${digits(stats.low / factor)} .. ${digits(stats.high / factor)}]`;
  return `${digits(value / factor)}${range} ${prefix}${unit}`;
}

function scale(value: number): readonly [factor: number, prefix: string] {
  if (value >= 1e6) return [1e6, 'M '];
  return value >= 1e4 ? [1e3, 'k '] : [1, ''];
}

function digits(value: number): string {
  return value >= 1000 ? value.toFixed(0) : value.toPrecision(3);
}
