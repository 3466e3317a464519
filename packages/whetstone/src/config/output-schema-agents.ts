import { formOf } from './check-context.ts';
import type { AgentConfig, AgentKind } from './config.ts';
import type { Reporter } from './reporter.ts';
import type { YamlPath } from './yaml-source.ts';

/**
 * Seen with the versions of `tested-versions.json` (`examples/real-agents/structured-output.agents.test.ts`); the other
 * released agents have no such option.
 */
const KINDS: ReadonlySet<AgentKind> = new Set(['codex-cli', 'claude-code', 'qwen-code', 'loop']);

/** Whether an agent can be held to an `output_schema`. Of a module its own capabilities tell, once it is loaded. */
export function takesOutputSchema({
  kind,
  command,
  module,
}: Pick<AgentConfig, 'kind' | 'command' | 'module'>): boolean | 'module' {
  if (module) return 'module';
  return !command && KINDS.has(kind);
}

/** Every task meets every agent: an answer that nobody can ask for is said here. `path`: of the task. */
export function checkOutputSchema(agents: readonly AgentConfig[], path: YamlPath, report: Reporter): void {
  const unable = agents.filter((agent) => !takesOutputSchema(agent));
  if (unable.length === 0) return;
  const named = unable.map((agent) => `${agent.name} (${formOf(agent)})`).join(', ');
  report.error([...path, 'output_schema'], `${named} cannot be held to a schema`, {
    hint: 'keep such agents in a configuration of their own, or let the task ask for a file and check that',
    mark: 'key',
  });
}
