import { type AgentConfig, resumeCommandOf } from '@whetstone/agents/config';
import { formOf } from './check-context.ts';
import type { Reporter } from './reporter.ts';
import type { YamlPath } from './yaml-source.ts';

/**
 * Every task meets every agent: a turn that nobody can be sent is said here. Of a module its own capabilities tell, once
 * it is loaded. `path`: of the task.
 */
export function checkFollowUps(agents: readonly AgentConfig[], path: YamlPath, report: Reporter): void {
  const unable = agents.filter((agent) => agent.runner === 'command' && !resumeCommandOf(agent));
  if (unable.length === 0) return;
  const named = unable.map((agent) => `${agent.name} (${formOf(agent)})`).join(', ');
  report.error([...path, 'follow_ups'], `${named} cannot resume a session`, {
    hint: 'let its command name {session_id}, or give it a resume_command',
    mark: 'key',
  });
}
