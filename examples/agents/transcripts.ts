// Reads the sessions that coding agents kept in a folder, and prints a line per session, separated by tabs:
//   node examples/agents/transcripts.ts ~/.claude/projects
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readTranscripts, totalTokens } from '@whetstone/agents';

const [folder = join(homedir(), '.codex/sessions')] = process.argv.slice(2);
let skipped = 0;

console.log(['agent', 'turns', 'tool calls', 'tokens', 'ended', 'file'].join('\t'));
for await (const session of readTranscripts(folder)) {
  if (session.status === 'skipped') {
    skipped += 1;
    continue;
  }
  const { kind, turns, toolCalls, usage, ending = 'unknown', file } = session;
  const tokens = usage ? totalTokens(usage) : 'unknown';
  console.log([kind, turns, toolCalls, tokens, ending, file].join('\t'));
}
if (skipped > 0) console.error(`${skipped} files are not transcripts of a known agent.`);
