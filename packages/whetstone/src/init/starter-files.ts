import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { contextPatterns } from '../ci/context-patterns.ts';
import { githubWorkflow } from '../ci/github-workflow.ts';
import { agentPresets, COMMAND_NOTES } from './agent-presets.ts';
import type { Surroundings } from './surroundings.ts';
import { usualCommands } from './usual-commands.ts';

/** What the files say. Each default is what was found. */
export type Choices = {
  /** Kinds of driven agents; none: the command, else a stand-in. */
  agents: readonly string[];
  /** A command template instead of a driven agent. */
  command?: string;
  /** Presets of commands for several agents instead. */
  presets: boolean;
  testCommand?: string;
  /** Whether the first preparation that was found is used, instead of only shown. */
  prepares: boolean;
  /** Whether to write a workflow for GitHub Actions. */
  ci: boolean;
};

/** How the files refer to each other: paths relative to the folder of the config, or to the root of the repository. */
export type Places = {
  /** The repository, seen from the folder of the config. */
  repository: string;
  /** The folder of the config, seen from the repository; `undefined`: it lies elsewhere. */
  configFolder?: string;
  /** The folder of the JSON schemas, seen from the folder of the config. */
  schemas: string;
};

/** The files that are the user's own from then on, by their path below the folder of the config. */
export function starterFiles(choices: Choices, found: Surroundings, places: Places): Record<string, string> {
  const { repository, instructions } = found;
  const contexts =
    instructions.length === 0
      ? { 'AGENTS.md': NEW_INSTRUCTIONS }
      : Object.fromEntries(instructions.map((name) => [name, readFileSync(join(repository, name), 'utf8')]));
  return {
    'whetstone.yaml': configText(choices, found, places),
    'tasks.yaml': tasksText(found, places),
    ...Object.fromEntries(
      Object.entries(contexts).map(([name, text]) => [`contexts/experiment/${name}`, text]),
    ),
  };
}

/** Files that are left as they are if they exist: by their path below the folder of the config. */
export function additionalFiles(
  choices: Choices,
  found: Surroundings,
  places: Places,
): Record<string, string> {
  const chosen = found.agents.filter(({ kind }) => choices.agents.includes(kind));
  const variables = [...new Set(chosen.map(({ key }) => key.variable))];
  const { agents } = choices;
  const config = join(places.configFolder ?? '.', 'whetstone.yaml');
  const workflow = join(places.repository, '.github/workflows/whetstone.yaml');
  return {
    '.env.example': environmentExample(variables),
    ...(choices.ci && {
      [workflow]: githubWorkflow({ config, ...{ agents, variables, trials: 3, jobs: 2 } }, contextPatterns()),
    }),
  };
}

const environmentExample = (
  variables: readonly string[],
): string => `# Copy this file to .env, beside whetstone.yaml, and never commit that. Variables that are set already win.
# Whetstone reads them for itself; an agent gets none of them unless the config passes it.
${variables.map((name) => `${name}=\n`).join('') || '# OPENAI_API_KEY=\n'}`;

/** A value as YAML on one line, quoted where it must be. */
const yamlText = (value: string): string => stringify(value, { lineWidth: 0 }).trimEnd();

const schemaLine = (folder: string, name: string): string =>
  `# yaml-language-server: $schema=${folder}/${name}\n`;

function configText(choices: Choices, found: Surroundings, { repository, schemas }: Places): string {
  const test = choices.testCommand;
  const example = yamlText(usualCommands(found.repository).test);
  return `${schemaLine(schemas, 'whetstone.schema.json')}# What Whetstone runs: every agent, on every task, with every variant, as often as --trials says.
# Paths are relative to the folder of this file.

repo:
  path: ${yamlText(repository)} # a Git repository; it is only read
  base_ref: HEAD # the commit that agents start from

${agentsText(choices, found)}
tasks: tasks.yaml

# What is compared. Each variant may lay files over the repository before the agent starts: {source, target}, or
# {remove: [paths]} to take files away.
variants:
  baseline:
    description: The repository as it is
  experiment:
${experimentText(found)}
# Run after the agent, on a clean copy of the repository with the agent's changes. A case passes when all of them exit
# with 0. A task can have its own in tasks.yaml.
evaluation:
  commands:${test === undefined ? ` [] # put the command that runs your tests here: [${example}]` : `\n    - ${yamlText(test)}`}
  timeout_seconds: 600

${environmentText(choices, found)}output_dir: .whetstone/runs
`;
}

/** Commands of the repository only run when a person has confirmed them. */
function environmentText({ prepares }: Choices, { preparations: [first] }: Surroundings): string {
  if (!first) return '';
  const lines = [
    'environment:',
    `  prepare: [${first.commands.map((command) => yamlText(command)).join(', ')}] # from ${first.from}`,
    ...(first.inputs ? [`  inputs: ${first.inputs} # prepared anew for each state of the whole tree`] : []),
  ];
  const start = prepares ? '' : '# ';
  return `# Run once for each state of the lock files, not in each case. Every agent and every check gets the result.
${lines.map((line) => `${start}${line}\n`).join('')}
`;
}

