import { type AgentConfig, resumeCommandOf } from '@whetstone/agents/config';
import { formOf } from './check-context.ts';
import type { Reporter } from './reporter.ts';
import type { YamlPath } from './yaml-source.ts';

/**
 * Every task runs with every agent. Reports commands that cannot resume a session and so cannot get follow-ups. Modules
 * are checked later: they declare their capabilities when they are loaded. `path`: of the task.
 */
export function checkFollowUps(agents: readonly AgentConfig[], path: YamlPath, report: Reporter): void {
  const unable = agents.filter((agent) => agent.runner === 'command' && !resumeCommandOf(agent));
  if (unable.length === 0) return;
  const named = unable.map((agent) => `${agent.name} (${formOf(agent)})`).join(', ');
  report.error([...path, 'follow_ups'], `${named} cannot resume a session`, {
    hint: 'add {session_id} to its command, or add a resume_command',
    mark: 'key',
  });
}
