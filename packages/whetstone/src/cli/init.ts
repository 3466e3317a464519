import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { COMMAND_VARIABLES, commandProblems, instructionsRead } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { makeEach } from '@whetstone/sandbox/files';
import { withDotEnv } from '../config/dot-env.ts';
import {
  additionalFiles,
  type Choices,
  installedSchemas,
  type Places,
  starterFiles,
} from '../init/starter-files.ts';
import { canSignIn, lookAround, type Surroundings } from '../init/surroundings.ts';
import { unwritable } from '../record/unwritable.ts';
import { openRepository, resolveCommit } from '../workspace/repository.ts';
import { describeAgent } from './describe-agent.ts';
import { configAbove } from './find-config.ts';
import { ignoreRuns } from './ignore-runs.ts';

export type InitOptions = {
  /** Where the files go; relative to `cwd`. */
  directory: string;
  /** The Git repository to evaluate on; relative to `cwd`. Default: the one that the directory is in. */
  repoPath?: string;
  /** Default: the agents that are here with a key or a login, else a stand-in that needs no agent and no key. */
  agentCommand?: string;
  /** Write presets of commands for several agents. */
  agentProfiles?: boolean;
  /** Also write a workflow for GitHub Actions. */
  ci?: boolean;
  /** Ask nothing, even on a terminal. */
  yes?: boolean;
  /** Overwrite the config, the tasks and the contexts. */
  force?: boolean;
  json?: boolean;
};

/** The standard streams, as far as questions need them. */
type InitStreams = { stdin: Readable & { isTTY?: boolean }; stdout: Writable & { isTTY?: boolean } };

/**
 * Looks at the repository and the machine, asks on a terminal, and writes a starter config that loads as it stands.
 * Returns 0, or 130 if the person who was asked stopped.
 * @throws WhetstoneError `init-exists`, when a file exists and `force` is not set; `repo-missing`, `repo-bare`, `template-invalid`;
 * then nothing is written. `output-unwritable`
 */
export async function initCommand(
  options: InitOptions,
  streams: InitStreams,
  { cwd, env } = { cwd: process.cwd(), env: process.env },
): Promise<number> {
  const { stdin, stdout } = streams;
  requireTemplate(options.agentCommand);
  const directory = resolve(cwd, options.directory);
  const repository = await repositoryOf(options.repoPath && resolve(cwd, options.repoPath), directory, cwd);
  const found = await lookAround(repository, await withDotEnv(directory, env));
  const suggested = suggestedChoices(options, found);
  const asks = stdin.isTTY && stdout.isTTY && !options.yes && !options.json;
  const choices = asks
    ? await (await import('./init-questions.ts')).askForChoices(found, suggested, {
        input: stdin,
        output: stdout,
      })
    : suggested;
  if (!choices) {
    stdout.write('Nothing was written.\n');
    return 130;
  }
  const places = placesOf(directory, repository);
  const above = existsSync(join(directory, 'whetstone.yaml')) ? undefined : configAbove(directory);
  const written = await writeStarter(directory, choices, found, places, options.force ?? false);
  await ignoreRuns(directory);
  const shown = (names: readonly string[]) => names.map((name) => relativeTo(cwd, join(directory, name)));
  if (options.json) {
    stdout.write(`${JSON.stringify(asJson(shown(written.made), shown(written.kept), found), null, 2)}\n`);
    return 0;
  }
  const config = relativeTo(cwd, join(directory, 'whetstone.yaml'));
  const named = config === 'whetstone.yaml' ? '' : ` -c ${config}`;
  stdout.write(
    [
      ...describeFound(found),
      ...shown(written.made).map((name) => `Wrote ${name}`),
      ...shown(written.kept).map((name) => `Kept ${name}, which exists`),
      ...(above === undefined
        ? []
        : [
            `Without -c, commands in ${folderName(cwd, directory)} now use this config, and no longer ${relativeTo(cwd, above)}.`,
          ]),
      ...hints(choices, found),
      ...(await firstCommit(repository)),
      ...((await isIgnored(directory, '.env'))
        ? []
        : ['Add .env to .gitignore before you put a key into it.']),
      '',
      'Next:',
      `  whetstone validate-config --strict --check-agents${named}`,
      `  whetstone run${named}`,
      '',
    ].join('\n'),
  );
  return 0;
}

/** @throws WhetstoneError `template-invalid` */
function requireTemplate(script: string | undefined): void {
  // What the config that is written can fill in: it has no collector and no gateway.
  const known = COMMAND_VARIABLES.filter((name) => !/^(?:telemetry|gateway)_/.test(name));
  const [found] = script === undefined ? [] : commandProblems({ kind: 'shell', script }, known);
  if (!found) return;
  const { message, hint } = found.problem;
  throw new WhetstoneError('template-invalid', message, { where: '--agent-command', hint });
}

/** A folder that is not in a repository yet is taken as it is. */
async function repositoryOf(named: string | undefined, directory: string, cwd: string): Promise<string> {
  if (named) {
    if (statSync(named, { throwIfNoEntry: false })?.isDirectory()) return named;
    throw new WhetstoneError('repo-missing', 'This folder does not exist.', {
      where: named,
      hint: 'Give --repo-path the folder of a Git repository.',
    });
  }
  const start = existsSync(directory) ? directory : cwd;
  const opened = await openRepository(start).catch((error: unknown) => {
    // The files would be among those of Git.
    if (error instanceof WhetstoneError && error.code !== 'repo-bare') return undefined;
    throw error;
  });
  return opened?.workTree ?? cwd;
}

/** What a run needs, where it is missing. */
const firstCommit = (repository: string): Promise<string[]> =>
  resolveCommit(repository, 'HEAD').then(
    () => [],
    () => ['A run needs a Git repository with a commit: git init && git add --all && git commit'],
  );