/** The copies start equal to what the repository has, so that the first edit is the difference. */
function experimentText({ instructions }: Surroundings): string {
  if (instructions.length === 0) {
    return `    description: The instructions to try
    instructions: contexts/experiment/AGENTS.md   # put where each agent looks
`;
  }
  const overlays = instructions.map(
    (name) => `      - source: contexts/experiment/${name}   # starts as a copy of yours: edit it
        target: ${name}
`,
  );
  return `    description: The instructions to try\n    overlays:\n${overlays.join('')}`;
}

function agentsText({ agents, command, presets }: Choices, found: Surroundings): string {
  const own = command === undefined ? undefined : yamlText(command);
  if (presets) return agentPresets(own);
  if (own !== undefined) return `${COMMAND_NOTES}${commandAgent('my-agent', own)}`;
  if (agents.length === 0) return `${COMMAND_NOTES}${STAND_IN_NOTE}${commandAgent('stand-in', STAND_IN)}`;
  return `# Whetstone starts these itself. Without \`model\`, each uses its own.
agents:
${agents.map((kind) => drivenAgent(kind, found)).join('')}
# Counts the model calls of each case on the wire. The key stays with Whetstone.
gateway:
  mode: forward
  run_budget: { tokens: 20000000 }   # of all cases together; or usd, where the model has a list price
`;
}

function drivenAgent(kind: string, { agents }: Surroundings): string {
  const here = agents.find((agent) => agent.kind === kind);
  const usesLogin = here?.key.isSet === false && here.login !== null;
  const { needsModel } = here?.agent.release ?? {};
  const lines = [
    `kind: ${kind}`,
    ...(usesLogin ? ['auth: login # your own login of the program; `api-key` uses a key instead'] : []),
    ...(needsModel !== undefined && !usesLogin
      ? [`# model: a model of your provider # needed: ${needsModel}`]
      : []),
    'timeout_minutes: 60',
  ];
  return `  ${kind}:\n${lines.map((line) => `    ${line}\n`).join('')}`;
}

const commandAgent = (name: string, command: string): string => `agent:
  name: ${name}
  command: ${command}
  timeout_minutes: 60
`;

/** Copies the task into a file, so that a first run shows every step. */
const STAND_IN = '"cat {prompt_file} > NOTES.md"';

const STAND_IN_NOTE = `# A stand-in, so that the first run works without an agent or a key: it copies the task into NOTES.md.
# Put your agent here, for example (more in \`whetstone init --agent-profiles\`):
#   command: "codex exec --json --sandbox workspace-write --skip-git-repo-check -C {workspace} - < {prompt_file}"
`;

function tasksText({ repository, tests, preparations }: Surroundings, { schemas }: Places): string {
  const usual = usualCommands(repository);
  const command = tests[0]?.command ?? usual.test;
  const setup = preparations[0]?.commands[0] ?? usual.install;
  return `${schemaLine(schemas, 'tasks.schema.json')}# One entry per task. The agent gets only the prompt, which is the same in every variant.
tasks:
  - id: first-task
    title: Describe the project
    prompt: |
      Write NOTES.md: in a few sentences, what this project does and how its tests are run.
    validation:
      commands: [test -s NOTES.md]  # remove it, and the commands of evaluation check the task
    # Optional:
    # follow_ups: [Now shorten it.] # one turn each, in the same session
    # category: docs                # for --category
    # difficulty: easy              # for --difficulty
    # repo_ref: v1.2.0              # another commit than repo.base_ref
    # setup: [${yamlText(setup)}]             # run before the agent, and again before validation
    # hidden_tests: hidden/first-task   # a folder laid over the tree only for validation
    # protected_paths: ["test/**"]  # put back before validation
    # timeout_seconds: 900
  # - id: second-task
  #   prompt: Fix the bug that a test shows.
  #   setup: [${yamlText(setup)}]
  #   validation:
  #     commands: [${yamlText(command)}]
`;
}

const NEW_INSTRUCTIONS = `# Notes for agents

- Read the tests of what you change before you change it.
- Run the tests when you are done.
`;

/** The folder of the JSON schemas in an installation of this package that `folder` is in, if there is one. */
export function installedSchemas(levels: readonly string[]): string | undefined {
  return levels
    .map((level) => join(level, 'node_modules/whetstone/schema'))
    .find((folder) => existsSync(folder));
}
