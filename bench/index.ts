/**
 * npm run bench [-- name… --json --list --patience=60]: runs the benches of this room by name, all of them without a name.
 * Patience is the seconds a comparison waits for a busy machine.
 */

import { parseArgs } from 'node:util';
import { batching } from './batching.bench.js';
import { breakeven } from './breakeven.bench.js';
import { codec } from './codec.bench.js';
import { demand } from './demand.bench.js';
import { edges } from './edges.bench.js';
import { endurance } from './endurance.bench.js';
import { flat } from './flat.bench.js';
import { idle } from './idle.bench.js';
import type { Bench } from './kit.js';
import { latency } from './latency.bench.js';
import { jsonReport, textReport } from './report.js';
import { rounds } from './rounds.bench.js';
import { start } from './start.bench.js';
import { throughput } from './throughput.bench.js';
import { webSocket } from './webSocket.bench.js';
import { wordCount } from './wordCount.bench.js';

const benches: readonly Bench[] = [
  start,
  throughput,
  latency,
  idle,
  wordCount,
  breakeven,
  codec,
  batching,
  rounds,
  demand,
  edges,
  webSocket,
  flat,
  endurance,
];

const { values: options, positionals: names } = readArguments();

if (options.list) {
  for (const { name, about } of benches) console.log(`${name.padEnd(12)}${about}`);
} else {
  const patienceMs = Number(options.patience) * 1000;
  const report = options.json ? jsonReport(patienceMs) : textReport(patienceMs);
  for (const bench of benches) {
    if (names.length > 0 ? !names.includes(bench.name) : bench.byNameOnly === true) continue;
    report.begin(bench);
    await bench.run(report);
  }
}

interface Arguments {
  readonly values: { readonly json: boolean; readonly list: boolean; readonly patience: string };
  readonly positionals: readonly string[];
}

function readArguments(): Arguments {
  try {
    const given = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        patience: { type: 'string', default: '60' },
      },
    });
    const unknown = given.positionals.find((name) => !benches.some((bench) => bench.name === name));
    if (unknown !== undefined)
      throw new Error(`no bench is named ${unknown}: there are ${benches.map(({ name }) => name).join(', ')}`);
    if (!(Number(given.values.patience) >= 0)) throw new Error(`patience is in seconds, got ${given.values.patience}`);
    return given;
  } catch (reason) {
    console.error(`bench: ${(reason as Error).message}`);
    process.exit(2);
  }
}
