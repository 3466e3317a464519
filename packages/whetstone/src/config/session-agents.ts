import { formOf } from './check-context.ts';
import type { AgentConfig, Command } from './config.ts';
import type { Reporter } from './reporter.ts';
import { commandParts, namesVariable } from './template.ts';
import type { YamlPath } from './yaml-source.ts';

/** What goes on with a session of an agent that is a command; `undefined` where nothing can. */
export function resumeCommandOf({
  command,
  resumeCommand,
}: Pick<AgentConfig, 'command' | 'resumeCommand'>): Command | undefined {
  if (resumeCommand || !command) return resumeCommand;
  return commandParts(command).some((part) => namesVariable(part, 'session_id')) ? command : undefined;
}

/**
 * Every task meets every agent: a turn that nobody can be sent is said here. Of a module its own capabilities tell, once
 * it is loaded. `path`: of the task.
 */
export function checkFollowUps(agents: readonly AgentConfig[], path: YamlPath, report: Reporter): void {
  const unable = agents.filter((agent) => agent.command && !resumeCommandOf(agent));
  if (unable.length === 0) return;
  const named = unable.map((agent) => `${agent.name} (${formOf(agent)})`).join(', ');
  report.error([...path, 'follow_ups'], `${named} cannot go on with a session`, {
    hint: 'let its command name {session_id}, or give it a resume_command',
    mark: 'key',
  });
}
