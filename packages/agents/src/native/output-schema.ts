import type { AgentConfig, AgentKind } from '../config.ts';

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
