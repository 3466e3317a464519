import type { TaskConfig } from '../config/config.ts';
import { hostileCommands } from '../testkit/attacks/hostile-commands.ts';
import { commandText } from '../verify/run-commands.ts';
import { type Finding, finding } from './finding.ts';

/** Finds commands of a task, which run with its rights on the machine of whoever judges it, that reach for more than the tree. */
export function unsafeCommands({ id, setup, validation, hardEvaluation }: TaskConfig): Finding[] {
  const commands = [
    ...setup,
    ...validation.commands,
    ...(hardEvaluation?.commandChecks ?? []).map(({ command }) => command),
  ].map(commandText);
  return commands.flatMap((command) =>
    hostileCommands
      .filter(([, looks]) => looks.test(command))
      .map(([what]) =>
        finding('unsafe-command', id, {
          subject: command.slice(0, 100),
          what: `\`${command.slice(0, 100)}\` ${what}.`,
        }),
      ),
  );
}
