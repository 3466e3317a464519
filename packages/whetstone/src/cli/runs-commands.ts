import { type Command, Option } from 'commander';
import type { ActionOf } from './command-action.ts';
import { collect, gate, points, positiveInteger, positiveNumber, power } from './option-values.ts';

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
  runs
    .command('import')
    .description('make a run of what another tool found: logs of Inspect, or the folder of a Harbor job')
    .argument('<paths...>', 'logs of Inspect (.eval, .json), or folders of jobs of Harbor')
    .option('--variant <name>', 'what the arm is called', 'imported')
    .option('--score <name>', 'the score or reward that decides (default: the only one)')
    .option(
      '--tree <path>',
      'of a Harbor job: where the agents had their workspace, in the container; a folder or an archive that the job collected (default: the only folder)',
    )
    .option('--tag <tag>', 'also give the run this tag')
    .addOption(configOption())
    .option('--json', 'print the summary as JSON')
    .action(action(async () => (await import('./runs-import.ts')).importRunCommand));
  program
    .command('sign')
    .description('sign what a run found with your SSH key, by ssh-keygen')
    .argument('<run>', 'a run directory, a run id, a tag, or "latest"')
    .requiredOption('--key <file>', 'the private key, or the public one of a key in ssh-agent')
    .addOption(configOption())
    .option('--json', 'print the paths of what was written as JSON')
    .action(action(async () => (await import('./verify-run.ts')).signCommand));
  program
    .command('verify')
    .description('check that the journal, the evidence and the signature of a run fit together')
    .argument('<run>', 'a run directory, a run id, a tag, or "latest"')
    .option('--allowed-signers <file>', 'whose keys are trusted, in the format of ssh-keygen')
    .option('--signer <name>', 'who has to have signed, as the file names them')
    .addOption(configOption())
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./verify-run.ts')).verifyCommand));
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
    .option(
      '--pass-worth <usd>',
      'what a pass is worth to you, in US dollars: also print what B is then worth more than A per case',
      positiveNumber,
    )
    .addOption(configOption())
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./compare.ts')).compareCommand));
}

const effectOption = (what: string) =>
  new Option('--effect <pp>', `${what}, in points of the pass rate`).argParser(points).default(0.1, '10pp');

/** The commands that say what a suite can show, before and after a run. */
export function addPlanning(program: Command, action: ActionOf): void {
  program
    .command('plan')
    .description('how many tasks, cases, money and hours it takes to show a difference')
    .addOption(effectOption('the true difference that matters to you'))
    .option('--power <share>', 'the share of experiments that should show it (0.8 or 80%)', power, 0.8)
    .addOption(
      new Option('--trials <list>', 'numbers of trials to choose from')
        .argParser(counts)
        .default([1, 2, 3, 5], '1,2,3,5'),
    )
    .option('--tasks <n>', 'tasks that you have (default: those of the run)', positiveInteger)
    .option('--jobs <n>', 'cases at the same time', positiveInteger, 1)
    .option('--run <run>', 'the earlier run to learn from (default: the latest, if there is one)')
    .addOption(configOption())
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./plan.ts')).planCommand));
  program
    .command('calibrate')
    .description(
      'how often a verdict of your suite is wrong, and what it finds: from the stored trials of a run, or from new ones',
    )
    .argument(
      '<run|config>',
      'a run directory, a run id, a tag or "latest"; or a config file, whose baseline then runs',
    )
    .addOption(effectOption('the difference to plant'))
    .option('--replays <n>', 'replays per arm', positiveInteger, 1000)
    .option(
      '--trials <n>',
      'with a config: trials per side; the baseline runs twice as many',
      positiveInteger,
      3,
    )
    .option('--jobs <n>', 'with a config: cases at the same time', positiveInteger, 1)
    .option('--agent <name>', 'with a config: only this agent (repeatable)', collect, [])
    .option('--max-tasks <n>', 'with a config: only the first n tasks', positiveInteger)
    .addOption(configOption())
    .option('--json', 'print JSON')
    .hook('preAction', async () => (await import('./prepare-process.ts')).prepareProcess())
    .action(action(async () => (await import('./calibrate.ts')).calibrateCommand));
}

const configOption = (): Option => new Option('-c, --config <file>', 'config file (default: as for run)');

const counts = (text: string): number[] => text.split(',').map((one) => positiveInteger(one.trim()));
