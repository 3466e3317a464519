import { appendFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { CanaryReport } from '../canary/canary-report.ts';
import { describeReport } from '../canary/describe-report.ts';
import { judgeSeries } from '../canary/judge-series.ts';
import {
  nightOf,
  readSeries,
  refuseOtherArm,
  type Series,
  seriesFile,
  startSeries,
  writeSeries,
} from '../canary/series.ts';
import { command } from '../ci/annotations.ts';
import { inertText } from '../ci/inert-text.ts';
import { type Platform, platformOf } from '../ci/platform.ts';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { findRun } from '../record/find-run.ts';
import type { Manifest } from '../record/manifest.ts';
import { readRun, rowsInOrder } from '../record/read-run.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { paragraphLines } from '../report/text-layout.ts';
import { planOrResume } from '../run/plan-or-resume.ts';
import { installMissing } from './agents-install.ts';
import { withBudget } from './ci-run.ts';
import { findConfig, openConfig } from './find-config.ts';
import { ignoreRuns } from './ignore-runs.ts';
import { quietly } from './quiet-log.ts';
import { outputDirectoryOf } from './report.ts';
import { runShown } from './run-shown.ts';
import type { Streams } from './streams.ts';
import { terminalColors, terminalWidth } from './terminal-features.ts';

export type CanaryOptions = {
  config?: string;
  trials: number;
  jobs: number;
  agent: string[];
  maxTasks?: number;
  /** US dollars. */
  budget?: number;
  json?: boolean;
};

export type CanaryStartOptions = CanaryOptions & { from?: string; force?: boolean };

/**
 * Runs the baseline of a new series, or takes that of a stored run. Returns 0, or 130 if a person stopped it.
 * @throws WhetstoneError `canary-exists`, and those of a run
 */
export async function canaryStartCommand(options: CanaryStartOptions, streams: Streams): Promise<number> {
  const config = await configOf(options);
  const { outputDir } = config;
  if ((await readSeriesOr(outputDir, options.force ?? false)) !== undefined && !options.force) {
    throw new WhetstoneError('canary-exists', 'There is a series of nights already.', {
      where: seriesFile(outputDir),
      hint: 'Add a night with "whetstone canary run", or begin anew with --force.',
    });
  }
  const run =
    options.from === undefined
      ? await playNight(config, options, streams)
      : await readRun(await findRun(options.from, outputDir));
  if (run === undefined) return 130;
  const rows = rowsInOrder(run);
  const series = startSeries({ manifest: run.manifest, rows }, commitOf(config, run.manifest));
  await writeSeries(outputDir, series);
  return await show(series, options, streams);
}

/**
 * Runs one night, and says whether the agents still do what they did. Returns 0: no drift, or too early to tell; 1: a drift; 4:
 * too few cases have a result tonight; 130: a person stopped it, and the night does not count.
 * @throws WhetstoneError `canary-not-started`, `canary-changed`, and those of a run
 */
export async function canaryRunCommand(options: CanaryOptions, streams: Streams): Promise<number> {
  const config = await configOf(options);
  const series = await startedSeries(config.outputDir);
  const pinned = series.commit === undefined ? config : pinnedTo(config, series.commit);
  const selected = { ...options, agent: series.agents.map(({ name }) => name) };
  const run = await playNight(pinned, selected, streams, (plan) => refuseOtherArm(series, plan, config.file));
  if (run === undefined) return 130;
  series.nights.push(nightOf({ manifest: run.manifest, rows: rowsInOrder(run) }));
  await writeSeries(config.outputDir, series);
  return await show(series, options, streams);
}

/** Shows what the nights so far say, and runs nothing. The exit codes are those of `canary run`. */
export async function canaryStatusCommand(
  options: Pick<CanaryOptions, 'config' | 'json'>,
  streams: Streams,
): Promise<number> {
  return await show(await startedSeries(await outputDirectoryOf(options.config)), options, streams);
}

async function startedSeries(outputDir: string): Promise<Series> {
  const series = await readSeries(outputDir);
  if (series) return series;
  throw new WhetstoneError('canary-not-started', 'There are no nights to compare with.', {
    where: seriesFile(outputDir),
    hint: 'Run the baseline first: whetstone canary start',
  });
}

/** With `force`, a file that cannot be read is replaced like any other. */
async function readSeriesOr(outputDir: string, force: boolean): Promise<Series | undefined> {
  return force ? undefined : await readSeries(outputDir);
}

async function configOf({ config: named, budget }: CanaryOptions): Promise<Config> {
  const { loaded, environment } = await openConfig(present({ config: named }));
  Object.assign(process.env, environment);
  await ignoreRuns(dirname(loaded.config.file));
  if (budget === undefined) return loaded.config;
  const { file, cwd } = findConfig(named);
  const change = (root: unknown) => withBudget(root as JsonObject, loaded.config, budget);
  return (await loadConfig(file, { cwd, change })).config;
}

/** Runs the baseline of a config. `undefined`: a person stopped it. `check` sees the plan before anything starts. */
async function playNight(
  config: Config,
  { trials, jobs, agent, maxTasks }: CanaryOptions,
  streams: Streams,
  check?: (plan: Parameters<typeof refuseOtherArm>[1]) => void,
) {
  const selection = { agents: agent, variants: [config.baseline], ...present({ maxTasks }) };
  // A night is not a comparison of variants, and every trial of it counts.
  const { equivalence: _, earlyExit: __, ...plain } = config;
  check?.((await planOrResume({ config: plain, selection, trials })).plan);
  await installMissing(config.agents, streams);
  const run = await quietly(platformOf(process.env), streams, () =>
    runShown({ config: plain, selection, trials, jobs }, streams),
  );
  if (!run.interrupted) return run;
  streams.stderr.write(`Interrupted: run ${run.manifest.run_id} does not count as a night.\n`);
  return undefined;
}

/** Where tasks start that name no commit. */
function commitOf({ tasks }: Config, manifest: Manifest): string | undefined {
  const open = new Set(tasks.filter(({ repoRef }) => repoRef === undefined).map(({ id }) => id));
  return manifest.tasks.find(({ id }) => open.has(id))?.commit;
}

const pinnedTo = (config: Config, commit: string): Config => ({
  ...config,
  repo: { ...config.repo, commit },
});

async function show(
  series: Series,
  { json }: Pick<CanaryOptions, 'json'>,
  streams: Streams,
): Promise<number> {
  const { stdout, stderr } = streams;
  const report = judgeSeries(series);
  const platform = platformOf(process.env);
  stdout.write(json ? escapedJson(report) : textOf(report, streams));
  await tellPlatform(report, platform, json ? stderr : stdout);
  return report.verdict === 'drift' ? 1 : report.verdict === 'unmeasured' ? 4 : 0;
}

function textOf(report: CanaryReport, { stdout }: Streams): string {
  const { agents, notes } = describeReport(report);
  const colors = terminalColors(stdout);
  const width = Math.max(40, terminalWidth(stdout));
  const lines = [
    ...agents.flatMap(({ headline, facts }) => [
      ...paragraphLines(oneLine(headline), width).map(colors.bold),
      ...facts.flatMap((fact) => paragraphLines(oneLine(fact), width, '  ')),
      '',
    ]),
    ...notes.flatMap((note) => paragraphLines(note, width)),
  ];
  return `${lines.join('\n')}\n`;
}

/** On GitHub: an annotation for each agent that drifted, and the summary of the job. */
async function tellPlatform(
  report: CanaryReport,
  { kind, summaryFile }: Platform,
  log: NodeJS.WritableStream,
): Promise<void> {
  const { agents, notes } = describeReport(report);
  if (kind === 'github') {
    for (const [index, { headline }] of agents.entries()) {
      const { verdict } = report.agents[index] ?? {};
      if (verdict === 'drift' || verdict === 'unmeasured')
        log.write(`${command('error', headline, { title: 'Whetstone canary' })}\n`);
    }
  }
  if (summaryFile === undefined) return;
  const blocks = agents.map(({ headline, facts }) =>
    [`### ${inertText(headline)}`, '', ...facts.map((fact) => `- ${inertText(fact)}`)].join('\n'),
  );
  await appendFile(summaryFile, `${[...blocks, ...notes.map(inertText)].join('\n\n')}\n`);
}
