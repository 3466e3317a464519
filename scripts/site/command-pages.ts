import { examplesOf } from '../../packages/whetstone/src/cli/example-commands.ts';
import type { createProgram } from '../../packages/whetstone/src/cli/main.ts';
import { codeCell, proseText, table } from './markdown.ts';

type Command = ReturnType<typeof createProgram>;

/** A page of the site that is made, by its path below the root, such as `commands/ci-run.md`. */
export type MadePage = { path: string; title: string; text: string };

/** One page per command, from the program whose `--help` it is. Hidden commands have none. */
export function commandPages(program: Command): MadePage[] {
  return below(program, []).map(({ command, words }) => ({
    path: pathOf(words),
    title: words.join(' '),
    text: pageOf(command, words),
  }));
}

type Found = { command: Command; words: string[] };

/** Every command below this one, in the order of the help. */
function below(command: Command, words: readonly string[]): Found[] {
  return visible(command).flatMap((one) => {
    const own = [...words, one.name()];
    return [{ command: one, words: own }, ...below(one, own)];
  });
}

/** The commands that `--help` lists, without `help` itself. */
const visible = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');

const pathOf = (words: readonly string[]): string => `commands/${words.join('-')}.md`;

function pageOf(command: Command, words: readonly string[]): string {
  const help = command.createHelp();
  const name = words.join(' ');
  const commands = visible(command);
  const { code, prose } = partsOf(examplesOf(name) ?? '');
  return [
    `# whetstone ${name}`,
    '',
    `${sentence(help.commandDescription(command))}`,
    '',
    '```sh',
    help.commandUsage(command),
    '```',
    ...section(
      'Commands',
      table(
        ['Command', 'What it does'],
        commands.map((one) => [
          `[\`${name} ${one.name()}\`](${[...words, one.name()].join('-')}.md)`,
          proseText(help.subcommandDescription(one)),
        ]),
      ),
    ),
    ...section(
      'Arguments',
      table(
        ['Argument', 'What it is'],
        help
          .visibleArguments(command)
          .map((one) => [codeCell(help.argumentTerm(one)), proseText(help.argumentDescription(one))]),
      ),
    ),
    ...section(
      'Options',
      table(
        ['Option', 'What it does'],
        help
          .visibleOptions(command)
          .map((one) => [codeCell(help.optionTerm(one)), proseText(help.optionDescription(one))]),
      ),
    ),
    ...(code === '' ? [] : ['', '## Examples', '', '```sh', code, '```']),
    ...(prose === '' ? [] : ['', proseText(prose)]),
    '',
    `Made from \`whetstone ${name} --help\`. [All commands](../cli.md)`,
    '',
  ].join('\n');
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines];

/** Lines of a shell are indented, and prose is not. */
function partsOf(examples: string): { code: string; prose: string } {
  const lines = examples.split('\n');
  return {
    code: lines
      .filter((line) => line.startsWith('  '))
      .map((line) => line.slice(2))
      .join('\n'),
    prose: lines.filter((line) => line !== '' && !line.startsWith('  ')).join(' '),
  };
}

const sentence = (text: string): string => proseText(`${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`);
