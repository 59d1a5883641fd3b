/**
 * How a bench measures and what it may claim: sides take turns in one run, a ratio is made per round, and it is
 * refused when the machine had no cores for it. Owns the rounds, the statistics and the lines that are printed.
 */

import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';

/** One of the things that are compared. */
export interface Side {
  readonly name: string;
  /** Measures once and returns the value in the unit of the comparison. */
  measure(): Promise<number>;
  /** The last measurement counts: its round had the cores. */
  keep?(): void;
}

export interface Goal {
  readonly atLeast?: number;
  readonly atMost?: number;
  /** The far end of the interval has to meet it, not the median alone. */
  readonly sure?: true;
}

export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly side: Side;
  /** What the ratio is made with; none: the value alone is printed. */
  readonly against?: Side;
  /** Of the ratio; without `against`, of the value. */
  readonly goal?: Goal;
  /** Threads that must have had 0.8 of a core each; default 2. */
  readonly threads?: number;
  readonly rounds?: number;
  readonly warmUps?: number;
}

export interface Bench {
  readonly name: string;
  /** One line for `--list`. */
  readonly about: string;
  /** Left out where no bench is named: it takes long. */
  readonly byNameOnly?: true;
  run(report: Report): Promise<void>;
}

/** One line of `--json`. A refused result has no ratio and says why. */
export interface Result {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  readonly against: { readonly name: string; readonly value: number } | null;
  readonly ratio: number | null;
  readonly interval: readonly [number, number] | null;
  readonly goal: string | null;
  readonly met: boolean | null;
  readonly refused?: string;
}

/** Where results go; `spreads` are those of the sides, where there are rounds. */
export interface Report {
  /** For so long in a comparison a busy machine is waited for and disturbed rounds are measured again. */
  readonly patienceMs: number;
  result(result: Result, spreads?: readonly Stats[]): void;
}

export interface Stats {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

const defaultRounds = 9;
const coresPerThread = 0.8;

/** Measures both sides in turns, the first one changing, and reports. */
export async function compare(report: Report, comparison: Comparison): Promise<Result> {
  const { side, against, threads = 2, rounds = defaultRounds, warmUps = 2 } = comparison;
  const sides = against === undefined ? [side] : [side, against];
  for (let i = 0; i < warmUps; i++) for (const each of sides) await each.measure();
  const needed = threads * coresPerThread;
  const kept: number[][] = [];
  const had: number[] = [];
  let lostMs = 0;
  while (kept.length < rounds && lostMs <= report.patienceMs) {
    const started = performance.now();
    const round = await measureRound(sides, had.length % 2 === 1);
    had.push(round.cores);
    if (round.cores >= needed) {
      kept.push(round.values);
      for (const each of sides) each.keep?.();
    } else {
      await untilQuiet(needed, started + report.patienceMs - lostMs);
      lostMs += performance.now() - started;
    }
  }
  const result = resultOf(comparison, kept, rounds, had);
  const values = sides.map((_, i) => kept.map((round) => round[i] as number));
  report.result(
    result,
    values.map((each) => statsOf(each)),
  );
  return result;
}

interface Round {
  readonly values: number[];
  /** The fewest cores any side had. */
  readonly cores: number;
}

async function measureRound(sides: readonly Side[], backwards: boolean): Promise<Round> {
  const values = new Array<number>(sides.length).fill(0);
  let cores = Number.POSITIVE_INFINITY;
  const order = backwards ? [...sides.keys()].reverse() : [...sides.keys()];
  for (const i of order) {
    const watch = watchCores();
    values[i] = await (sides[i] as Side).measure();
    cores = Math.min(cores, watch());
  }
  return { values, cores };
}

/**
 * Cores this process had or could have had since the call: its own CPU time and the machine's idle time, by the wall.
 * CPU time alone would take a side that waits, because its other thread is the slower one, for one without cores.
 */
export function watchCores(): () => number {
  const started = performance.now();
  const own = process.cpuUsage();
  const idleMs = machineIdleMs();
  return () => {
    const { user, system } = process.cpuUsage(own);
    return ((user + system) / 1000 + machineIdleMs() - idleMs) / (performance.now() - started);
  };
}

async function untilQuiet(cores: number, deadlineMs: number): Promise<void> {
  for (let had = 0; had < cores && performance.now() < deadlineMs; ) {
    const watch = watchCores();
    await setTimeout(200);
    had = watch();
  }
}

function machineIdleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}

function resultOf(comparison: Comparison, kept: readonly number[][], rounds: number, had: readonly number[]): Result {
  const { name, unit, against, goal, threads = 2 } = comparison;
  const first = statsOf(kept.map(([value]) => value as number));
  const second = statsOf(kept.map(([, value]) => value ?? Number.NaN));
  const ratios = statsOf(kept.map(([value, other]) => (value as number) / (other as number)));
  const enough = kept.length === rounds;
  const judged = against === undefined ? first : ratios;
  return {
    name,
    unit,
    value: first.median,
    against: against === undefined ? null : { name: against.name, value: second.median },
    ratio: against === undefined || !enough ? null : ratios.median,
    interval: against === undefined || !enough ? null : [ratios.low, ratios.high],
    goal: goal === undefined ? null : goalText(goal),
    met: goal === undefined || !enough ? null : isMetBy(goal, judged),
    ...(enough ? {} : { refused: refusal(kept.length, rounds, threads, statsOf(had).median) }),
  };
}

function refusal(kept: number, rounds: number, threads: number, cores: number): string {
  const needed = (threads * coresPerThread).toFixed(1);
  return `only ${kept} of ${rounds} rounds had ${needed} cores for ${threads} threads (median ${cores.toFixed(2)}): run it again on a quiet machine`;
}

/**
 * The median, and the ranks between which the true median lies with 95 % whatever the distribution:
 * the second and second-last of 9, the smallest and largest of 6 to 8.
 */
export function statsOf(values: readonly number[]): Stats {
  const sorted = [...values].sort((a, b) => a - b);
  const cut = rankOf(sorted.length);
  const low = sorted[cut] ?? Number.NaN;
  const high = sorted[sorted.length - 1 - cut] ?? Number.NaN;
  return { median: quantile(sorted, 0.5), low, high };
}

function rankOf(n: number): number {
  let tail = 0;
  let chance = 0.5 ** n;
  for (let k = 0; k < n / 2; k++) {
    tail += chance;
    if (tail > 0.025) return Math.max(0, k - 1);
    chance *= (n - k) / (k + 1);
  }
  return 0;
}

/** Of sorted values. */
export function quantile(sorted: readonly number[], q: number): number {
  if (sorted.length === 0) return Number.NaN;
  const at = (sorted.length - 1) * q;
  const below = sorted[Math.floor(at)] as number;
  const above = sorted[Math.ceil(at)] as number;
  return below + (above - below) * (at - Math.floor(at));
}

export function isMet(goal: Goal, value: number): boolean {
  return value >= (goal.atLeast ?? Number.NEGATIVE_INFINITY) && value <= (goal.atMost ?? Number.POSITIVE_INFINITY);
}

function isMetBy(goal: Goal, { median, low, high }: Stats): boolean {
  if (goal.sure === undefined) return isMet(goal, median);
  return isMet(goal, low) && isMet(goal, high);
}

export function goalText({ atLeast, atMost, sure }: Goal): string {
  return `${atLeast !== undefined ? `>= ${atLeast}` : `<= ${atMost}`}${sure === undefined ? '' : ', sure'}`;
}
