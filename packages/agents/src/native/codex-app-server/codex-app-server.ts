import { parseJson } from '@whetstone/events';
import type { DrivenAgent } from '../native-agent.ts';
import { unkeptRules } from './confinement.ts';
import { facts, release } from './facts.ts';
import { keptCalls } from './kept-calls.ts';
import { launch } from './launch.ts';
import { options } from './options.ts';
import { AppServerStream } from './stream.ts';

/** Codex behind its app-server: a program that is led turn by turn through JSON-RPC, and asks before what it may not do. */
export const codexAppServer: DrivenAgent = {
  kind: 'codex-app-server',
  aliases: ['openai:codex-app-server', 'openai:codex-desktop'],
  facts,
  release,
  launch,
  options,
  unkeptRules,
  stream: {
    open: (place, before = 'new') =>
      new AppServerStream(place, before === 'new' ? undefined : (before as AppServerStream | 'unread')),
    answerIn: (mapper) => parseJson((mapper as AppServerStream).finalMessage ?? ''),
  },
  keptEvents: keptCalls,
};
