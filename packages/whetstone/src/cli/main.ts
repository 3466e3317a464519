import { resolve } from 'node:path';
import { loopProfiles } from '@whetstone/agents/loop-profiles';
import { Argument, Command, CommanderError, Help, Option } from 'commander';
import { version } from '../version.ts';
import { addAgents } from './agents-commands.ts';
import { addAudit } from './audit-commands.ts';
import { addCanary } from './canary-commands.ts';
import { type ActionOf, commandActions } from './command-action.ts';
import { addEnvironments } from './environment-commands.ts';
import { addExamples } from './example-commands.ts';
import type { ExpOptions } from './exp.ts';
import { addGateway } from './gateway-commands.ts';
import {
  collect,
  collectCommand,
  portNumber,
  positiveInteger,
  positiveNumber,
  rate,
} from './option-values.ts';
import { addPlanning, addRuns } from './runs-commands.ts';
import { addCi, addExport, addMcp } from './share-commands.ts';
import type { Streams } from './streams.ts';
import { addTasks } from './tasks-commands.ts';
import { addTry } from './try-commands.ts';
import { withoutUselessHelp } from './useless-help.ts';

/**
 * The command line: parses, calls the library, prints. Resolves with the exit code: 0 all passed; 1 some case not
 * passed, or under `--fail-under`; 2 bad configuration or usage; 3 the harness failed; 130 interrupted.
 */
