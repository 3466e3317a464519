import type { NativeAgent } from '../native-agent.ts';

/** Coco, which runs through a command of the user. Its output is text for people. */
export const coco: NativeAgent = {
  kind: 'coco',
  facts: { instructions: 'AGENTS.md', mcpServers: false, structuredOutput: false, sessions: 'command' },
};
