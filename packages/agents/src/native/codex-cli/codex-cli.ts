import { parseJson } from '@whetstone/events';
import type { NativeMapper } from '../../kit/native-mapper.ts';
import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { keptRollouts } from './kept-rollouts.ts';
import { launch } from './launch.ts';
import { CodexStream } from './stream.ts';
import { CodexRollout } from './transcript.ts';

/** Prompt and tools depend on the model. For an unknown one it reports an `error` item and has no `apply_patch`. */
export const codexCli: DrivenAgent = {
  kind: 'codex-cli',
  facts,
  release,
  launch,
  stream: {
    open: (place, before = 'new') =>
      new CodexStream(place, before === 'new' ? undefined : usageOfThread(before)),
    answerIn: (mapper) => parseJson((mapper as CodexStream).facts.finalMessage ?? ''),
  },
  transcript: {
    kind: 'files',
    // One file per thread with all its turns. Each sub-agent has its own thread.
    pattern: '.codex/sessions/*/*/*/rollout-*.jsonl',
    createMapper: (place) => new CodexRollout(place),
  },

  keptEvents: keptRollouts,
  mcpLog: {
    mark: 'MCP server startup failed',
    failure: /server_name="(?<names>[^"]*)" error=(?<why>.*)/,
  },
};

/** The thread's usage before a turn. It is unknown if the turn before did not reach its end. */
const usageOfThread = (before: NativeMapper | 'unread') =>
  before === 'unread' ? before : ((before as CodexStream).facts.threadUsage ?? 'unread');
