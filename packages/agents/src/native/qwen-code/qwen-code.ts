import { emptyUsage } from '@whetstone/events';
import type { NativeMapper } from '../../kit/native-mapper.ts';
import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { QwenStream } from './stream.ts';
import { QwenTranscript } from './transcript.ts';

/** Qwen Code. It needs Node 22 or newer: under Node 20 it exits half a minute after its last event. */
export const qwenCode: DrivenAgent = {
  kind: 'qwen-code',
  facts,
  release,
  launch,
  stream: { open: (place, before = 'unread') => new QwenStream(place, usageBefore(before)) },
  transcript: {
    kind: 'files',
    // The file of each session, and one file per sub-agent.
    pattern: '.qwen/projects/*/{chats/*,subagents/*/*}.jsonl',
    createMapper: (place) => new QwenTranscript(place),
  },
};

const usageBefore = (before: NativeMapper | 'new' | 'unread') => {
  if (before === 'new') return emptyUsage();
  return before === 'unread' ? undefined : (before as QwenStream).sessionUsage;
};
