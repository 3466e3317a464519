import type { CreateMapper } from '../kit/native-mapper.ts';
import { bubTranscriptPattern, createBubTranscriptMapper } from './bub/transcript.ts';
import { createClaudeCodeMapper } from './claude-code/stream.ts';
import { claudeCodeTranscriptPattern, createClaudeCodeTranscriptMapper } from './claude-code/transcript.ts';
import { createCodexMapper } from './codex-cli/stream.ts';
import { codexTranscriptPattern, createCodexTranscriptMapper } from './codex-cli/transcript.ts';
import { createCopilotMapper } from './copilot/stream.ts';
import { copilotTranscriptPattern, createCopilotTranscriptMapper } from './copilot/transcript.ts';
import { createGeminiCliMapper } from './gemini-cli/stream.ts';
import { createGeminiCliTranscriptMapper, geminiCliTranscriptPattern } from './gemini-cli/transcript.ts';
import { createOpencodeMapper } from './opencode-cli/stream.ts';
import { createOpencodeTranscriptMapper, opencodeTranscriptArguments } from './opencode-cli/transcript.ts';
import { createPiMapper } from './pi/stream.ts';
import { createPiTranscriptMapper, piTranscriptPattern } from './pi/transcript.ts';
import { createQwenCodeMapper } from './qwen-code/stream.ts';
import { createQwenCodeTranscriptMapper, qwenCodeTranscriptPattern } from './qwen-code/transcript.ts';

/** How an agent's native output is read: what it prints, where that is more than text, and what it keeps. */
export type NativeMappers = { stream?: CreateMapper; transcript?: NativeTranscript };

export type NativeTranscript =
  /** Files of JSON Lines, for `readJsonLines`; `pattern` is a glob below the agent's home. */
  | { kind: 'files'; pattern: string; createMapper: CreateMapper }
  /** One JSON document that the agent's program prints, for `readDocument`. */
  | { kind: 'printed'; args: (sessionId: string) => string[]; createMapper: CreateMapper };

export const mappers = {
  'claude-code': {
    stream: createClaudeCodeMapper,
    transcript: {
      kind: 'files',
      pattern: claudeCodeTranscriptPattern,
      createMapper: createClaudeCodeTranscriptMapper,
    },
  },
  'qwen-code': {
    stream: createQwenCodeMapper,
    transcript: {
      kind: 'files',
      pattern: qwenCodeTranscriptPattern,
      createMapper: createQwenCodeTranscriptMapper,
    },
  },
  'codex-cli': {
    stream: createCodexMapper,
    transcript: {
      kind: 'files',
      pattern: codexTranscriptPattern,
      createMapper: createCodexTranscriptMapper,
    },
  },
  'opencode-cli': {
    stream: createOpencodeMapper,
    transcript: {
      kind: 'printed',
      args: opencodeTranscriptArguments,
      createMapper: createOpencodeTranscriptMapper,
    },
  },
  pi: {
    stream: createPiMapper,
    transcript: { kind: 'files', pattern: piTranscriptPattern, createMapper: createPiTranscriptMapper },
  },
  'gemini-cli': {
    stream: createGeminiCliMapper,
    transcript: {
      kind: 'files',
      pattern: geminiCliTranscriptPattern,
      createMapper: createGeminiCliTranscriptMapper,
    },
  },
  copilot: {
    stream: createCopilotMapper,
    transcript: {
      kind: 'files',
      pattern: copilotTranscriptPattern,
      createMapper: createCopilotTranscriptMapper,
    },
  },
  bub: {
    transcript: { kind: 'files', pattern: bubTranscriptPattern, createMapper: createBubTranscriptMapper },
  },
} as const satisfies Record<string, NativeMappers>;
