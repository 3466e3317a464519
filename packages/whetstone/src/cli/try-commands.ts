import { type Command, Option } from 'commander';
import type { ActionOf } from './command-action.ts';
import { collect, positiveInteger, positiveNumber } from './option-values.ts';
import { beforeWork, prepareOption } from './tasks-commands.ts';

/** The command `whetstone try`. */
export function addTry(program: Command, action: ActionOf): void {
  program
    .command('try')
    .description(
      'find out whether a file with instructions or a skill helps: from a repository to the answer',
    )
    .argument('<path>', 'AGENTS.md or another file with instructions, or the folder of a skill')
    .option('-c, --config <file>', 'take tasks and agents from this config (default: found as for run)')
    .addOption(
      new Option('--agent <name>', 'an agent of the config, else a kind (repeatable)')
        .argParser(collect)
        .default([], 'all of the config, else one'),
    )
    .option('--agent-command <command>', 'command template of an agent, where there is no config')
    .option('--model <model>', 'the model of the agents')
    .option('--trials <n>', 'trials per agent, task and arm', positiveInteger, 3)
    .option(
      '--max-tasks <n>',
      'at most this many tasks (default: all of them, or 20 mined ones)',
      positiveInteger,
    )
    .option('--jobs <n>', 'cases at the same time', positiveInteger, 1)
    .addOption(prepareOption('by the lock file; a config has its own'))
    .option('--budget <usd>', 'most US dollars that all cases together may cost', positiveNumber)
    .option('-y, --yes', 'run without asking')
    .addOption(
      new Option('--resume <run>', 'resume a run of the same: only what is missing').conflicts('dryRun'),
    )
    .option('--dry-run', 'show the plan; mine and start nothing')
    .option('--json', 'ask nothing, and print the plan and the summary as JSON')
    .hook('preAction', beforeWork)
    .action(action(async () => (await import('./try.ts')).tryCommand));
}
