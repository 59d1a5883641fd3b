/**
 * The tables of the README, made from the code they speak of.
 * Owns their form. Never states a fact of its own.
 */

import { operatorTraits } from '../../operators/lowered.js';
import '../../operators/index.js';
import { perValueDefaults } from '../../operators/perValue.js';
import { defaultBatch } from '../../runtime/batch.js';
import { codes } from '../../runtime/errors.js';
import { overflowDefaults } from '../../runtime/overflow.js';
import { runDefaults } from '../../src/options.js';
import { type RuleId, titles, untested } from '../../src/testing/rules.js';
import { refusedOperators } from '../operators/refused.js';

type Row = readonly string[];

export const tables: Readonly<Record<string, () => string>> = {
  cuts: () =>
    table(
      ['cut', 'who gets a value'],
      [
        ['`shuffle({ local })`', 'the executors in turn; `local` prefers those on the same thread'],
        ['`keyBy(selector)`', 'the executor its key belongs to, the same in every process and version'],
        ['`spreadKey(selector)`', 'one of two executors per key, the less used one: for skewed keys'],
        ['`broadcast()`', 'all'],
        ['`gather()`', 'the only one'],
        ['`route(fn)`', 'those whose indices `fn` returns; none for an empty list'],
      ],
    ),
  operators: () =>
    table(
      ['operator', 'scope', 'runs as', 'note'],
      [...operatorTraits().values()]
        .sort((a, b) => Number(b.lowered) - Number(a.lowered) || (a.name < b.name ? -1 : 1))
        .map((traits) => [
          `\`${traits.name}\``,
          traits.scope,
          traits.lowered ? 'lowered' : 'opaque',
          [
            traits.startEmits ? 'emits at the start' : '',
            traits.endEmits ? 'emits at the end' : '',
            traits.holds ? 'holds values back' : '',
            traits.timed ? 'timed' : '',
            traits.byKey === undefined ? '' : `per key: \`${traits.byKey}\``,
          ]
            .filter((note) => note !== '')
            .join(', '),
        ]),
    ),
  refused: () =>
    table(
      ['operator', 'code', 'when'],
      refusedOperators.map(({ name, code, when }) => [`\`${name}\``, `\`${code}\``, when]),
    ),
  options: () =>
    table(
      ['option', 'default', 'where'],
      [
        ['`size`', `${defaultBatch.size} values; \`'auto'\`: as many as come in time`, '`batch`'],
        ['`bytes`', `${defaultBatch.bytes / 1024} KiB, at most a sixteenth of the ring`, '`batch`'],
        [
          '`flushMs`',
          `${defaultBatch.flushMs} ms; 0: at the end of the slice, `.concat('`Infinity`: never by age'),
          '`batch`',
        ],
        ['`latencyMs`', "`Infinity`; how old a value may become in a batch of size `'auto'`", '`batch`'],
        ['`idle`', `${defaultBatch.idle}: leave when there is nothing more to do, or the reader sleeps`, '`batch`'],
        ['`parallelism`', '1', 'every cut but `gather`'],
        [
          '`concurrency`, `ordered`',
          `${perValueDefaults.concurrency} values, ${perValueDefaults.ordered}`,
          '`perValue`',
        ],
        ['`threads`', 'as many as the run has executors, at most those of the runtime; 0: the calling thread', 'run'],
        ['`maxParkedBytes`', `${runDefaults.maxParkedBytes / 1024 / 1024} MiB`, 'run'],
        [
          '`overflow`',
          `\`'${overflowDefaults.strategy}'\`, \`capacity\` ${overflowDefaults.capacity} values`,
          'run, edges',
        ],
        ['`stallMs`', `${runDefaults.stallMs} ms`, 'run'],
        ['`hangMs`', `\`${runDefaults.hangMs}\``, 'run'],
        ['`stopMs`', `${runDefaults.stopMs} ms`, 'run'],
        ['`startTimeoutMs`', `${runDefaults.startTimeoutMs} ms`, 'run'],
        ['`strict`', `${runDefaults.strict}`, 'run'],
        ['`outputs`', 'all', 'run, of a record'],
        ['`runtime`', 'one shared by all, with `availableParallelism()` threads', 'run'],
      ],
    ),
  rules: () =>
    table(
      ['rule', 'what it says', 'here'],
      Object.entries(titles).map(([id, title]) => [id, title, untested[id as RuleId] ?? 'tested']),
    ),
  errors: () =>
    table(
      ['code', 'when', 'cure'],
      Object.entries(codes).map(([code, { when, cure }]) => [`\`${code}\``, when, cure]),
    ),
};

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** `text` with every marked table as it should be. */
export function withTables(text: string): string {
  return Object.entries(tables).reduce((whole, [name, make]) => {
    const marked = new RegExp(`(<!-- ${name}:begin -->\n)[\\s\\S]*?(<!-- ${name}:end -->)`);
    if (!marked.test(whole)) throw new Error(`README.md has no table ${name}`);
    return whole.replace(marked, (_, begin: string, end: string) => `${begin}${make()}\n${end}`);
  }, text);
}
