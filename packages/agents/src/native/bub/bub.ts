import type { NativeAgent } from '../native-agent.ts';
import { BubTape } from './transcript.ts';

/** bub (github.com/bubbuild/bub), which runs through a command of the user. It prints text and writes a tape. */
export const bub: NativeAgent = {
  kind: 'bub',
  facts: { instructions: 'AGENTS.md', mcpServers: false, structuredOutput: false, sessions: 'command' },
  transcript: {
    kind: 'files',
    // With the default `BUB_HOME`. The name has the MD5 of the workspace and of the session, 16 digits each.
    pattern: '.bub/tapes/*__*.jsonl',
    createMapper: (place) => new BubTape(place),
  },
};
