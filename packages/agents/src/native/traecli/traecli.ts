import type { NativeAgent } from '../native-agent.ts';

/** Trae CLI, which runs through a command of the user. Its output is text for people. */
export const traecli: NativeAgent = {
  kind: 'traecli',
  facts: { instructions: 'AGENTS.md', mcpServers: false, structuredOutput: false, sessions: 'command' },
};
