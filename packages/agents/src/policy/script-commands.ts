import { type CommandWord, readScript } from '../command/simple-commands.ts';
import { UNKNOWN } from './text-pattern.ts';

/** One program that a script starts, as rules see it. */
export type ScriptCommand = {
  /** The words, assignments before the program included; `UNKNOWN` where the shell would replace something. */
  words: readonly string[];
  /** The index of the program in the words. Where only variables are set, that is their number. */
  program: number;
  /** The files that its redirections write. */
  writes: readonly string[];
  /** Whether an allowed script needs it to be allowed: another command may say all of it. */
  isNeeded: boolean;
};

export type ScriptCommands = {
  commands: ScriptCommand[];
  /** False where a part could not be read, so that it may start something else. */
  isWhole: boolean;
};

/** Every command that a shell script may start. */
export function commandsIn(script: string): ScriptCommands {
  const { commands, isWhole } = readScript(script);
  return {
    commands: commands.map(({ assignments, words, redirections, isCovered }) => ({
      words: [...assignments, ...words].map(known),
      program: assignments.length,
      writes: redirections.filter(({ isOutput }) => isOutput).map(known),
      isNeeded: !isCovered,
    })),
    isWhole,
  };
}

function known({ text, isReplaced }: CommandWord): string {
  if (!isReplaced) return text;
  const start = text.search(/[$`*?[{~]/);
  return `${start < 0 ? '' : text.slice(0, start)}${UNKNOWN}`;
}
