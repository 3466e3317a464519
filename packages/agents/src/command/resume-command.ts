import type { AgentConfig, Command } from '../config.ts';
import { commandParts, namesVariable } from './template.ts';

/** What goes on with a session of an agent that is a command; `undefined` where nothing can. */
export function resumeCommandOf({
  command,
  resumeCommand,
}: Pick<AgentConfig, 'command' | 'resumeCommand'>): Command | undefined {
  if (resumeCommand || !command) return resumeCommand;
  return commandParts(command).some((part) => namesVariable(part, 'session_id')) ? command : undefined;
}
