import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Command, runCommandIn } from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import type { CommandResult, Mask, Sandbox } from '@whetstone/sandbox';
import type { CommandRow } from '../record/row.ts';
import { hiddenProgram } from './hidden-program.ts';

/** The limit of each validation command, and of the tests, where the task states none, in seconds. */
export const VALIDATION_LIMIT_SECONDS = 3600;

/** A command of the configuration that has run: the part that the row keeps, and the whole result. */
export type RanCommand = {
  row: CommandRow;
  result: CommandResult;
  /** The end of a sentence. Absent: what it printed says all. */
  reason?: string;
};

/** Runs commands one after the other. The output of each goes to two files in `directory`. */
export async function runCommands(
  sandbox: Sandbox,
  commands: readonly Command[],
  options: {
    directory: string;
    /** Start of the names of the log files. */
    prefix: string;
    stopAtFailure: boolean;
    /** Called before each command except the first. */
    between?: () => Promise<void>;
    /** Called before each command. Returns variables to add to the environment of the sandbox. */
    env?: () => Promise<Record<string, string>>;
    timeoutMs?: number;
    /** The commands have the network of this machine, also in a sealed sandbox. */
    network?: 'open';
    /** The variables of `env` that name files of this machine which the commands may read. */
    lend?: readonly string[];
    /** Applied to the logs and to the result. */
    mask: Mask;
    signal: AbortSignal;
  },
): Promise<RanCommand[]> {
  if (commands.length > 0) mkdirSync(options.directory, { recursive: true });
  const ran: RanCommand[] = [];
  for (const [index, command] of commands.entries()) {
    if (index > 0) await options.between?.();
    const file = (stream: string) => join(options.directory, `${options.prefix}-${index}.${stream}.log`);
    const env = await options.env?.();
    const result = await runCommandIn(sandbox, command, {
      ...present({ env }),
      signal: options.signal,
      mask: options.mask,
      stdoutFile: file('stdout'),
      stderrFile: file('stderr'),
      ...present({ timeoutMs: options.timeoutMs, network: options.network, lend: options.lend }),
    });
    ran.push({
      result,
      ...present({ reason: hiddenProgram(sandbox, result) }),
      row: {
        command: commandText(command),
        exit_code: result.exitCode,
        duration_seconds: result.durationMs / 1000,
        ended: result.ended,
        stdout_path: `${basename(options.directory)}/${basename(file('stdout'))}`,
        stderr_path: `${basename(options.directory)}/${basename(file('stderr'))}`,
      },
    });
    if (options.stopAtFailure && !succeeded(result)) break;
  }
  return ran;
}

export const commandText = (command: Command): string =>
  command.kind === 'shell' ? command.script : command.argv.join(' ');

export const succeeded = (result: CommandResult): boolean => result.ended === 'exit' && result.exitCode === 0;

/** One sentence: the command, how it ended, and the most telling line of its output. */
export function describeResult({ row, result, reason }: RanCommand): string {
  const how = {
    timeout: `was stopped after ${Math.round(row.duration_seconds)} s`,
    abort: 'was aborted',
    exit: `exited ${row.exit_code}`,
  }[result.ended];
  return `\`${row.command}\` ${how}${tellingLine(result)}${reason === undefined ? '' : `, ${reason}`}`;
}

/** How test runners, compilers and npm start the line that names the failure. */
const TELLING =
  /^\s*(npm error (?!code |path |errno |command failed|A complete log)\S|not ok\b|✖|✗|×|FAIL(ED)?\b|E\s{2,}|error\b|ERR(OR|_PNPM_\w+)\b|.{0,80}\b\w*Error\b:)/;

/** The time that a test took, at the end of its line. It differs from run to run, and reports group equal evidence. */
const TIME_TAKEN = / \(\d+(?:\.\d+)? ?m?s\)\s*$|(?<=^\s*[✖✗×].*) \d+ms\s*$/;

/** Of pip around the output of a program that failed, and below it. What the program itself printed is what tells. */
const OF_PIP =
  /^\s*(error: subprocess-exited-with-error|× .* did not run successfully\.|│ exit code: |╰─> |\[end of output\]|note: This (error|is an issue) |\[notice\] )/;

/** A runner that colours its lines starts them with a control sequence, and some end with one on a line of its own. */
const linesOf = (text: string): string[] =>
  stripVTControlCharacters(text)
    .split('\n')
    .filter((line) => line.trim() !== '' && !OF_PIP.test(line));

/** The most telling line of the output, in parentheses: the first that looks like a failure, else the last line. */
export function tellingLine({ stdout, stderr }: Pick<CommandResult, 'stdout' | 'stderr'>): string {
  const lines = linesOf(`${stdout}\n${stderr}`);
  const line = (lines.find((candidate) => TELLING.test(candidate)) ?? lines.at(-1))?.replace(TIME_TAKEN, '');
  return line ? ` (${Array.from(line.trim()).slice(0, 160).join('')})` : '';
}

const KEPT_LINES = 5;
/** In code points. */
const KEPT_LENGTH = 200;

/** Node ends with the stack of an error, and the message above it is what tells. */
const OF_STACK = /^\s+at \S|^Node\.js v\d/;

/**
 * The last lines of what a command printed as errors, or, where it printed none, of its output. Long lines are cut; those of a
 * stack are left out.
 */
export function lastLines({ stdout, stderr }: Pick<CommandResult, 'stdout' | 'stderr'>): string[] {
  const lines = linesOf(stderr.trim() === '' ? stdout : stderr).filter((line) => !OF_STACK.test(line));
  return lines.slice(-KEPT_LINES).map((line) => Array.from(line.trimEnd()).slice(0, KEPT_LENGTH).join(''));
}
