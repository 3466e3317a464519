import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { agentKeyVariable } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { makeEach } from '@whetstone/sandbox/files';
import { canaryWorkflow } from '../ci/canary-workflow.ts';
import { contextPatterns } from '../ci/context-patterns.ts';
import { githubWorkflow, type WorkflowFacts } from '../ci/github-workflow.ts';
import { gitlabPipeline } from '../ci/gitlab-pipeline.ts';
import type { Config } from '../config/config.ts';
import { unwritable } from '../record/unwritable.ts';
import { escapedJson } from '../report/json.ts';
import { openRepository } from '../workspace/repository.ts';
import { openConfig } from './find-config.ts';
import type { Streams } from './streams.ts';

export type CiOptions = {
  config?: string;
  trials: number;
  jobs: number;
  budget?: number;
  out?: string;
  force?: boolean;
  json?: boolean;
};

const secretsLine = ({ variables }: WorkflowFacts): string =>
  variables.length === 0
    ? 'The agents of the config need no key.'
    : `Set ${variables.join(', ')} as secrets of the repository (Settings, Secrets and variables, Actions).`;

/** Writes the workflow for GitHub Actions. @throws WhetstoneError `file-exists`, `output-unwritable` */
export const githubCommand = (options: CiOptions, streams: Pick<Streams, 'stdout'>): Promise<number> =>
  write(options, streams, '.github/workflows/whetstone.yaml', githubWorkflow, [
    secretsLine,
    () => 'Commit the file. A pull request that changes what agents read then starts it.',
  ]);

/** Writes the job for GitLab CI. @throws WhetstoneError `file-exists`, `output-unwritable` */
export const gitlabCommand = (options: CiOptions, streams: Pick<Streams, 'stdout'>): Promise<number> =>
  write(options, streams, '.gitlab/whetstone.yml', gitlabPipeline, [
    () => 'Include it in .gitlab-ci.yml: include: [{ local: .gitlab/whetstone.yml }]',
    ({ variables }) =>
      `Set ${[...variables, 'WHETSTONE_GITLAB_TOKEN'].join(', ')} as masked variables of the project (Settings, CI/CD).`,
  ]);

/** Writes the workflow that plays a night of the canary on GitHub Actions. @throws WhetstoneError `file-exists`, `output-unwritable` */
export const canaryWorkflowCommand = (
  options: CiOptions,
  streams: Pick<Streams, 'stdout'>,
): Promise<number> =>
  write(options, streams, '.github/workflows/whetstone-canary.yaml', canaryWorkflow, [
    secretsLine,
    () =>
      'Commit the file to the default branch, and start it once by hand with "start": that runs the baseline.',
  ]);

async function write(
  options: CiOptions,
  { stdout }: Pick<Streams, 'stdout'>,
  usual: string,
  render: (facts: WorkflowFacts, patterns: readonly string[]) => string,
  next: readonly ((facts: WorkflowFacts) => string)[],
): Promise<number> {
  const { facts, root } = await workflowFacts(options);
  const file = options.out === undefined ? join(root, usual) : resolve(options.out);
  await writeNew(file, render(facts, contextPatterns()), options.force ?? false);
  const shown = relative(process.cwd(), file);
  const steps = next.map((say) => say(facts));
  stdout.write(
    options.json
      ? escapedJson({ written: [shown], secrets: facts.variables, next: steps })
      : [`Wrote ${shown}`, ...steps, ''].join('\n'),
  );
  return 0;
}

/** What a workflow needs to know of a config. */
export async function workflowFacts(
  options: Pick<CiOptions, 'config' | 'trials' | 'jobs' | 'budget'>,
): Promise<{ facts: WorkflowFacts; root: string; config: Config }> {
  const { config } = (await openConfig(options)).loaded;
  const { workTree: root } = await openRepository(dirname(config.file));
  const path = relative(root, config.file).split(sep).join('/');
  const released = config.agents.filter(({ runner }) => runner === 'driver');
  return {
    facts: {
      config: path,
      agents: [...new Set(released.map(installable))],
      variables: callsModels(config)
        ? [...new Set(config.agents.flatMap((agent) => agentKeyVariable(agent) ?? []))]
        : [],
      ...{ trials: options.trials, jobs: options.jobs },
      ...present({ budget: options.budget }),
    },
    ...{ root, config },
  };
}

/** Scripts and recordings need no key. */
const callsModels = ({ gateway }: Config): boolean =>
  gateway?.mode !== 'script' && gateway?.mode !== 'replay';

/** `KIND@VERSION` where the config names a version. */
function installable(agent: Config['agents'][number]): string {
  const version = agent.runner === 'driver' ? agent.driver.version : undefined;
  return version === undefined ? agent.kind : `${agent.kind}@${version}`;
}

/** Writes a file that does not exist yet. */
export async function writeNew(file: string, text: string, force: boolean): Promise<void> {
  if (existsSync(file) && !force) {
    throw new WhetstoneError('file-exists', 'This file exists already.', {
      where: file,
      hint: 'Write to another file with --out, or overwrite it with --force.',
    });
  }
  try {
    makeEach(dirname(file));
    await writeFile(file, text, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    throw unwritable('The file', file, cause, 'Give --out a file in a folder that you may write to.');
  }
}
