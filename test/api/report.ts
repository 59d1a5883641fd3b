/**
 * Writes the public API of each entry point, as built, into one readable file: the golden reports of this folder.
 * `npm run api` regenerates them; report.test.ts compares. A change of a report is a change of the public API.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Extractor, ExtractorConfig, ExtractorLogLevel, type IConfigFile } from '@microsoft/api-extractor';

const here: string = dirname(fileURLToPath(import.meta.url));
const root: string = resolve(here, '../..');

/** Report file and the declarations it is made from. */
export const entries: ReadonlyMap<string, string> = new Map([
  ['millrace.api.md', 'dist/src/index.d.ts'],
  ['operators.api.md', 'dist/operators/index.d.ts'],
  ['testing.api.md', 'dist/src/testing/index.d.ts'],
  ['ws.api.md', 'dist/src/ws/index.d.ts'],
]);

/** Writes all reports into `folder`; throws when the declarations cannot be analysed. */
export function writeReports(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'millrace-api-'));
  try {
    for (const [report, entry] of entries) writeReport(folder, scratch, report, join(root, entry));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function writeReport(folder: string, scratch: string, report: string, entry: string): void {
  const none = { logLevel: ExtractorLogLevel.None };
  const configObject: IConfigFile = {
    projectFolder: root,
    mainEntryPointFilePath: entry,
    newlineKind: 'lf',
    compiler: {
      overrideTsconfig: {
        compilerOptions: {
          target: 'es2023',
          lib: ['es2023', 'esnext.disposable'],
          types: ['node'],
          module: 'nodenext',
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: true,
        },
        files: [entry],
      },
    },
    apiReport: {
      enabled: true,
      includeForgottenExports: true,
      reportFileName: report,
      reportFolder: folder,
      reportTempFolder: scratch,
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      // A type that is public by use but not exported shows in the report, where a reviewer sees it.
      extractorMessageReporting: {
        default: none,
        'ae-forgotten-export': { logLevel: ExtractorLogLevel.Warning, addToApiReportFile: true },
      },
      tsdocMessageReporting: { default: none },
    },
  };
  const config = ExtractorConfig.prepare({
    configObject,
    configObjectFullPath: join(here, 'report.ts'),
    packageJsonFullPath: join(root, 'package.json'),
  });
  const errors: string[] = [];
  const { succeeded } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === ExtractorLogLevel.Error) errors.push(message.formatMessageWithLocation(root));
      message.handled = true;
    },
  });
  if (!succeeded) throw new Error(`${report}: the declarations cannot be analysed\n${errors.join('\n')}`);
}

if (argv[1] === fileURLToPath(import.meta.url)) writeReports(here);
