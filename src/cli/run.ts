/**
 * `millrace run`: a run from the first byte of input to the last line of results.
 * Owns the order of its end: results are written first, then what went wrong, then the summary.
 */

import type { Observable } from 'rxjs';
import { clock } from '../../runtime/clock.js';
import type { Run } from '../run.js';
import { sentence } from './badLine.js';
import { type Bytes, openBytes } from './bytes.js';
import { type Exit, failureText } from './exit.js';
import { rateOf } from './figures.js';
import { Input } from './input.js';
import type { RunCall } from './invocation.js';
import { Printer } from './printer.js';
import { Progress } from './progress.js';
import { rowOf } from './row.js';
import { take } from './taking.js';
import { loadTarget, type Target } from './target.js';
import { hintFor, UsageError } from './usage.js';

/** A failure may wait so long for the results before it, on a machine that is busy. */
const stopMs = 5_000;
/** How often a bad line that is left out is told; all are counted. */
const toldBadLines = 10;

export class RunCommand {
  readonly #call: RunCall;
  readonly #printer: Printer;
  #bytes: Bytes | undefined;
  #run: Run | undefined;
  #progress: Progress | undefined;
  #startedMs = 0;
  #endedMs = 0;
  #skipped = 0;
  #stopped = false;
  #over = false;
  /** Stdout took no more, perhaps only at the end. */
  #unwritten: Exit | undefined;
  readonly #subscriptions: { unsubscribe(): void }[] = [];
  #end: (exit: Exit) => void = () => {};

