/**
 * What `--help` prints.
 * Owns the texts.
 */

import type { HelpCall } from './invocation.js';

const overview = `millrace: RxJS pipelines on worker threads, from the command line

  millrace run <module>        runs a topology or a source that the module exports
  millrace describe <module>   prints what would run where

millrace run --help and millrace describe --help tell more; --version prints the version.`;

const run = `millrace run <module> [options]

Runs a topology over the lines of a file or of stdin, or a source, and prints its results, one a line.

  --export <name>               which export; needed if there are several and none is the default
  --input <file>                a file, also gzip, or - for stdin (the default)
  --format lines|ndjson         what a line of input is: text (the default), or JSON
  --bad-lines stop|skip         what is not UTF-8 or not exact JSON ends the run (the default), or is left out and counted
  --output ndjson|tsv           how results are printed; ndjson is the default
  --stream <name>               of several outputs only this one
  --threads <n>                 at most so many threads; 0: all in this one
  --args <json>                 the args of the topology
  --batch <spec>                100, auto or size=100,bytes=32768,flushMs=5,idle=true; <name>:<spec> for one; repeatable
  --quiet                       no summary, no progress

A TypeScript module is run by tsx of your project, on a Node that does not strip types.
Ctrl-C ends the input and lets what is under way come out; a second one stops at once.

Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 stopped by the second Ctrl-C, 141 the reader of stdout left.

Examples:
  millrace run word-count.ts --input app.log.gz --args '{"minLength":3}'
  tail -f app.log | millrace run word-count.ts --export running --batch flushMs=100
  millrace run orders.js --input orders.ndjson --format ndjson --bad-lines skip --output tsv > orders.tsv
  millrace run sort-out.js --input readings.ndjson --format ndjson --stream broken | head -5`;

const describe = `millrace describe <module> [options]

Prints the plan of a topology or a source, without running it.

  --export <name>               which export; needed if there are several and none is the default
  --args <json>                 the args of the topology
  --format text|json|mermaid    for reading (the default), as data, or as a flowchart

Examples:
  millrace describe word-count.ts
  millrace describe word-count.ts --format mermaid > word-count.mmd
  millrace describe word-count.ts --format json | jq .exchanges`;

export function helpFor(topic: HelpCall['topic']): string {
  return topic === undefined ? overview : topic === 'run' ? run : describe;
}
