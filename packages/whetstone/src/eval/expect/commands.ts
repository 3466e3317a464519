import {
  type CommandWord,
  pathsIn,
  programOf,
  readScript,
  type SimpleCommand,
} from '@whetstone/agents/tool-calls';
import { shellCommand } from '@whetstone/events/reading';
import picomatch from 'picomatch';
import { requireKeys, requireList, requirePattern, requirePatterns } from './arguments.ts';
import { allOf, anyOf } from './logic.ts';
import { far, type Match, type Matcher, matched, matchIf, mismatched, unavailable } from './matcher.ts';
import type { TextPattern, ToolCall } from './patterns.ts';
import { show } from './show.ts';
import { fits } from './texts.ts';

export type CommandConditions = {
  /** The first arguments, in order. */
  argsStart?: readonly TextPattern[];
  /** Arguments anywhere, in any order. */
  args?: readonly TextPattern[];
};

/**
 * A shell call that runs this program, wherever it stands in the command: behind `&&`, in `bash -lc '…'`, in a
 * substitution, behind `sudo`. The command is parsed, so that `echo "rm x"` does not run `rm`. A program or argument that
 * only the shell knows (`$CMD x`) makes the match unavailable.
 */
export function commandMatch(program: TextPattern, conditions: CommandConditions = {}): Matcher<ToolCall> {
  requirePattern('commandMatch()', program);
  requireKeys('commandMatch()', conditions, ['argsStart', 'args']);
  requirePatterns('commandMatch(): argsStart', conditions.argsStart);
  requirePatterns('commandMatch(): args', conditions.args);
  const isPlain = Object.keys(conditions).length === 0;
  return {
    label: `commandMatch(${show(program)}${isPlain ? '' : `, ${show(conditions)}`})`,
    match(call) {
      const commands = commandsOf(call);
      if (!commands) return far(`"${call.name}" does not run a shell command`);
      if (commands.length === 0) return mismatched('the command is empty');
      const match = anyOf(commands.map((command) => matchCommand(command, program, conditions)));
      return match.status === 'mismatched' ? mismatched(`the command runs ${programs(commands)}`) : match;
    },
  };
}

/** Parsing costs more than matching, and several assertions look at the same calls. By the text of the command. */
const parsed = new Map<string, SimpleCommand[]>();
const MOST_PARSED = 1000;

/** The programs that a shell call runs; `undefined` for other tools. */
export function commandsOf(call: ToolCall): SimpleCommand[] | undefined {
  const command = shellCommand(call);
  if (!command) return undefined;
  const { value } = command;
  const text = typeof value === 'string' ? value : `\0${JSON.stringify(value)}`;
  const known = parsed.get(text);
  if (known) return known;
  const commands = readScript(value).commands.filter(({ isCertain }) => isCertain);
  if (parsed.size >= MOST_PARSED) parsed.clear();
  parsed.set(text, commands);
  return commands;
}

const programs = (commands: readonly SimpleCommand[]): string =>
  [...new Set(commands.flatMap((command) => programOf(command)?.text ?? []))].map(show).join(', ');

const OTHER_PROGRAM = mismatched('the command runs another program');

function matchCommand(
  command: SimpleCommand,
  program: TextPattern,
  { argsStart = [], args = [] }: CommandConditions,
): Match {
  const name = programOf(command);
  const words = command.words.slice(1);
  if (!name || (!name.isDynamic && !fits(name.text, program))) return OTHER_PROGRAM;
  const told = [name, ...words].map(({ text }) => text).join(' ');
  const wordMatch = (word: CommandWord | undefined, wanted: TextPattern): Match => {
    if (word && !word.isDynamic) return matchIf(fits(word.text, wanted), `the command is ${show(told)}`);
    return word ? onlyShellKnows(word) : mismatched(`the command is ${show(told)}`);
  };
  return allOf([
    wordMatch(name, program),
    ...argsStart.map((wanted, index) => wordMatch(words[index], wanted)),
    ...args.map((wanted) => anyOf(words.map((word) => wordMatch(word, wanted)))),
  ]);
}

