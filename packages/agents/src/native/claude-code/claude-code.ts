import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { createClaudeCodeMapper } from './stream.ts';
import { claudeCodeTranscriptPattern, createClaudeCodeTranscriptMapper } from './transcript.ts';

/** Claude Code. Its prompt and tools depend on the model; without a model, Claude Code uses its own newest one. */
export const claudeCode: DrivenAgent = {
  kind: 'claude-code',
  facts,
  release,
  launch,
  stream: { open: (place) => createClaudeCodeMapper(place) },
  transcript: {
    kind: 'files',
    pattern: claudeCodeTranscriptPattern,
    createMapper: createClaudeCodeTranscriptMapper,
  },
};
