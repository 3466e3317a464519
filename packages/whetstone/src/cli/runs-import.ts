import { present } from '@whetstone/events/present';
import { escapedJson } from '../report/json.ts';
import { importRun } from '../run/import-run.ts';
import { outputDirectoryOf } from './report.ts';
import { printResult } from './run-shown.ts';
import { giveTag } from './runs.ts';
import type { Streams } from './streams.ts';

/** Makes a run of the results of another tool. */
export async function importRunCommand(
  paths: string[],
  options: {
    variant: string;
    score?: string;
    tree?: string;
    tag?: string;
    config?: string;
    json?: boolean;
  },
  streams: Streams,
): Promise<number> {
  const { variant, score, tree, tag, config, json } = options;
  const outputDir = await outputDirectoryOf(config);
  const run = await importRun(paths, { outputDir, variant, ...present({ score, tree }) });
  if (tag !== undefined) await giveTag(run.directory, tag, await outputDirectoryOf(config));
  if (json) streams.stdout.write(escapedJson({ directory: run.directory, summary: run.summary }));
  else printResult({ ...run, interrupted: false }, streams.stdout);
  return 0;
}