export async function main(argv: string[]): Promise<number> {
  handleOutputErrors();
  // Git and the process that starts commands work in other folders.
  for (const name of ['HOME', 'TMPDIR']) {
    const folder = process.env[name];
    if (folder) process.env[name] = resolve(folder);
  }
  let json = false;
  const print = async (error: unknown) => {
    const { printError } = await import('./print-error.ts');
    return await printError(error, process, json);
  };
  // Node's own exit code for a crash is 1, which here says that a case did not pass.
  process.on('uncaughtException', (error) => {
    void print(error).finally(() => process.exit(3));
  });
  let exitCode = 0;
  const program = createProgram((code) => {
    exitCode = code;
  }).hook('preAction', (_, command) => {
    json = command.opts().json === true;
  });
  try {
    await program.parseAsync(withoutUselessHelp(program, argv), { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return await print(error);
    if (error.exitCode === 0) return 0;
    const help = argv.indexOf('help');
    if (help !== -1 && error.code === 'commander.help') {
      // Commander has printed the help of what is above, and not why.
      error.message = `error: unknown command '${argv[help + 1]}'`;
      process.stderr.write(`\n${error.message}\n`);
    }
    // Commander has printed the text, and no command has read its options.
    if (argv.includes('--json')) (await import('./print-error.ts')).printUsageError(error, process);
    return 2;
  }
}

/** The command line as commander has it. `exit` gets the exit code of the command that was called. */
export function createProgram(exit: (code: number) => void): Command {
  const program = new Command('whetstone')
    .description('Run agent × task × variant × trial on your repository, and get a result to believe.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .configureHelp({ optionDescription })
    .enablePositionalOptions()
    .exitOverride()
    .showSuggestionAfterError();
  const action = commandActions(exit);
  addInit(program, action);
  addTry(program, action);
  addValidateConfig(program, action);
  addRun(program, action);
  addExp(program, action);
  addTasks(program, action);
  addAudit(program, action);
  addReport(program, action);
  addShow(program, action);
  addRuns(program, action);
  addPlanning(program, action);
  addView(program, action);
  addExport(program, action);
  addCi(program, action);
  addCanary(program, action);
  addMcp(program, action);
  addAgent(program, action);
  addAgents(program, action);
  addGateway(program, action);
  addEnvironments(program, action);
  addDocs(program, action);
  addErrors(program, action);
  addCompletion(program, action);
  addExamples(program);
  return program;
}

/** What an option without a value does is in its text; commander would add that its default is `[]`. */
const optionDescription = (option: Option): string =>
  new Help().optionDescription(option).replace(' (default: [])', '');

/** For the editor of `whetstone view`. Hidden: it is of no use at a terminal. */
const draftOption = () => new Option('--draft', 'take the text of the config from stdin').hideHelp();

function addInit(program: Command, action: ActionOf): void {
  program
    .command('init')
    .description('look at the repository and the machine, ask, and write a config, a task and two variants')
    .option('-d, --directory <dir>', 'where to write them', '.')
    .option('--repo-path <path>', 'the repository to measure on (default: the one that the directory is in)')
    .option('--agent-command <command>', 'command template of the agent')
    .option('--agent-profiles', 'write the presets of codex-cli, claude-code, traecli, coco, bub and custom')
    .option('--ci', 'also write a workflow for GitHub Actions')
    .option('-y, --yes', 'ask nothing, and take what was found')
    .option('--force', 'overwrite the config, the tasks and the variants if they exist')
    .option('--json', 'ask nothing, and print what was found and written as JSON')
    .action(action(async () => (await import('./init.ts')).initCommand));
}

function addValidateConfig(program: Command, action: ActionOf): void {
  program
    .command('validate-config')
    .description('check a config and its tasks, and print everything that is wrong')
    .addOption(configOption())
    .option('--tasks <file>', 'task file to use instead of the config’s')
    .option('--strict', 'also check the repository, refs, file-safe names and variables')
    .option('--check-agents', 'also check the agents’ programs, variables and keys; runs none of them')
    .option('--json', 'print the result as JSON')
    .addOption(draftOption())
    .action(action(async () => (await import('./validate-config.ts')).validateConfigCommand));
}

function addRun(program: Command, action: ActionOf): void {
  program
    .command('run')
    .description('run the matrix and report on it')
    .addOption(configOption())
    .option('--tasks <file>', 'task file to use instead of the config’s')
    .option('--agent <name>', 'only this agent (repeatable)', collect, [])
    .option('--variant <name>', 'only this variant (repeatable)', collect, [])
    .option('--task-id <id>', 'only this task (repeatable)', collect, [])
    .option('--category <name>', 'only tasks of this category (repeatable)', collect, [])
    .option('--difficulty <name>', 'only tasks of this difficulty (repeatable)', collect, [])
    .option('--trials <n>', 'trials per agent, task and variant', positiveInteger, 1)
    .option('--jobs <n>', 'cases at the same time', positiveInteger, 1)
    .option(
      '--sequential',
      'run the tasks in four parts, and end when every comparison is decided or none has a chance to be',
    )
    .addOption(
      new Option(
        '--bridge <run>',
        'take the baseline from this run, and run it on some tasks only, to measure what has changed since',
      ).conflicts(['sequential', 'resume']),
    )
    .option('--bridge-tasks <n>', 'how many tasks (default: half of them, at least 10)', positiveInteger)
    .option('--max-tasks <n>', 'only the first n of the selected tasks', positiveInteger)
    .option('--seed <seed>', 'seed of the order and of scripts (default: a new one, stored in the manifest)')
    .option('--dry-run', 'show the matrix, the order, the commands and what is missing; start nothing')
    .addOption(draftOption().implies({ dryRun: true }))
    .addOption(
      new Option(
        '--resume <run>',
        'resume a run: run only what is missing (a path, an id, a tag, or "latest")',
      ).conflicts(['agent', 'variant', 'taskId', 'category', 'difficulty', 'trials', 'maxTasks', 'seed']),
    )
    .addOption(
      new Option(
        '--interactive',
        'ask you what no rule of an agent’s policy decides, for debugging',
      ).conflicts(['jobs', 'dryRun', 'json']),
    )
    .option('--keep-workspace', 'keep a copy of each case’s workspace in the folder of the case')
    .option(
      '--fail-under <rate>',
      'exit 0 if this share of each variant’s planned cases passed (0.8 or 80%)',
      rate,
    )
    .option(
      '--otlp <url>',
      'send the spans of the cases to this receiver of OTLP/HTTP when the run has ended',
    )
    .option('--json', 'print the summary as JSON on stdout')
    .hook('preAction', beforeRun)
    .action(action(async () => (await import('./run.ts')).runCommand));
}

/** A run that works on files needs this; `exp` finds out first whether any of its agents does. */
async function beforeRun(command: Command): Promise<void> {
  if (command.opts().dryRun) return;
  (await import('./prepare-process.ts')).prepareProcess();
}

function addExp(program: Command, action: ActionOf): void {
  program
    .command('exp')
    .description('run experiments: evals in TypeScript, each with the agent of an experiment')
    .argument('[names...]', 'ids of experiments and of evals, or folders of them (default: all)')
    .option('--agent <kind>', 'an agent in place of the experiment’s')
    .option('--model <model>', 'a model in place of the experiment’s')
    .option('--runs <n>', 'attempts per eval and variant', positiveInteger)
    .option('--sandbox <name>', 'where commands run: auto, bubblewrap, docker, process or sandbox-runtime')
    .option('--jobs <n>', 'cases at the same time', positiveInteger, 1)
    .option('--tag <tag>', 'only evals with this tag (repeatable)', collect, [])
    .option('--budget <usd>', 'most US dollars that all attempts may cost', positiveNumber)
    .option('--timeout <seconds>', 'limit of one attempt', positiveNumber)
    .option('--early-exit', 'do not run the other attempts of an eval after one has passed')
    .option('--no-early-exit', 'run all attempts, also where the experiment says otherwise')
    .addOption(
      new Option(
        '--rerun <which>',
        'run cases again although their results are stored: all of them, or those that did not pass',
      ).choices(['failed', 'all']),
    )
    .option('--dry-run', 'show which cases would be reused, and why the others would run; start nothing')
    .option('--junit <file>', 'also write the results as JUnit XML')
    .addOption(
      new Option('--watch', 'run again what a change of a file touches, until Ctrl-C').conflicts([
        ...['dryRun', 'json', 'rerun', 'keepWorkspace'],
      ]),
    )
    .addOption(new Option('--watched <turn>', 'what --watch starts').choices(['first', 'again']).hideHelp())
    .option('--keep-workspace', 'keep a copy of each case’s workspace in the folder of the case')
    .option('--json', 'print the summaries as JSON on stdout')
    .action(action(loadExp));
  program
    .command('rescore')
    .description('judge the stored cases of a run with its tasks or evals as they are now; no agent runs')
    .argument('<run>', 'a run directory, a run id, a tag, or "latest"')
    .option('--eval <file>', 'only the evals of this file; a file elsewhere stands for the one of its name')
    .addOption(configOption())
    .option('--tasks <file>', 'task file to use instead of the config’s')
    .option(
      '--validation <command>',
      'a command that has to exit 0, in place of the validation of the tasks (repeatable)',
      collectCommand,
      [],
    )
    .option(
      '--repeat <n>',
      'judge each stored case n times, to see how far its tests and judges disagree with themselves',
      positiveInteger,
      1,
    )
    .option('--jobs <n>', 'cases at the same time', positiveInteger, 1)
    .option('--json', 'print the summary and what changed as JSON')
    .hook('preAction', beforeRun)
    .action(action(async () => (await import('./rescore.ts')).rescoreCommand));
  program
    .command('agreement')
    .description('compare the labels of a judge with those of people: Cohen’s κ with its interval')
    .argument('<labels>', 'JSON Lines such as {"id": "a", "human": "good", "judge": "bad"}')
    .option(
      '--run <run>',
      'take the judge’s labels (passed, failed) from this run; ids are those of cases or tasks',
    )
    .option('--label <label>', 'which judge of the run, by the name that the eval gave it')
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./agreement.ts')).agreementCommand));
  program
    .command('list')
    .description('list the evals and the experiments of a project')
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./list.ts')).listCommand));
}

/** A watch starts each run in a process of its own, which loads the files of the user anew. */
async function loadExp() {
  const { expCommand } = await import('./exp.ts');
  return async (names: string[], options: ExpOptions & { watch?: boolean }, streams: Streams) =>
    options.watch
      ? await (await import('./watch-exp.ts')).watchExperiments(streams)
      : await expCommand(names, options, streams);
}

function addReport(program: Command, action: ActionOf): void {
  program
    .command('report')
    .description('print the report of a run, rebuilt from its journal')
    .argument('<run>', 'a run directory, a run id, a tag, or "latest"')
    .addOption(
      new Option('--format <format>', 'output format')
        .choices(['md', 'json', 'csv', 'junit', 'context-eval', 'html'])
        .default('md'),
    )
    .addOption(
      new Option(
        '--out <file>',
        'write the report to a file; html is the page of "view" with all cases, which opens from the disk',
      ),
    )
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .addOption(configOption())
    .action(action(async () => (await import('./report.ts')).reportCommand));
}

function addShow(program: Command, action: ActionOf): void {
  program
    .command('show')
    .description('look at a run, or at one case of it')
    .argument('<run>', 'a run directory, a run id, a tag, or "latest"')
    .argument('[case]', 'a case id, or the beginning of one')
    .option('--call <number>', 'one model call of the case, from 1: what was asked, and what was answered')
    .option('--json', 'print JSON')
    .addOption(configOption())
    .action(action(async () => (await import('./show.ts')).showCommand));
}

function addView(program: Command, action: ActionOf): void {
  program
    .command('view')
    .description('look at runs in a browser, served only on this machine')
    .argument('[run]', 'a run directory, a run id, a tag, or "latest"')
    .option('--port <port>', 'port to listen on (default: a free one)', portNumber)
    .option('--open', 'open the browser')
    .option('--json', 'print the address as one line of JSON')
    .addOption(configOption())
    .action(action(async () => (await import('./view.ts')).viewCommand));
}

function addDocs(program: Command, action: ActionOf): void {
  program
    .command('docs')
    .description('read the documentation of this version in a browser, without a network')
    .option('--port <port>', 'port to listen on (default: a free one)', portNumber)
    .option('--no-open', 'print the address, and open no browser')
    .option('--json', 'print the address as one line of JSON, and open no browser')
    .action(action(async () => (await import('./docs.ts')).docsCommand));
}

function addErrors(program: Command, action: ActionOf): void {
  program
    .command('errors')
    .description('explain an error code, or list all of them')
    .argument('[code]', 'the code that an error ends with')
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./errors.ts')).errorsCommand));
}

function addAgent(program: Command, action: ActionOf): void {
  program
    .command('agent')
    .description('run our own coding-agent loop on one prompt, without interaction')
    .argument('<prompt>', 'what to do; "-" reads it from stdin')
    .option('-C, --cd <dir>', 'working directory', '.')
    .addOption(new Option('--profile <profile>', 'tools and prompt of a model family').choices(loopProfiles))
    .option('--model <model>', 'model id (default: the profile’s own)')
    .option('--base-url <url>', 'provider or gateway to talk to')
    .option('--reasoning-effort <effort>', 'low, medium, high')
    .option('--max-tool-rounds <n>', 'stop after this many rounds of tool calls', positiveInteger)
    .option('--json', 'print the events as JSONL on stdout')
    .action(action(async () => (await import('./agent.ts')).agentCommand));
}

function addCompletion(program: Command, action: ActionOf): void {
  program
    .command('completion')
    .description('print the script that makes a shell complete whetstone’s commands, options and ids')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .option('--json', 'print JSON')
    .action(action(async () => (await import('./completion-scripts.ts')).completionCommand));
  program
    .command('complete', { hidden: true })
    .description('print what can follow the words after --, for these scripts')
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { completeCommand } = await import('./complete.ts');
      await completeCommand(program, words, process.stdout);
    });
}

const configOption = () =>
  new Option(
    '-c, --config <file>',
    'config file (default: whetstone.yaml or context-eval.yaml, here or in a folder above)',
  );

/** `whetstone … | head` closes our output, which is fine. Output lost for another reason (a full disk) is an error. */
function handleOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      if (stream === process.stdout)
        process.stderr.write(`The output could not be written: ${error.message}\n`);
      process.exit(3);
    });
  }
}