const onlyShellKnows = ({ text }: CommandWord): Match =>
  unavailable(`only the shell knows the value of ${show(text)}`);

/** A call whose path, or a shell command in it, names a file that fits one of these globs. */
export function referencesAnyPath(globs: readonly string[]): Matcher<ToolCall> {
  requireList('referencesAnyPath()', globs, requirePattern);
  return {
    label: `referencesAnyPath(${show(globs)})`,
    match: (call) => anyOf(globs.map((glob) => matchPath(call, glob))),
  };
}

/**
 * Whether a call names a path. The pattern is a path or glob relative to the workspace, or an expression. Absolute paths
 * of the call fit by their end. In a shell command every word counts, because nobody knows which are paths.
 */
export function matchPath(call: ToolCall, wanted: TextPattern): Match {
  const isWanted = pathTest(wanted);
  const commands = commandsOf(call);
  if (!commands) {
    const paths = pathsIn(call.input);
    const path = paths.find(isWanted);
    return path === undefined
      ? (paths.length === 0 ? far : mismatched)(
          `the call names ${paths.map((each) => `"${each}"`).join(', ') || 'no path'}`,
        )
      : matched(`the call names ${show(path)}`);
  }
  return matchWords(
    commands.flatMap((command) => [...command.words.slice(1), ...command.redirections]),
    wanted,
  );
}

/** Whether one of these words of a shell command is the path, or may become it. */
export function matchWords(words: readonly CommandWord[], wanted: TextPattern): Match {
  const isWanted = pathTest(wanted);
  const hit = words.find((word) => !word.isDynamic && namesPath(word, wanted, isWanted));
  if (hit) return matched(`the command names ${show(hit.text)}`);
  const open = words.find((word) => word.isDynamic && mayName(word, wanted));
  return open ? onlyShellKnows(open) : mismatched('the command does not name the path');
}

const isGlobText = (text: string): boolean => /[*?[\]{}!()]/.test(text);

function namesPath({ text, isGlob }: CommandWord, wanted: TextPattern, isWanted: (path: string) => boolean) {
  if (isWanted(text) || isWanted(text.replace(/^-{1,2}[\w-]+=/, ''))) return true;
  // `cat secret/*` names every file in the folder.
  return isGlob && typeof wanted === 'string' && !isGlobText(wanted) && pathTest(text)(wanted);
}

/** Whether a word such as `$HOME/x.txt` may become the path: what is written out must stand in it. */
function mayName({ text }: CommandWord, wanted: TextPattern): boolean {
  if (typeof wanted !== 'string' || isGlobText(wanted)) return true;
  const literal = text.split(/\$\(.*\)|\$\{[^}]*\}|`[^`]*`|\$[\w@*-]+/s);
  const expression = literal.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*');
  return (
    new RegExp(`^${expression}$`, 's').test(wanted) || new RegExp(`${expression}$`, 's').test(`/${wanted}`)
  );
}

const tests = new Map<string, (path: string) => boolean>();
const MOST_TESTS = 1000;

/** Fits the whole path, or its end behind a `/`: agents write absolute paths as well as relative ones. */
export function pathTest(wanted: TextPattern): (path: string) => boolean {
  if (wanted instanceof RegExp) return (path) => fits(path, wanted);
  const known = tests.get(wanted);
  if (known) return known;
  const plain = wanted.replace(/^\.\//, '');
  const test = isGlobText(plain)
    ? picomatch(plain.startsWith('/') ? plain : [plain, `**/${plain}`], { dot: true })
    : (path: string) => path === plain || path.endsWith(plain.startsWith('/') ? plain : `/${plain}`);
  if (tests.size >= MOST_TESTS) tests.clear();
  tests.set(wanted, test);
  return test;
}
