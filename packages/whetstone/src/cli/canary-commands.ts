import { type Command, Option } from 'commander';
import type { ActionOf } from './command-action.ts';
import { collect, positiveInteger, positiveNumber } from './option-values.ts';

/** The commands that run the same suite every night, and say when agents no longer do what they did. */
export function addCanary(program: Command, action: ActionOf): void {
  const canary = program
    .command('canary')
    .description('run the baseline of the config every night, and say when its pass rate has drifted');
  nightOptions(canary.command('start').description('run the baseline that later nights are compared with'), 5)
    .option('--agent <name>', 'only this agent (repeatable)', collect, [])
    .addOption(
      new Option('--from <run>', 'take the baseline of this run, and run nothing').conflicts([
        'trials',
        'maxTasks',
      ]),
    )
    .option('--force', 'begin anew where there is a series already')
    .action(action(async () => (await import('./canary.ts')).canaryStartCommand));
  nightOptions(
    canary.command('run').description('run one night, and say whether anything has drifted'),
    1,
  ).action(action(async () => (await import('./canary.ts')).canaryRunCommand));
  canary
    .command('status')
    .description('say what the nights so far show, and run nothing')
    .addOption(configOption())
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./canary.ts')).canaryStatusCommand));
}

const configOption = (): Option => new Option('-c, --config <file>', 'config file (default: as for run)');

const nightOptions = (command: Command, trials: number): Command =>
  command
    .addOption(configOption())
    .option('--trials <n>', 'trials per agent and task', positiveInteger, trials)
    .option('--jobs <n>', 'cases at the same time', positiveInteger, 1)
    .option('--max-tasks <n>', 'only the first n tasks', positiveInteger)
    .option('--budget <usd>', 'most US dollars that all cases together may cost', positiveNumber)
    .option('--json', 'print what the nights show as JSON')
    .hook('preAction', async () => (await import('./prepare-process.ts')).prepareProcess());
