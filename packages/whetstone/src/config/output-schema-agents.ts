import { type AgentConfig, takesOutputSchema } from '@whetstone/agents/config';
import { formOf } from './check-context.ts';
import type { Reporter } from './reporter.ts';
import type { YamlPath } from './yaml-source.ts';

/** Every task runs with every agent. Reports agents that cannot be given an output schema. `path`: of the task. */
export function checkOutputSchema(agents: readonly AgentConfig[], path: YamlPath, report: Reporter): void {
  const unable = agents.filter((agent) => !takesOutputSchema(agent));
  if (unable.length === 0) return;
  const named = unable.map((agent) => `${agent.name} (${formOf(agent)})`).join(', ');
  report.error([...path, 'output_schema'], `${named} cannot be given an output schema`, {
    hint: 'move such agents to a separate configuration, or let the task ask for a file and check that file',
    mark: 'key',
  });
}
