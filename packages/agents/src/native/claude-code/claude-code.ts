import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { ClaudeStream } from './stream.ts';
import { ClaudeTranscript } from './transcript.ts';

/** Claude Code. Its prompt and tools depend on the model; without a model, Claude Code uses its own newest one. */
export const claudeCode: DrivenAgent = {
  kind: 'claude-code',
  facts,
  release,
  launch,
  stream: { open: (place, before) => new ClaudeStream(place, before === 'new') },
  transcript: {
    kind: 'files',
    // The file of each session, and one file per sub-agent.
    pattern: '.claude/projects/*/{*,*/subagents/*}.jsonl',
    createMapper: (place) => new ClaudeTranscript(place),
  },
};