const folderName = (cwd: string, folder: string): string =>
  folder === cwd ? 'this folder' : relativeTo(cwd, folder);

function suggestedChoices({ agentCommand, agentProfiles, ci }: InitOptions, found: Surroundings): Choices {
  const presets = agentProfiles ?? false;
  const own = agentCommand !== undefined || presets;
  const ready = found.agents.filter(canSignIn).map(({ kind }) => kind);
  return {
    agents: own ? [] : ready,
    presets,
    prepares: false,
    ci: ci ?? false,
    ...present({ command: agentCommand, testCommand: found.tests[0]?.command }),
  };
}

function placesOf(directory: string, repository: string): Places {
  const levels = [directory];
  for (let level = directory; level !== dirname(level); level = dirname(level)) levels.push(dirname(level));
  const schemas = installedSchemas(levels);
  const configFolder = relativeTo(repository, directory);
  return {
    repository: relativeTo(directory, repository),
    // A package that is elsewhere on this machine is nowhere on another one, so the config gets copies.
    schemas: schemas === undefined ? OWN_SCHEMAS : relativeTo(directory, schemas),
    ...(!configFolder.startsWith('..') && { configFolder }),
  };
}

const OWN_SCHEMAS = '.whetstone/schema';

async function writeStarter(
  directory: string,
  choices: Choices,
  found: Surroundings,
  places: Places,
  force: boolean,
): Promise<{ made: string[]; kept: string[] }> {
  const files = starterFiles(choices, found, places);
  const existing = Object.keys(files).filter((name) => existsSync(join(directory, name)));
  if (existing.length > 0 && !force) {
    throw new WhetstoneError('init-exists', `These files exist already: ${existing.join(', ')}`, {
      where: directory,
      hint: 'Choose another --directory, or overwrite them with --force.',
    });
  }
  const additional = Object.entries(additionalFiles(choices, found, places));
  const missing = additional.filter(([name]) => !existsSync(join(directory, name)));
  const made = [...Object.entries(files), ...missing];
  try {
    for (const [name, content] of made) {
      makeEach(dirname(join(directory, name)));
      await writeFile(join(directory, name), content);
    }
    if (places.schemas === OWN_SCHEMAS) {
      const shipped = new URL('../../schema', import.meta.url);
      await cp(shipped, join(directory, OWN_SCHEMAS), { recursive: true });
    }
  } catch (cause) {
    const hint = 'Give --directory a folder that you may write to.';
    throw unwritable('The folder', directory, cause, hint);
  }
  const names = (entries: readonly [string, string][]) => entries.map(([name]) => name);
  return { made: names(made), kept: names(additional).filter((name) => !names(missing).includes(name)) };
}

function describeFound({ repository, tests, preparations, agents, instructions }: Surroundings): string[] {
  const list = (words: readonly string[]) => (words.length === 0 ? 'none' : words.join(', '));
  return [
    `Repository    ${repository}`,
    `Tests         ${list(tests.map(({ command, from }) => `${command} (${from})`))}`,
    `Packages      ${list(preparations.slice(0, 1).map(({ commands, from }) => `${commands.join(' && ')} (${from})`))}`,
    `Instructions  ${list(instructions)}`,
    ...(agents.length === 0
      ? ['Agents        none: whetstone agents install KIND']
      : agents.map(
          (agent, index) =>
            `${index === 0 ? 'Agents' : '      '}        ${agent.kind}: ${describeAgent(agent)}`,
        )),
    '',
  ];
}

/** What the first run would otherwise show too late. */
function hints(choices: Choices, { agents, instructions }: Surroundings): string[] {
  const chosen = agents.filter(({ kind }) => choices.agents.includes(kind));
  const standsIn = chosen.length === 0 && choices.command === undefined && !choices.presets;
  const [other] = agents;
  if (standsIn) {
    return [
      'The agent is a stand-in that needs no key: it copies the task into NOTES.md.',
      other === undefined
        ? 'Put yours into whetstone.yaml.'
        : `To measure ${other.kind}: ${canSignIn(other) ? '' : `put ${other.key.variable} into .env, or sign in. Then `}whetstone init --force.`,
    ];
  }
  return chosen.flatMap((here) => {
    const { kind, agent, key } = here;
    const { instructions: own, reads } = agent.facts;
    return [
      ...(canSignIn(here) ? [] : [`${kind} needs ${key.variable}: set it, or put it into .env.`]),
      ...(instructions.length > 0 && instructionsRead(reads ?? [], new Set(instructions)).length === 0
        ? [`${kind} reads ${own}, which is not here: check with "whetstone show" what it saw of a variant.`]
        : []),
    ];
  });
}

/** Whether Git leaves a file out of commits. True outside of a repository. */
async function isIgnored(directory: string, file: string): Promise<boolean> {
  const args = ['-C', directory, 'check-ignore', '--quiet', file];
  return await promisify(execFile)('git', args).then(
    () => true,
    // 1 is the answer "no"; anything else means that git could not answer.
    (error: { code?: unknown }) => error.code !== 1,
  );
}

function asJson(
  written: string[],
  kept: string[],
  { repository, tests, preparations, agents, instructions }: Surroundings,
) {
  return {
    written,
    kept,
    found: {
      repository,
      tests,
      preparations: preparations.map(({ commands, from, inputs = null }) => ({ commands, from, inputs })),
      instructions,
      agents: agents.map(({ kind, onPath, installed, key, login }) => ({
        kind,
        on_path: onPath,
        installed_versions: installed,
        key_variable: key.variable,
        key_is_set: key.isSet,
        login,
      })),
    },
  };
}

function relativeTo(from: string, to: string): string {
  return (relative(from, to) || '.').split(sep).join('/');
}
