import { stringify } from 'yaml';
import { version } from '../version.ts';

/** What a workflow for GitHub Actions is made from. Paths are seen from the root of the repository. */
export type WorkflowFacts = {
  /** The config file. */
  config: string;
  /** Kinds of released agents to install. */
  agents: readonly string[];
  /** Variables with keys, which are secrets of the repository under the same names. */
  variables: readonly string[];
  trials: number;
  jobs: number;
  /** US dollars per job; absent: the configuration has its own, or none. */
  budget?: number;
};

/** The folder of the config with a slash at the end; empty for a config at the root. */
export const folderOf = (config: string): string =>
  config.includes('/') ? `${config.slice(0, config.lastIndexOf('/'))}/` : '';

/** The first steps of every job that measures: the repository, Node, Whetstone, what a job before has prepared, agents. */
export function firstSteps({ config, agents }: WorkflowFacts): string {
  return `      - uses: actions/checkout@v4
        with:
          fetch-depth: 0               # a task may start from another commit
          persist-credentials: false   # no token in the folder that agents get copies of
      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - run: npm install --global whetstone@${version}
      - id: prepared
        uses: actions/cache@v4
        with:
          path: ${folderOf(config)}.whetstone/environments.tar
          key: whetstone-\${{ runner.os }}-\${{ hashFiles('**/package-lock.json', '**/pnpm-lock.yaml', '**/yarn.lock', '**/requirements*.txt', '**/poetry.lock', '**/uv.lock', '**/go.sum', '**/Cargo.lock') }}
          restore-keys: whetstone-\${{ runner.os }}-
      - if: steps.prepared.outputs.cache-matched-key != ''
        run: whetstone environments restore ${folderOf(config)}.whetstone/environments.tar
${agents.length === 0 ? '' : `      - run: whetstone agents install ${agents.join(' ')}\n`}`;
}

/** The last steps: what is kept for the next job and for people. */
export function lastSteps({ config }: WorkflowFacts): string {
  return `      - if: always() && steps.prepared.outputs.cache-hit != 'true'
        run: whetstone environments save ${folderOf(config)}.whetstone/environments.tar
      - id: kept
        if: always()
        uses: actions/upload-artifact@v4
        with:
          name: whetstone
          path: ${folderOf(config)}.whetstone/runs
          include-hidden-files: true
`;
}

/** The `env` of a step, with the keys of providers from the secrets of the repository. */
export const keysOf = (variables: readonly string[]): string =>
  variables.length === 0
    ? ''
    : `        env:\n${variables.map((name) => `          ${name}: \${{ secrets.${name} }}\n`).join('')}`;

/** A value as YAML on one line, quoted where it must be. */
export const yamlText = (value: string): string => stringify(value, { lineWidth: 0 }).trimEnd();

/** A word of a shell command. */
export const shellText = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;

/** `-c evals/whetstone.yaml --trials 3 --jobs 2 --budget 5`. */
export const runOptions = ({ config, trials, jobs, budget }: WorkflowFacts): string =>
  [
    `-c ${shellText(config)} --trials ${trials} --jobs ${jobs}`,
    ...(budget === undefined ? [] : [`--budget ${budget}`]),
  ].join(' ');

/**
 * A workflow for GitHub Actions. A pull request starts it when it changes what agents read, the configuration or the tasks;
 * `contextPaths` are the patterns of what agents read. A pull request from a fork gets no secrets: a person who has read it
 * starts the workflow by hand with its number, and then only its instructions and skills are taken, not its code.
 */
export function githubWorkflow(facts: WorkflowFacts, contextPaths: readonly string[]): string {
  const folder = folderOf(facts.config);
  const paths = [
    ...contextPaths,
    facts.config,
    `${folder}contexts/**`,
    `${folder}tasks.yaml`,
    `${folder}tasks/**`,
    '.github/workflows/whetstone.yaml',
  ];
  const options = runOptions(facts);
  return `# Written by \`whetstone ci github\`. A run costs money when its agents call a model.
# A pull request from a fork gets no secrets. Read it, then start this workflow by hand with its number: the job takes
# the instructions and skills of the pull request, and configuration, tasks and code of the branch that you start it on.
name: whetstone
on:
  pull_request:
    paths:
${paths.map((path) => `      - ${yamlText(path)}\n`).join('')}  workflow_dispatch:
    inputs:
      pull_request:
        description: Number of a pull request, for example of a fork
        required: false
        type: string
permissions: {}
concurrency:
  group: whetstone-\${{ github.event.pull_request.number || inputs.pull_request || github.ref }}
  cancel-in-progress: true
jobs:
  measure:
    runs-on: ubuntu-latest
    timeout-minutes: 180
    permissions:
      contents: read
      pull-requests: write   # for the comment
    steps:
${firstSteps(facts)}      # A folder of its own, from which only instructions and skills are read.
      - if: inputs.pull_request
        uses: actions/checkout@v4
        with:
          ref: refs/pull/\${{ inputs.pull_request }}/head
          path: ${folder}.whetstone/pull-request
          fetch-depth: 0
          persist-credentials: false
      - if: inputs.pull_request
        run: git fetch ${folder}.whetstone/pull-request HEAD:refs/whetstone/pull-request
      - if: inputs.pull_request
        run: whetstone ci run ${options} --base HEAD --head refs/whetstone/pull-request
${keysOf(facts.variables)}      - if: '!inputs.pull_request'
        run: whetstone ci run ${options}
${keysOf(facts.variables)}${lastSteps(facts)}      # This step has a token for the comment and no key of a provider; the steps above have keys and no token.
      - if: always()
        run: whetstone ci publish -c ${shellText(facts.config)}
        env:
          GITHUB_TOKEN: \${{ github.token }}
          WHETSTONE_PULL_REQUEST: \${{ inputs.pull_request }}
          WHETSTONE_ARTIFACT_URL: \${{ steps.kept.outputs.artifact-url }}
`;
}