  constructor(call: RunCall) {
    this.#call = call;
    this.#printer = new Printer(
      process.stdout,
      (reason) => this.#unwritable(reason),
      () => this.#progress?.erase(),
    );
  }

  /** The input ends; what is under way comes out. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#say('stopping: what is under way comes out, a second signal stops at once');
    this.#run?.drain();
  }

  async execute(): Promise<Exit> {
    const { module, exported, threads, batches, options } = this.#call;
    const target = await loadTarget(module, exported);
    const { applicable, library } = target;
    // A runtime of its own, because the end waits for it: what threads print arrives first.
    const runtime = threads === 0 ? undefined : library.createRuntime(threads === undefined ? {} : { threads });
    const { outputs: streams, exchanges } = applicable.describe(options);
    checkNames('--batch', batches === undefined ? [] : Object.keys(batches), [
      'default',
      ...exchanges.map((exchange) => exchange.name),
    ]);
    const applied = applicable({
      ...options,
      ...(threads === undefined ? {} : { threads }),
      ...(runtime === undefined ? {} : { runtime }),
      ...(batches === undefined ? {} : { batches }),
      ...this.#wanted(streams),
      stopMs,
      onRun: (run: Run) => this.#begun(run),
    });
    const results =
      typeof applied === 'function' ? applied(this.#input(target)) : this.#withoutInput(applicable.name, applied);
    const outcome = await this.#outcome(outputsOf(results, this.#call.stream));
    await this.#printer.end();
    const exit = this.#unwritten ?? outcome;
    this.#endedMs = clock.nowMs();
    this.#progress?.stop();
    if (exit.code === 141) return { code: exit.code };
    await runtime?.close();
    this.#summarise(exit);
    return { code: exit.code };
  }

  // ── the topology ──

  #wanted(streams: readonly string[]): { readonly outputs?: readonly string[] } {
    const { stream } = this.#call;
    if (stream === undefined) return {};
    checkNames('--stream', [stream], streams);
    return { outputs: [stream] };
  }

  #input({ library }: Target): Observable<unknown> {
    const { input = '-', format, badLines } = this.#call;
    const bytes = openBytes(input);
    this.#bytes = bytes;
    const onSkipped =
      badLines === 'stop' ? undefined : (bad: Parameters<typeof sentence>[1]) => this.#skip(sentence(bytes.name, bad));
    return library.pull(() => new Input({ bytes, format, onSkipped, room: () => this.#printer.room() }));
  }

  #withoutInput(topology: string, results: unknown): unknown {
    if (this.#call.input !== undefined) throw new UsageError(`${topology} is a source, which has no --input`);
    return results;
  }

  // ── the run ──

  #begun(run: Run): void {
    this.#run = run;
    this.#startedMs = clock.nowMs();
    const bytes = this.#bytes;
    if (!this.#call.quiet && process.stderr.isTTY === true) {
      this.#progress = new Progress({
        stream: process.stderr,
        values: () => run.metrics().in,
        readBytes: () => bytes?.readBytes ?? 0,
        totalBytes: bytes?.totalBytes,
      });
    }
    if (this.#stopped) run.drain();
  }

  #outcome(outputs: readonly Output[]): Promise<Exit> {
    const { output: format } = this.#call;
    return new Promise((resolve) => {
      this.#end = (exit) => {
        if (this.#over) return;
        this.#over = true;
        for (const subscription of this.#subscriptions) subscription.unsubscribe();
        resolve(exit);
      };
      let open = outputs.length;
      for (const { name, values } of outputs) {
        const observer = {
          next: (value: unknown) => this.#print(() => rowOf(format, value, name)),
          error: (reason: unknown) => this.#end({ code: 1, failure: failureText(reason) }),
          complete: () => {
            if (--open === 0) this.#end({ code: 0 });
          },
        };
        this.#subscriptions.push(take(values, observer, () => this.#printer.room()));
      }
    });
  }

  // What a subscriber throws would be nobody's error.
  #print(row: () => string): void {
    if (this.#over) return;
    try {
      this.#printer.print(row());
    } catch (reason) {
      this.#end({ code: 1, failure: failureText(reason) });
    }
  }

  #unwritable(reason: NodeJS.ErrnoException): void {
    this.#unwritten =
      reason.code === 'EPIPE' ? { code: 141 } : { code: 1, failure: `results cannot be written: ${reason.message}` };
    this.#end(this.#unwritten);
  }

  // ── what people read ──

  #skip(bad: string): void {
    this.#skipped++;
    if (this.#skipped <= toldBadLines) this.#say(`left out: ${bad}`);
    if (this.#skipped === toldBadLines + 1) this.#say('left out: further lines, which are only counted');
  }

  #say(text: string): void {
    if (this.#call.quiet) return;
    this.#progress?.erase();
    process.stderr.write(`${text}\n`);
  }

  #summarise({ code, failure }: Exit): void {
    if (failure !== undefined) process.stderr.write(`${failure}\n`);
    const run = this.#run;
    if (run === undefined) return;
    const ms = this.#endedMs - this.#startedMs;
    const metrics = run.metrics();
    const parts = [
      `${metrics.in} values in`,
      `${metrics.out} results`,
      ...(this.#skipped > 0 ? [`${this.#skipped} bad lines left out`] : []),
      `${(ms / 1000).toFixed(2)} s`,
      `${rateOf(metrics.in, ms)} values/s`,
      metrics.threads === 0 ? 'the calling thread' : metrics.threads === 1 ? '1 thread' : `${metrics.threads} threads`,
    ];
    this.#say(`${code !== 0 ? 'failed' : this.#stopped ? 'stopped' : 'done'}: ${parts.join(', ')}`);
  }
}

interface Output {
  /** Undefined where results need not say which output they are of. */
  readonly name: string | undefined;
  readonly values: Observable<unknown>;
}

function outputsOf(results: unknown, stream: string | undefined): readonly Output[] {
  if (isObservable(results)) return [{ name: undefined, values: results }];
  const outputs = Object.entries(results as Readonly<Record<string, Observable<unknown>>>);
  if (stream === undefined) return outputs.map(([name, values]) => ({ name, values }));
  return outputs.filter(([name]) => name === stream).map(([, values]) => ({ name: undefined, values }));
}

function checkNames(option: string, names: readonly string[], existing: readonly string[]): void {
  for (const name of names) {
    if (existing.includes(name)) continue;
    throw new UsageError(
      `${option} names ${JSON.stringify(name)}, which the plan does not have: ${hintFor(name, existing)}`,
    );
  }
}

/** Of whatever copy of RxJS. */
function isObservable(value: unknown): value is Observable<unknown> {
  return typeof (value as { readonly subscribe?: unknown }).subscribe === 'function';
}
