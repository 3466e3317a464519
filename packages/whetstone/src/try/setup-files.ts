import { writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { contextPlacesOf, toAgentConfig } from '@whetstone/agents/config';
import type { AgentHere } from '@whetstone/agents/install';
import { present } from '@whetstone/events/present';
import { makeEach } from '@whetstone/sandbox/files';
import { stringify } from 'yaml';
import type { Arms } from './arms.ts';
import type { Subject } from './subject.ts';

/** Where the configuration and the tasks of a comparison are written. */
export type SetupFiles = { config: string; tasks: string };

/** What a configuration for a repository without one is made from. */
export type SetupChoices = {
  repository: string;
  /** Agents by name, as the keys of a configuration. */
  agents: Record<string, Record<string, unknown>>;
  arms: Arms;
  /** The folder of the tasks, absolute. */
  tasks: string;
  /** Its keys. Absent: nothing is prepared. */
  environment?: object;
  /** Whether a gateway counts the model calls. */
  hasGateway: boolean;
  /** US dollars. */
  budget?: number;
};

/** Writes a configuration that `whetstone run -c` takes as it is. */
export async function writeSetup(folder: string, choices: SetupChoices): Promise<SetupFiles> {
  const { repository, agents, arms, environment, hasGateway, budget } = choices;
  const files = { config: join(folder, 'whetstone.yaml'), tasks: join(folder, 'tasks.yaml') };
  const from = (path: string) => (relative(folder, path) || '.').split(sep).join('/');
  makeEach(folder);
  await writeFile(files.tasks, `${NOTE}${stringify({ include: [from(choices.tasks)] })}`);
  const config = {
    repo: { path: from(repository) },
    agents,
    tasks: 'tasks.yaml',
    baseline: arms.baseline,
    variants: JSON.parse(JSON.stringify(arms.variants), (_, value) =>
      isIn(folder, value) ? `./${from(value)}` : value,
    ),
    ...present({ environment }),
    ...(hasGateway && {
      gateway: { mode: 'forward', ...(budget !== undefined && { run_budget: { usd: budget } }) },
    }),
    output_dir: from(join(repository, '.whetstone/runs')),
  };
  await writeFile(files.config, `${NOTE}${stringify(config)}`);
  return files;
}

const isIn = (folder: string, value: unknown): value is string =>
  typeof value === 'string' && value.startsWith(`${folder}${sep}`);

const NOTE = `# Written by \`whetstone try\`, which writes it anew each time. To change it, make a copy of this folder beside it, and
# run that: whetstone run -c COPY/whetstone.yaml
`;

/** A released agent as the keys of a configuration, with the user's own login where no key is set. */
export function agentKeys(here: AgentHere, model: string | undefined): Record<string, unknown> {
  return {
    kind: here.kind,
    ...(usesLogin(here) && { auth: 'login' }),
    ...present({ model }),
  };
}

const usesLogin = ({ key, login }: AgentHere): boolean => !key.isSet && login !== null;

/** Why an agent of this machine cannot try the subject with what is known of it; `undefined`: it can. */
export function whyNot(here: AgentHere, subject: Subject, model: string | undefined): string | undefined {
  const { kind, key, login, agent } = here;
  if (subject.kind === 'skill' && contextPlacesOf(toAgentConfig({ kind })).skills === undefined)
    return 'takes no skills';
  if (!key.isSet && login === null) return `${key.variable} is not set, and no login was found`;
  if (agent.release.needsModel !== undefined && !usesLogin(here) && model === undefined)
    return 'needs --model';
  return undefined;
}
