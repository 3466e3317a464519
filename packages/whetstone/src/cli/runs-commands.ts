import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Gate, parseGate } from '../report/gate.ts';
import type { ActionOf } from './command-action.ts';

/** The commands that look at several runs. */
export function addRuns(program: Command, action: ActionOf): void {
  const runs = program.command('runs').description('list the runs, and give them tags and notes');
  runs
    .command('list', { isDefault: true })
    .description('list the runs, the newest first')
    .addOption(configOption())
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./runs.ts')).listRunsCommand));
  runs
    .command('tag')
    .description('give a run a tag, which then stands for the run in every command')
    .argument('<run>', 'a run directory, a run id, a tag, or "latest"')
    .argument('<tag>', 'a word such as "main"; a tag that another run has moves')
    .option('--delete', 'take the tag away')
    .addOption(configOption())
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./runs.ts')).tagRunCommand));
  runs
    .command('note')
    .description('keep a note about a run, in place of the one before')
    .argument('<run>', 'a run directory, a run id, a tag, or "latest"')
    .argument('<text>', 'the note; an empty one removes it')
    .addOption(configOption())
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./runs.ts')).noteRunCommand));
  program
    .command('compare')
    .description('compare two runs, variants or agents task by task')
    .argument(
      '<a>',
      'what to compare with: a run, a tag, RUN:VARIANT, RUN:AGENT, RUN:AGENT/VARIANT, or an arm of --run',
    )
    .argument('<b>', 'what to compare, in the same words')
    .option('--run <run>', 'the run of arms that are named without a run', 'latest')
    .option(
      '--gate <bound>',
      'test a bound of the difference B − A, such as "delta > -5pp": exit code 0 passed, 1 failed, 4 inconclusive',
      gate,
    )
    .addOption(configOption())
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./compare.ts')).compareCommand));
}

const configOption = (): Option => new Option('-c, --config <file>', 'config file (default: as for run)');

function gate(text: string): Gate {
  const parsed = parseGate(text);
  if (parsed) return parsed;
  throw new InvalidArgumentError(
    'It must be a bound such as "delta > -5pp" or "delta > 0", between -100pp and 100pp.',
  );
}
