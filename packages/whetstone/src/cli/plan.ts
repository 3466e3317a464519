import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { readRun, rowsInOrder } from '../record/read-run.ts';
import { escapedJson } from '../report/json.ts';
import { planPower } from '../report/power-plan.ts';
import { renderPowerPlan } from '../report/render-power-plan.ts';
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
