import { statSync } from 'node:fs';
import { present } from '@whetstone/events/present';
import { readRun, rowsInOrder } from '../record/read-run.ts';
import { type ArmCalibration, calibrateRun, compareWithItself } from '../report/calibrate.ts';
import { counted, percentNumber } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import type { Comparison } from '../report/summary.ts';
import { paragraphLines } from '../report/text-layout.ts';
import { openConfig } from './find-config.ts';
import { locateRun } from './report.ts';
import { runShown } from './run-shown.ts';
import type { Streams } from './streams.ts';
import { terminalWidth } from './terminal-features.ts';

export type CalibrateOptions = {
  effect: number;
  replays: number;
  /** Only with new trials. */
  trials: number;
  jobs: number;
  agent: string[];
  maxTasks?: number;
  config?: string;
  json?: boolean;
};

/**
 * Prints how often the verdicts of a suite are wrong, and what they find: from the stored trials of a run, or from new ones
 * where a configuration is named.
 */
export async function calibrateCommand(
  reference: string,
  options: CalibrateOptions,
  streams: Streams,
): Promise<number> {
  const { effect, replays, config, json } = options;
  const { stdout } = streams;
  // A file that is not there is a mistyped configuration, and no run is called so.
  if (isFile(reference) || /\.(?:ya?ml|[cm]?[jt]s)$/.test(reference))
    return calibrateConfig(reference, options, streams);
  const run = await readRun(await locateRun(reference, config));
  const arms = calibrateRun({ manifest: run.manifest, rows: rowsInOrder(run) }, { effect, replays });
  if (json)
    stdout.write(escapedJson({ schema_version: '1', run_id: run.manifest.run_id, effect, replays, arms }));
  else {
    const width = Math.max(40, terminalWidth(stdout));
    const lines = arms.flatMap((arm) => armLines(arm, effect, width));
    const text = `From ${counted(replays, 'replay')} of the stored trials of each arm: tasks are drawn with replacement, and both sides get as many trials as were stored. Intervals are for the number of replays.`;
    stdout.write(`${[...lines, ...paragraphLines(text, width)].join('\n')}\n`);
  }
  return 0;
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Runs the baseline of a configuration twice as often as planned, and holds its trials against each other. */
async function calibrateConfig(
  file: string,
  { effect, replays, trials, jobs, agent, maxTasks, json }: CalibrateOptions,
  streams: Streams,
): Promise<number> {
  const { loaded, environment } = await openConfig({ config: file });
  Object.assign(process.env, environment);
  // What the configuration declares of its own comparisons is not what is asked here.
  const { metric: _, equivalence: __, earlyExit: ___, ...config } = loaded.config;
  const selection = { agents: agent, variants: [config.baseline], ...present({ maxTasks }) };
  const result = await runShown({ config, selection, trials: 2 * trials, jobs }, streams);
  const { manifest, ordered: rows, directory, interrupted } = result;
  const itself = compareWithItself({ manifest, rows });
  const arms = calibrateRun({ manifest, rows }, { effect, replays, perSide: trials });
  const { stdout } = streams;
  if (json) {
    const facts = { run_id: manifest.run_id, directory, effect, replays, trials, interrupted };
    stdout.write(escapedJson({ schema_version: '1', ...facts, against_itself: itself, arms }));
  } else {
    const width = Math.max(40, terminalWidth(stdout));
    const text = `The trials of each task were dealt to two sides of ${trials}, ${counted(replays, 'time')}, with tasks drawn with replacement. Intervals are for the number of replays.`;
    const lines = [
      ...itself.flatMap((one) => itselfLines(one, trials, width)),
      ...arms.flatMap((arm) => armLines(arm, effect, width)),
      ...paragraphLines(text, width),
      ...['', directory],
    ];
    stdout.write(`${lines.join('\n')}\n`);
  }
  return interrupted ? 130 : 0;
}

function itselfLines(
  { agent, variant, verdict, sentence }: Comparison,
  trials: number,
  width: number,
): string[] {
  const head = `${variant} (${agent}) against itself, ${trials} ${trials === 1 ? 'trial' : 'trials'} of each task against ${trials} others that ran beside them:`;
  const meaning =
    verdict === 'inconclusive' || verdict === 'equivalent'
      ? []
      : paragraphLines(
          'This verdict is a false alarm. One of twenty such experiments may have one.',
          width,
          '  ',
        );
  return [
    ...paragraphLines(oneLine(head), width),
    ...paragraphLines(oneLine(sentence), width, '  '),
    ...meaning,
    '',
  ];
}

function armLines(
  { agent, variant, tasks, trials, calibration }: ArmCalibration,
  effect: number,
  width: number,
): string[] {
  const share = ({ share, interval }: { share: number; interval: { low: number; high: number } }) =>
    `${percent(share)} % [${percent(interval.low)}, ${percent(interval.high)}]`;
  const facts =
    calibration === null
      ? ['With fewer than 4 tasks there is never a verdict.']
      : [
          `False alarms, the arm against itself: ${share(calibration.false_alarms)}`,
          calibration.found === null
            ? `A difference of ${percentNumber(effect)} pp has no room: the arm passes too much already.`
            : `A planted difference of ${percentNumber(effect)} pp is found: ${share(calibration.found)}; the plan's formula says ${percent(calibration.found.announced)} %`,
        ];
  const head = `${variant} (${agent}): ${counted(tasks, 'task')} and ${Number(trials.toFixed(1))} ${trials === 1 ? 'trial' : 'trials'} of each on average`;
  return [
    ...paragraphLines(oneLine(head), width),
    ...facts.flatMap((fact) => paragraphLines(fact, width, '  ')),
    '',
  ];
}

const percent = (share: number): string => (share * 100).toFixed(1);
