import { type Command, Option } from 'commander';
import { METHODS } from '../tasks/methods.ts';
import type { ActionOf } from './command-action.ts';
import { collect, positiveInteger, positiveNumber } from './option-values.ts';

/** What mining does where no option says otherwise. */
export const miningDefaults = {
  ...{
    maxFiles: 15,
    maxLines: 600,
    repeat: 3,
    timeout: 300,
    setupTimeout: 600,
    limit: 50,
    statementBudget: 1,
  },
};

/** The commands `whetstone tasks …`. */
export function addTasks(program: Command, action: ActionOf): void {
  const tasks = program
    .command('tasks')
    .description('make tasks of the history of a repository, and check tasks');
  tasks
    .command('mine')
    .description('make tasks of what commits and tests of a repository show; needs no model')
    .option('--repo <path>', 'the repository to mine', '.')
    .option('--out <dir>', 'where to put the tasks', 'tasks/mined')
    .addOption(
      new Option(
        '--method <name>',
        'how a task is made: a commit done again, taken back from HEAD, or code taken out',
      )
        .choices(METHODS)
        .default('replay'),
    )
    .option('--since <date>', 'only commits after this date (2026-01-31), or as old as this (90d, 6m, 2y)')
    .option('--paths <path>', 'only commits that change something there (repeatable)', collect, [])
    .option('--limit <n>', 'stop after this many new tasks', positiveInteger, miningDefaults.limit)
    .option(
      '--max-files <n>',
      'leave out commits with more files of sources and tests',
      positiveInteger,
      miningDefaults.maxFiles,
    )
    .option(
      '--max-lines <n>',
      'leave out commits with more lines of sources and tests',
      positiveInteger,
      miningDefaults.maxLines,
    )
    .option(
      '--issues <file>',
      'export of GitHub issues or pull requests, or `gh` to ask that program (repeatable)',
      collect,
      [],
    )
    .option(
      '--sessions [dir]',
      'sessions with agents, for statements: of a folder (repeatable), else where agents keep them',
      collect,
      [],
    )
    .option(
      '--write-statement <model>',
      'let a model write the statement where no text says enough: provider/model; costs money',
    )
    .option(
      '--statement-budget <usd>',
      'most that all these statements may cost',
      positiveNumber,
      miningDefaults.statementBudget,
    )
    .addOption(prepareOption('chosen by the lock file, such as npm ci'))
    .option('--setup <command>', 'runs before the tests, each time (repeatable)', collect, [])
    .addOption(setupTimeoutOption())
    .option(
      '--timeout <seconds>',
      'limit of one run of the tests of a candidate',
      positiveNumber,
      miningDefaults.timeout,
    )
    .option(
      '--repeat <n>',
      'how often the tests run without and with the sources, from 2',
      positiveInteger,
      miningDefaults.repeat,
    )
    .option('--jobs <n>', 'candidates at the same time', positiveInteger, 1)
    .option('--dry-run', 'show what the candidates are, and why the others are not; run nothing')
    .option('--json', 'print the result as JSON')
    .hook('preAction', beforeWork)
    .action(action(async () => (await import('./tasks-mine.ts')).tasksMineCommand));
  tasks
    .command('review')
    .description('read tasks one after the other on the terminal, and keep, edit or drop each')
    .argument('[folder]', 'a folder of tasks, or one task', 'tasks/mined')
    .option('--all', 'also those that you have kept')
    .option('--json', 'ask nothing, and print them as JSON')
    .action(action(async () => (await import('./tasks-review.ts')).tasksReviewCommand));
  tasks
    .command('check')
    .description('verify tasks without an agent: without work they must fail, with their gold patch pass')
    .argument('[folders...]', 'folders of tasks (default: the tasks of the configuration, else tasks/mined)')
    .option('-c, --config <file>', 'config file (default: as for run)')
    .option('--tasks <file>', 'task file to use instead of the config’s')
    .option('--repo <path>', 'the repository of the folders', '.')
    .addOption(prepareOption('the `environment` of the configuration; for folders as for `tasks mine`'))
    .addOption(setupTimeoutOption())
    .option('--task-id <id>', 'only this task (repeatable)', collect, [])
    .option('--repeat <n>', 'how often each tree is verified', positiveInteger, 1)
    .option('--json', 'print the result as JSON')
    .hook('preAction', beforeWork)
    .action(action(async () => (await import('./tasks-check.ts')).tasksCheckCommand));
  tasks
    .command('export')
    .description('write tasks for another program, after each was verified by exit codes only')
    .argument('[folders...]', 'folders of tasks (default: as for check)')
    .addOption(new Option('--format <name>', 'that of Harbor').choices(['harbor']).default('harbor'))
    .option('--out <dir>', 'where to put them', 'tasks/harbor-export')
    .option('--image <name>', 'the image that their containers start from', 'node:24-bookworm')
    .option('-c, --config <file>', 'config file (default: as for run)')
    .option('--tasks <file>', 'task file to use instead of the config’s')
    .option('--repo <path>', 'the repository of the folders', '.')
    .addOption(prepareOption('as for `tasks check`'))
    .addOption(setupTimeoutOption())
    .option('--task-id <id>', 'only this task (repeatable)', collect, [])
    .option('--json', 'print the result as JSON')
    .hook('preAction', beforeWork)
    .action(action(async () => (await import('./tasks-harbor.ts')).tasksExportCommand));
  tasks
    .command('import')
    .description('make tasks of Harbor tasks, as far as they need no container; runs their solutions')
    .argument('<dir>', 'a Harbor task, or a folder of them')
    .option('--out <dir>', 'where to put the tasks', 'tasks/harbor')
    .option('--json', 'print the result as JSON')
    .hook('preAction', beforeWork)
    .action(action(async () => (await import('./tasks-harbor.ts')).tasksImportCommand));
}

export const prepareOption = (byDefault: string): Option =>
  new Option('--prepare <command>', 'installs what the tests need, once for the same lock files (repeatable)')
    .argParser(collect)
    .default([], byDefault);

export const setupTimeoutOption = (): Option =>
  new Option('--setup-timeout <seconds>', 'limit of each command that installs or sets up')
    .argParser(positiveNumber)
    .default(miningDefaults.setupTimeout);

/** Workspaces need mounts of this process only. */
export async function beforeWork(command: Command): Promise<void> {
  if (command.opts().dryRun) return;
  (await import('./prepare-process.ts')).prepareProcess();
}
