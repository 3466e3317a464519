import { readdir } from 'node:fs/promises';
import { drivenAgents } from '@whetstone/agents/config';
import { errorTable } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Argument, Command, Option } from 'commander';
import { findRun } from '../record/find-run.ts';
import { readRun } from '../record/read-run.ts';
import { plainText } from '../report/sanitize.ts';
import { openConfig } from './find-config.ts';
import { outputDirectoryOf } from './report.ts';

/** What can follow the words of a command line. */
type Candidate = { value: string; description?: string };

/** Where the last word stands: the command, what came before it, and the option whose value it is. */
type TypedSoFar = {
  command: Command;
  positional: string[];
  config: string | undefined;
  option: Option | undefined;
};

/**
 * Prints what the last of the words can become, for the completion of a shell: names of commands and options from the
 * commands themselves, and ids from the config and the runs. Prints nothing where only the name of a file can follow.
 */
export async function completeCommand(
  program: Command,
  words: readonly string[],
  stdout: NodeJS.WritableStream,
): Promise<0> {
  const before = words.slice(0, -1).filter((word) => word !== '='); // bash splits words there
  const last = words.at(-1) ?? '';
  const current = last === '=' ? '' : last;
  // A config or a run that cannot be read has nothing to offer.
  const candidates = await candidatesAt(placeOf(program, before), current).catch(() => []);
  for (const { value, description = '' } of candidates) {
    if (!value.startsWith(current) || plainText(value) !== value) continue;
    stdout.write(`${value}\t${description.replace(/\s+/g, ' ')}\n`);
  }
  return 0;
}

function placeOf(program: Command, before: readonly string[]): TypedSoFar {
  const place: TypedSoFar = { command: program, positional: [], config: undefined, option: undefined };
  for (const word of before) {
    const { option, command } = place;
    place.option = undefined;
    if (option) {
      if (option.long === '--config') place.config = word;
      continue;
    }
    if (word.startsWith('-')) {
      const named = command.options.find(({ long, short }) => word === long || word === short);
      place.option = named && (named.required || named.optional) ? named : undefined;
      continue;
    }
    const sub = visible(command).find((one) => one.name() === word);
    if (sub) place.command = sub;
    else place.positional.push(word);
  }
  return place;
}

const visible = (command: Command): readonly Command[] => command.createHelp().visibleCommands(command);

async function candidatesAt(place: TypedSoFar, current: string): Promise<Candidate[]> {
  const { command, positional, option } = place;
  if (option) return valuesOf(option.argChoices, option.attributeName(), place);
  if (current.startsWith('-')) {
    const options = command.createHelp().visibleOptions(command);
    return options.flatMap(({ long, description }) => (long ? [{ value: long, description }] : []));
  }
  const commands = visible(command).map((sub) => ({ value: sub.name(), description: sub.description() }));
  const argument: Argument | undefined =
    command.registeredArguments[positional.length] ??
    command.registeredArguments.findLast(({ variadic }) => variadic);
  if (!argument) return positional.length === 0 ? commands : [];
  return [...commands, ...(await valuesOf(argument.argChoices, argument.name(), place))];
}

/** The values of an option or an argument, by its name. */
async function valuesOf(
  choices: readonly string[] | undefined,
  name: string,
  place: TypedSoFar,
): Promise<Candidate[]> {
  if (choices) return choices.map((value) => ({ value }));
  return (await FINDERS[name]?.(place)) ?? [];
}

const FINDERS: Readonly<Record<string, (place: TypedSoFar) => Promise<Candidate[]>>> = {
  agent: async (place) => {
    const command = place.command.name();
    if (TAKE_KINDS.includes(command)) return agentKinds();
    const config = configAt(place);
    // Without a config, the agents of `try` are kinds as well.
    if (command === 'try' && !(await config.catch(() => undefined))) return agentKinds();
    return (await config).agents.map(({ name, kind }) => ({ value: name, description: kind }));
  },
  kind: async () => agentKinds(),
  variant: async (place) =>
    (await configAt(place)).variants.map(({ name, description }) => ({ value: name, description })),
  taskId: taskIds,
  task: taskIds,
  category: async (place) => named((await configAt(place)).tasks.map(({ category }) => category)),
  difficulty: async (place) => named((await configAt(place)).tasks.map(({ difficulty }) => difficulty)),
  resume: runIds,
  run: runIds,
  bridge: runIds,
  from: runIds,
  'run|config': runIds,
  a: runIds,
  b: runIds,
  case: async ({ config, positional: [run = ''] }) => {
    const { manifest } = await readRun(await findRun(run, await outputDirectoryOf(config)));
    return named(manifest.case_matrix.map(({ case_id: id }) => id));
  },
  code: async () =>
    Object.entries(errorTable).map(([value, { meaning }]) => ({ value, description: meaning })),
};

/** Commands whose `--agent`, or argument of that name, is a kind: that of others is an agent of the config. */
const TAKE_KINDS: readonly string[] = ['exp', 'install'];

const agentKinds = (): Candidate[] =>
  Object.entries(drivenAgents).map(([value, { release }]) => ({ value, description: release.package }));

const named = (values: readonly (string | undefined)[]): Candidate[] =>
  [...new Set(values)].flatMap((value) => (value === undefined ? [] : [{ value }]));

async function configAt({ config }: TypedSoFar) {
  return (await openConfig(present({ config }))).loaded.config;
}

async function taskIds(place: TypedSoFar): Promise<Candidate[]> {
  return (await configAt(place)).tasks.map(({ id, title = '' }) => ({ value: id, description: title }));
}

/** The newest first, as a user wants them. */
async function runIds({ config }: TypedSoFar): Promise<Candidate[]> {
  const folder = await outputDirectoryOf(config);
  const ids = (await readdir(folder).catch(() => [])).filter((id) => /^\d{8}-\d{6,9}-/.test(id));
  return named(['latest', ...ids.sort().reverse()]);
}
