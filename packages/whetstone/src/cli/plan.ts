import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { readRun, rowsInOrder } from '../record/read-run.ts';
import { type ArmCalibration, calibrateRun } from '../report/calibrate.ts';
import { counted, percentNumber } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { planPower } from '../report/power-plan.ts';
import { renderPowerPlan } from '../report/render-power-plan.ts';
import { oneLine } from '../report/sanitize.ts';
import { paragraphLines } from '../report/text-layout.ts';
import { locateRun } from './report.ts';
import type { Streams } from './streams.ts';
import { terminalWidth } from './terminal-features.ts';

type Common = { config?: string; json?: boolean };

/** Prints how many tasks, cases, money and hours an experiment needs. Without `run`, the latest run, if there is one. */
export async function planCommand(
  options: Common & {
    effect: number;
    power: number;
    trials: number[];
    tasks?: number;
    jobs: number;
    run?: string;
  },
  { stdout }: Pick<Streams, 'stdout'>,
): Promise<number> {
  const { effect, power, trials, tasks, jobs } = options;
  const earlier = await earlierRun(options);
  const there = tasks ?? earlier?.manifest.tasks.length;
  const plan = planPower({ effect, power, trials, jobs, ...present({ tasks: there }) }, earlier);
  stdout.write(options.json ? escapedJson(plan) : `${renderPowerPlan(plan, terminalWidth(stdout))}\n`);
  return 0;
}

async function earlierRun({ run, config }: { run?: string; config?: string }) {
  const directory = await locateRun(run ?? 'latest', config).catch((error: unknown) => {
    const isNone = error instanceof WhetstoneError && error.code === 'run-not-found';
    if (isNone && run === undefined) return undefined;
    throw error;
  });
  if (directory === undefined) return undefined;
  const stored = await readRun(directory);
  return { manifest: stored.manifest, rows: rowsInOrder(stored) };
}

/** Prints how often the verdicts of a run's suite are wrong, and what they find. */
export async function calibrateCommand(
  reference: string,
  { effect, replays, config, json }: Common & { effect: number; replays: number },
  { stdout }: Pick<Streams, 'stdout'>,
): Promise<number> {
  const run = await readRun(await locateRun(reference, config));
  const arms = calibrateRun({ manifest: run.manifest, rows: rowsInOrder(run) }, { effect, replays });
  if (json)
    stdout.write(escapedJson({ schema_version: '1', run_id: run.manifest.run_id, effect, replays, arms }));
  else {
    const lines = arms.flatMap((arm) => armLines(arm, effect, Math.max(40, terminalWidth(stdout))));
    stdout.write(`${[...lines, ...explanation(replays, terminalWidth(stdout))].join('\n')}\n`);
  }
  return 0;
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

const explanation = (replays: number, width: number): string[] =>
  paragraphLines(
    `From ${counted(replays, 'replay')} of the stored trials of each arm: tasks are drawn with replacement, and both sides get as many trials as were stored. Intervals are for the number of replays.`,
    Math.max(40, width),
  );
