import type { InstructionFile, NativeFacts } from '../native/native-agent.ts';
import type { LoopProfile } from './loop-profiles.ts';

/** What our own loop can do, in the same terms as for the released agents. It connects to MCP servers itself. */
export const loopFacts: Omit<NativeFacts, 'sessions' | 'login' | 'retries' | 'reads'> = {
  instructions: 'AGENTS.md',
  skills: '.agents/skills',
  mcpServers: true,
  structuredOutput: true,
};

/** What each profile of our loop reads, in the order of its first request. A test compares it with the profiles. */
export const loopInstructions: Record<LoopProfile, readonly InstructionFile[]> = {
  openai: [{ path: 'AGENTS.md' }, { path: '.codex/instructions.md' }],
  anthropic: [{ path: 'AGENTS.md' }, { path: 'CLAUDE.md' }],
  gemini: [{ path: 'AGENTS.md' }, { path: 'GEMINI.md' }],
};
