import type { Command } from 'commander';

/**
 * The arguments, without `--help` where a word is not a command: commander would print the help of what is above, and not say
 * that there is no such command.
 */
export const withoutUselessHelp = (program: Command, argv: readonly string[]): string[] =>
  argv.filter((word) => !['-h', '--help'].includes(word) || !namesUnknown(program, argv));

/** Whether a word stands where a command should. */
function namesUnknown(command: Command, [word, ...rest]: readonly string[]): boolean {
  if (word === undefined || word.startsWith('-') || word === 'help') return false;
  const called = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
  if (called) return namesUnknown(called, rest);
  return command.commands.length > 0 && command.registeredArguments.length === 0;
}
