import type { JsonValue } from '@whetstone/events';
import { readHomeFile, subagentEvents } from '../../kit/kept-events.ts';
import type { NativeMapper } from '../../kit/native-mapper.ts';
import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { type CodexMapper, createCodexMapper } from './stream.ts';
import { codexTranscriptPattern, createCodexTranscriptMapper } from './transcript.ts';

/**
 * Codex CLI. Its prompt and tools depend on the model. For a model that it does not know, it reports an `error` item and
 * continues without `apply_patch`. It writes its system skills and the session into `CODEX_HOME`.
 */
export const codexCli: DrivenAgent = {
  kind: 'codex-cli',
  facts,
  release,
  launch,
  stream: {
    open: (place, before = 'new') =>
      createCodexMapper(place, before === 'new' ? undefined : usageOfThread(before)),
    answerIn: (mapper) => jsonOf((mapper as CodexMapper).facts.finalMessage ?? ''),
  },
  transcript: { kind: 'files', pattern: codexTranscriptPattern, createMapper: createCodexTranscriptMapper },

  // The stream covers only the thread that was prompted; each sub-agent has a thread of its own.
  keptEvents: (turn) =>
    subagentEvents(turn, (thread, emit) => {
      const file = { folder: '.codex/sessions', name: `rollout-*-${thread}.jsonl` };
      return readHomeFile(turn, file, createCodexTranscriptMapper(turn.place), emit);
    }),
};

/** The thread's usage before a turn. It is unknown if the turn before did not reach its end. */
const usageOfThread = (before: NativeMapper | 'unread') =>
  before === 'unread' ? before : ((before as CodexMapper).facts.threadUsage ?? 'unread');

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
