import { type Command, Option } from 'commander';
import type { ActionOf } from './command-action.ts';
import { collect, positiveInteger, positiveNumber } from './option-values.ts';

const WRITERS = {
  github: 'githubCommand',
  gitlab: 'gitlabCommand',
  canary: 'canaryWorkflowCommand',
} as const;

/** The commands that measure in CI, and show the result in the pull request. */
export function addCi(program: Command, action: ActionOf): void {
  const ci = program.command('ci').description('measure pull requests, and comment the verdict on them');
  const starts = 'which starts when a pull request changes what agents read';
  for (const [name, description, file, trials] of [
    ['github', `write a job for GitHub Actions, ${starts}`, '.github/workflows/whetstone.yaml', 3],
    ['gitlab', `write a job for GitLab CI, ${starts}`, '.gitlab/whetstone.yml', 3],
    [
      'canary',
      'write a job for GitHub Actions that plays a night of "canary" every night',
      '.github/workflows/whetstone-canary.yaml',
      1,
    ],
  ] as const) {
    ci.command(name)
      .description(description)
      .addOption(configOption())
      .option('--trials <n>', 'trials per agent, task and variant', positiveInteger, trials)
      .option('--jobs <n>', 'cases at the same time', positiveInteger, 2)
      .option('--budget <usd>', 'most US dollars that all cases of a job may cost', positiveNumber)
      .option('--out <file>', `where to write it (default: ${file} of the repository)`)
      .option('--force', 'overwrite the file if it exists')
      .option('--json', 'print what was written as JSON')
      .action(action(async () => (await import('./ci.ts'))[WRITERS[name]]));
  }
  ci.command('run')
    .description('measure what a change does: instructions and skills, agents, or the variants of the config')
    .addOption(configOption())
    .option('--base <ref>', 'compare with this commit (default: the base of the pull request)')
    .option('--head <ref>', 'take instructions and skills from this commit, and nothing else')
    .option(
      '--trust-head',
      'also where agents are not sealed from this machine: you have read what --head says',
    )
    .option('--trials <n>', 'trials per agent, task and variant', positiveInteger, 3)
    .option('--jobs <n>', 'cases at the same time', positiveInteger, 1)
    .option('--max-tasks <n>', 'only the first n tasks', positiveInteger)
    .option('--agent <name>', 'only this agent (repeatable)', collect, [])
    .option('--budget <usd>', 'most US dollars that all cases together may cost', positiveNumber)
    .addOption(
      new Option('--fail-on <verdict>', 'exit with 1 for this verdict')
        .choices(['worse', 'never'])
        .default('worse'),
    )
    .option('--json', 'print what was measured as JSON')
    .action(action(async () => (await import('./ci-run.ts')).ciRunCommand));
  ci.command('publish')
    .description('show what "ci run" measured: comment, annotations, summary of the job, JUnit')
    .addOption(configOption())
    .option('--junit <file>', 'also write the results as JUnit XML')
    .option('--dry-run', 'print the comment, and send nothing')
    .option('--json', 'print what became of the comment as JSON')
    .action(action(async () => (await import('./ci-publish.ts')).ciPublishCommand));
}

const configOption = (): Option => new Option('-c, --config <file>', 'config file (default: as for run)');

/** Results in the formats of other tools. */
export function addExport(program: Command, action: ActionOf): void {
  program
    .command('export')
    .description('write the cases of a run in the format of another tool, or send their spans')
    .argument('<run>', 'a run directory, a run id, a tag, or "latest"')
    .addOption(
      new Option(
        '--format <format>',
        'trajectories of ATIF, logs of Inspect, or spans of OpenTelemetry',
      ).choices(['atif', 'inspect', 'otlp']),
    )
    .option('--out <dir>', 'where to write them (default: export/FORMAT of the run directory)')
    .option('--otlp <url>', 'send the spans to this receiver of OTLP/HTTP')
    .option('--otlp-content', 'also what agents, models and tools said')
    .addOption(configOption())
    .option('--json', 'print what was written and sent as JSON')
    .action(action(async () => (await import('./export.ts')).exportCommand));
}

/** The commands with which a coding agent measures by itself. */
export function addMcp(program: Command, action: ActionOf): void {
  program
    .command('mcp')
    .description(
      'serve mining, planning, running, comparing and reading to a coding agent, by MCP on stdin and stdout',
    )
    .option('--json', 'print the settings with which an agent starts it as JSON, and serve nothing')
    .action(action(async () => (await import('./mcp.ts')).mcpCommand));
  const skill = program.command('skill').description('the skill that tells a coding agent how to measure');
  skill
    .command('install')
    .description('write the skill where agents look for skills')
    .option(
      '--agent <kind>',
      'for this kind of agent (repeatable; default: those that take skills and are on this machine)',
      collect,
      [],
    )
    .option('--user', 'for all of your projects, in your home (default: in this repository)')
    .option('--force', 'overwrite a skill that you have changed')
    .option('--json', 'print what was written as JSON')
    .action(action(async () => (await import('./skill.ts')).skillInstallCommand));
}
