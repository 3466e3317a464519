import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { evidenceProblems } from '../record/file-hashes.ts';
import { findRun } from '../record/find-run.ts';
import { readRun, unreadText } from '../record/read-run.ts';
import { unwritable } from '../record/unwritable.ts';
import { renderContextEvalCsv } from '../report/context-eval-csv.ts';
import { renderCsv } from '../report/csv.ts';
import { renderJson } from '../report/json.ts';
import { renderMarkdown } from '../report/markdown.ts';
import { type ReportedRun, rebuildReport, reportRun } from '../run/write-report.ts';
import { loadRunDirectory } from '../view/load-runs.ts';
import { oneFilePage } from '../view/one-file.ts';
import { findConfig } from './find-config.ts';
import { junitOf } from './junit-of.ts';
import type { Streams } from './streams.ts';

export type ReportFormat = 'md' | 'json' | 'csv' | 'junit' | 'context-eval' | 'html';

/** Prints the report of a run, or writes it to `out`. Rebuilds `results.jsonl`, `summary.json` and `report.md`. */
export async function reportCommand(
  reference: string,
  options: { format: ReportFormat; out?: string; json?: boolean; config?: string },
  { stdout, stderr }: Streams,
): Promise<number> {
  const directory = await locateRun(reference, options.config);
  const stored = await readRun(directory);
  for (const problem of [...stored.unread.map(unreadText), ...evidenceProblems(stored)])
    stderr.write(`warning  ${directory}: ${problem}\n`);
  const reported = await rebuildReport(directory).catch(async (error: unknown) => {
    if (!isUnwritable(error)) throw error;
    stderr.write(`${error.where}: ${error.message} The files of the report there were not changed.\n`);
    return reportRun(await readRun(directory));
  });
  const format = options.json ? 'json' : options.format;
  const parts =
    format === 'html' ? oneFilePage(await loadRunDirectory(directory)) : [await render(reported, format)];
  if (options.out === undefined) {
    for await (const part of parts) {
      if (stdout.destroyed) break; // the reader has left
      if (!stdout.write(part)) await once(stdout, 'drain').catch(() => undefined);
    }
    return 0;
  }
  const { out } = options;
  await writeFile(out, parts).catch((cause: unknown) => {
    throw unwritable('The report', out, cause, 'Give --out a file in a folder that you may write to.');
  });
  return 0;
}

/** Reading a report matters more than keeping it, so a run on a full or foreign disk is shown as well. */
function isUnwritable(error: unknown): error is WhetstoneError {
  return error instanceof WhetstoneError && (error.code === 'disk-full' || error.code === 'record-lost');
}

async function render(run: ReportedRun, format: Exclude<ReportFormat, 'html'>): Promise<string> {
  switch (format) {
    case 'md':
      return renderMarkdown(run.summary, run.manifest, run.ordered, run.directory);
    case 'json':
      return renderJson(run.summary, run.ordered);
    case 'csv':
      return renderCsv(run.ordered);
    case 'context-eval':
      return renderContextEvalCsv(run.ordered);
    case 'junit':
      return junitOf([run]);
  }
}

/** Finds a run by path, id or "latest". Ids are looked up in the output directory of the config, if there is one. */
export async function locateRun(reference: string, configFile: string | undefined): Promise<string> {
  return findRun(reference, await outputDirectoryOf(configFile));
}

/** The folder with the runs of a config; without a config, the default one. */
export async function outputDirectoryOf(configFile: string | undefined): Promise<string> {
  let cwd = process.cwd();
  try {
    const found = findConfig(configFile);
    ({ cwd } = found);
    const { loadConfig } = await import('../config/load-config.ts');
    return (await loadConfig(found.file, { cwd })).config.outputDir;
  } catch (error) {
    if (configFile !== undefined) throw error;
    return join(cwd, '.whetstone', 'runs');
  }
}
