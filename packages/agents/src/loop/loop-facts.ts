import type { NativeFacts } from '../native/native-agent.ts';

/** What our own loop can do, in the same terms as for the released agents. It connects to MCP servers itself. */
export const loopFacts: Omit<NativeFacts, 'sessions' | 'login' | 'retries'> = {
  instructions: 'AGENTS.md',
  skills: '.agents/skills',
  mcpServers: true,
  structuredOutput: true,
};
