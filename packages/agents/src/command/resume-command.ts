import type { Command, CommandAgentConfig } from '../config.ts';
import { commandParts, namesVariable } from './command-template.ts';

/** The command that resumes a session of an agent; `undefined` when nothing can. */
export function resumeCommandOf({ command, resumeCommand }: CommandAgentConfig): Command | undefined {
  if (resumeCommand) return resumeCommand;
  return commandParts(command).some((part) => namesVariable(part, 'session_id')) ? command : undefined;
}
