import type { NativeAgent } from '../native-agent.ts';
import { bubTranscriptPattern, createBubTranscriptMapper } from './transcript.ts';

/** bub (github.com/bubbuild/bub), which runs through a command of the user. It prints text and writes a tape. */
export const bub: NativeAgent = {
  kind: 'bub',
  facts: { instructions: 'AGENTS.md', mcpServers: false, structuredOutput: false, sessions: 'command' },
  transcript: { kind: 'files', pattern: bubTranscriptPattern, createMapper: createBubTranscriptMapper },
};
