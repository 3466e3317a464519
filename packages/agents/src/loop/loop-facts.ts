import type { NativeFacts } from '../native/native-agent.ts';

/** What our own loop can, in the same words as the released agents. It connects MCP servers itself. */
export const loopFacts: Omit<NativeFacts, 'sessions' | 'login' | 'retries'> = {
  instructions: 'AGENTS.md',
  skills: '.agents/skills',
  mcpServers: true,
  structuredOutput: true,
};
